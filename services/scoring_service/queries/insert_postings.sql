-- insert_postings: add postings.
insert into postings (number, position, hash, table_id, version, hand, type, happened_at, data)
select *
from unnest(
    $1::integer[], $2::bigint[], $3::text[], $4::text[], $5::integer[], $6::integer[], $7::text[], $8::timestamptz[],
    $9::jsonb[]
)
