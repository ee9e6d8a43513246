-- insert_changes: add what postings changed of players.
insert into changes (total, player, points, posting, table_id, happened_at, season, hand, result, mu_before, sigma_before,
                     mu_after, sigma_after)
select *
from unnest(
    $1::bigint[], $2::text[], $3::integer[], $4::integer[], $5::text[], $6::timestamptz[], $7::text[], $8::integer[],
    $9::text[], $10::double precision[], $11::double precision[], $12::double precision[], $13::double precision[]
)
