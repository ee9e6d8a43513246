-- The ledger: double entry, append-only, numbered in the order of the event log.

create table postings (
    number      integer                  not null,
    position    bigint                   not null,
    hash        text collate "C"         not null,
    table_id    text collate "C"         not null,
    version     integer                  not null,
    hand        integer,
    type        text collate "C"         not null,
    happened_at timestamp with time zone not null,
    data        jsonb                    not null,
    constraint a_number_holds_one_posting primary key (number),
    constraint an_event_is_posted_once unique (position),
    constraint a_version_is_posted_once unique (table_id, version),
    constraint a_hand_is_scored_once unique (table_id, hand),
    constraint postings_are_hands_or_fines check (type in ('HandScored', 'FinePosted', 'PostingSkipped')),
    constraint a_scored_hand_is_named check ((type = 'HandScored') = (hand is not null)),
    constraint postings_are_numbered_from_1 check (number >= 1)
);

comment on table postings is
    'What was booked: one row for each event of the log that points follow from. Rows are added and never changed, which '
    'grants and a trigger both hold.';
comment on column postings.number is
    '1, 2, 3, … in the order of the log, without holes but for what waits in unscored; the place in the stream.';
comment on column postings.position is
    'The position of the event in the log.';
comment on column postings.hash is
    'The hash of the event, lower-case hex: another event at this position means that the log was changed.';
comment on column postings.data is
    'The posting as it is published: canonical proto3 JSON of the message that type names.';

create table entries (
    number  integer          not null,
    line    smallint         not null,
    account text collate "C" not null,
    points  integer          not null,
    balance bigint           not null,
    constraint a_line_holds_one_entry primary key (number, line),
    constraint an_entry_belongs_to_a_posting foreign key (number) references postings,
    constraint a_posting_touches_an_account_once unique (account, number)
);

comment on table entries is
    'The lines of postings, those of each summing to zero. Append-only, as postings are.';
comment on column entries.account is
    '"player:" and the player''s id, or "house".';
comment on column entries.balance is
    'The account''s balance after this entry, so that a statement needs no summing and a lost entry shows.';

create table accounts (
    account     text collate "C" not null,
    balance     bigint           not null,
    entries     bigint           not null,
    last_number integer          not null,
    constraint an_account_is_opened_once primary key (account)
) with (fillfactor = 50);

comment on table accounts is
    'The sums of entries, changed in the transaction that adds them.';

create table progress (
    last_number   integer not null,
    last_position bigint  not null,
    only_row      boolean not null default true,
    constraint progress_is_kept_once primary key (only_row),
    constraint there_is_one_progress check (only_row)
) with (fillfactor = 10);

comment on table progress is
    'The last number given out and the event it was given to. The row that replicas lock to take turns.';

insert into progress (last_number, last_position) values (0, 0);

create table unscored (
    number   integer                  not null,
    position bigint                   not null,
    hash     text collate "C"         not null,
    error    text                     not null,
    tries    integer                  not null default 1,
    since    timestamp with time zone not null default clock_timestamp(),
    constraint a_number_waits_once primary key (number),
    constraint an_event_waits_once unique (position)
);

comment on table unscored is
    'Events that could not be scored. Their numbers are kept for them: the ledger is published up to the first of them, '
    'since whoever follows it depends on its order, until it is scored or an operator skips it.';

-- Append-only, for owners and superusers too.

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'the ledger is append-only: % refused', tg_op
        using errcode = 'integrity_constraint_violation', constraint = 'the_ledger_is_append_only', table = tg_table_name, schema = tg_table_schema;
end
$$;

create trigger the_ledger_is_append_only before update or delete or truncate on postings
    for each statement execute function refuse_change();
create trigger the_ledger_is_append_only before update or delete or truncate on entries
    for each statement execute function refuse_change();

-- Balanced, in each statement that adds entries: so what is there always is.

create function refuse_unbalanced() returns trigger language plpgsql as $$
declare
    unbalanced record;
begin
    select number, sum(points) as off into unbalanced
    from added group by number having sum(points) <> 0 order by number limit 1;
    if found then
        raise exception 'posting % is off balance by %', unbalanced.number, unbalanced.off
            using errcode = 'integrity_constraint_violation', constraint = 'a_posting_sums_to_zero', table = tg_table_name, schema = tg_table_schema;
    end if;
    return null;
end
$$;

create trigger a_posting_sums_to_zero after insert on entries
    referencing new table as added for each statement execute function refuse_unbalanced();

-- Who may do what.

do $$
begin
    execute format('grant usage on schema %I to baohuang_scoring', current_schema());
end
$$;
grant select, insert on postings, entries to baohuang_scoring;
grant select, insert, update on accounts to baohuang_scoring;
grant select, update on progress to baohuang_scoring;
grant select, insert, update, delete on unscored to baohuang_scoring;
