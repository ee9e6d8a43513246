-- Tickets and what becomes of them.
--
--   party  open ──► in a match ──► closed: its tickets matched
--            ▲          │ └──────► closed: set aside, if the table was refused on its account
--            └──────────┘ the table was refused on another's account: it waits on as it did before
--   open ──► closed: its tickets cancelled, or expired
--
-- Whoever changes a party or a ticket of it locks the party's row before.

create table matches (
    match_id     text collate "C"         not null,
    ruleset      text collate "C"         not null,
    options      jsonb                    not null,
    players      text[] collate "C"       not null,
    state        text collate "C"         not null default 'formed',
    formed_at    timestamp with time zone not null default clock_timestamp(),
    leased_until timestamp with time zone not null,
    lease        integer                  not null default 1,
    table_id     text collate "C",
    refused_with text collate "C",
    constraint a_match_is_formed_once primary key (match_id),
    constraint a_match_is_of_five check (cardinality(players) = 5),
    constraint a_match_is_formed_opened_or_dissolved check (state in ('formed', 'opened', 'dissolved')),
    constraint an_opened_match_has_a_table check ((state = 'opened') = (table_id is not null))
);

comment on table matches is
    'Five players for one table. A match is committed before its table is opened, with its id as the request id: whichever '
    'replica carries it on, there is one table.';
comment on column matches.players is
    'By seat; those named bot:… are bots.';
comment on column matches.leased_until is
    'Until when the replica that took it last has it to itself. A match that is still formed after that is taken by any.';
comment on column matches.lease is
    'Counts who took it: only who took it last may dissolve it.';
comment on column matches.refused_with is
    'The reason with which the table was refused; only of a dissolved one.';

create index matches_to_open on matches (leased_until) where state = 'formed';

create table parties (
    party_id  text collate "C"         not null,
    code      text collate "C"         not null,
    leader    text collate "C"         not null,
    ruleset   text collate "C"         not null,
    options   jsonb                    not null,
    size      smallint                 not null,
    open      boolean                  not null default true,
    match_id  text collate "C",
    refusals  smallint                 not null default 0,
    opened_at timestamp with time zone not null default clock_timestamp(),
    queued_at timestamp with time zone,
    constraint a_party_is_opened_once primary key (party_id),
    constraint a_code_is_of_one_party unique (code),
    constraint a_party_is_of_one_to_five check (size between 1 and 5),
    constraint a_party_is_in_a_match_that_is_there foreign key (match_id) references matches
);

comment on table parties is
    'Players who are seated together, one alone included.';
comment on column parties.code is
    'What others join it with; random, and told to its leader alone.';
comment on column parties.options is
    'As a queue has them: those that the ruleset has anyway are left out. Equal options wait in one queue.';
comment on column parties.match_id is
    'The match it is in, from the moment that is formed; null while it gathers or waits.';
comment on column parties.refusals is
    'How many matches with it came to nothing without anybody being named as the cause.';
comment on column parties.queued_at is
    'Since when it has been complete; null while it gathers. A match that comes to nothing does not change it.';

create index parties_waiting on parties (ruleset, options, queued_at) where open and match_id is null and queued_at is not null;
create index parties_open on parties (opened_at) where open;
create index parties_of_a_match on parties (match_id) where match_id is not null;

create table tickets (
    ticket_id text collate "C"         not null,
    party_id  text collate "C"         not null,
    player    text collate "C"         not null,
    state     text collate "C"         not null default 'queued',
    revision  integer                  not null default 1,
    made_at   timestamp with time zone not null default clock_timestamp(),
    closed_at timestamp with time zone,
    reason    text collate "C",
    culprit   text collate "C",
    constraint a_ticket_is_made_once primary key (ticket_id),
    constraint a_ticket_belongs_to_a_party foreign key (party_id) references parties,
    constraint a_ticket_has_a_known_state check (state in ('queued', 'matched', 'cancelled', 'expired', 'set_aside')),
    constraint a_ticket_is_closed_or_queued check ((state = 'queued') = (closed_at is null)),
    constraint only_what_is_set_aside_has_a_reason check ((state = 'set_aside') = (reason is not null))
);

comment on table tickets is
    'One player''s wish to play. Rows stay when they are closed, and tell what became of them.';
comment on column tickets.revision is
    'Counts what happened to the ticket that its player is shown.';
comment on column tickets.culprit is
    'The player of the party on whose account it was set aside; null if nobody in particular.';

create unique index a_player_has_one_open_ticket on tickets (player) where state = 'queued';
create index tickets_of_a_party on tickets (party_id);
create index tickets_set_aside on tickets (closed_at) where state = 'set_aside';

create table requests (
    caller     text collate "C"         not null,
    request_id text collate "C"         not null,
    digest     bytea                    not null,
    response   bytea,
    made_at    timestamp with time zone not null default clock_timestamp(),
    constraint a_request_is_carried_out_once primary key (caller, request_id)
);

comment on table requests is
    'What was carried out, and its outcome as it was answered. Written first in the transaction of its effect, so that a '
    'retry that comes meanwhile waits for it.';

do $$
begin
    execute format('grant usage on schema %I to baohuang_matchmaking', current_schema());
end
$$;
grant select, insert, update on matches, parties, tickets, requests to baohuang_matchmaking;
