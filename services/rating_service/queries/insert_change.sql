-- insert_change: add what a posting changed of one player.
insert into changes (posting, player, points, total, table_id, happened_at, season, hand, result, mu_before, sigma_before,
                     mu_after, sigma_after)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
