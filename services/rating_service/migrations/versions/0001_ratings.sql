-- Ratings: what each posting of the ledger changed, and where that leaves everybody.

create table changes (
    posting      integer          not null,
    player       text collate "C" not null,
    points       integer          not null,
    total        bigint           not null,
    season       text collate "C",
    table_id     text collate "C" not null,
    hand         integer,
    happened_at  timestamp with time zone not null,
    result       text,
    mu_before    double precision,
    sigma_before double precision,
    mu_after     double precision,
    sigma_after  double precision,
    constraint a_posting_changes_a_player_once primary key (posting, player),
    constraint a_hand_rates_and_a_fine_does_not check (
        num_nulls(season, hand, result, mu_before, sigma_before, mu_after, sigma_after) in (0, 7)
    ),
    constraint a_hand_is_won_lost_or_drawn check (result in ('RESULT_WON', 'RESULT_LOST', 'RESULT_DRAWN'))
);

create index changes_by_player on changes (player, posting);

comment on table changes is
    'What each posting did to each player it names. Rows are added and never changed, which grants and a trigger hold.';
comment on column changes.total is
    'All his points, fines included, after it: what his level goes by (LVL-1).';
comment on column changes.season is
    'The season that a hand counts for; null, with all that follows from a hand, for a fine.';
comment on column changes.mu_before is
    'His skill before the hand; at his first of a season what the reset left. Doubles are stored as computed, to the bit.';

create table standings (
    season  text collate "C" not null,
    player  text collate "C" not null,
    mu      double precision not null,
    sigma   double precision not null,
    ordinal double precision not null,
    won     integer          not null,
    lost    integer          not null,
    drawn   integer          not null,
    constraint a_player_stands_once_a_season primary key (player, season)
) with (fillfactor = 50);

create index standings_by_rank on standings (season, ordinal desc, player);

comment on table standings is
    'Each player''s skill after his last hand of each season he played in.';
comment on column standings.ordinal is
    'mu - 3 * sigma, as computed where mu and sigma are.';

create table players (
    player text collate "C" not null,
    points bigint           not null,
    constraint a_player_has_one_sum primary key (player)
) with (fillfactor = 50);

comment on table players is
    'All points of each player, fines included: equal to the balance of his account in the ledger.';

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'changes are append-only: % refused', tg_op
        using errcode = 'integrity_constraint_violation', constraint = 'changes_are_append_only', table = tg_table_name, schema = tg_table_schema;
end
$$;

create trigger changes_are_append_only before update or delete or truncate on changes
    for each statement execute function refuse_change();

do $$
begin
    execute format('grant usage on schema %I to baohuang_rating', current_schema());
end
$$;
grant select, insert on changes to baohuang_rating;
grant select, insert, update on standings, players to baohuang_rating;
