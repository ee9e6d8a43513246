-- Consumers: how far each has got, what it went past, and what could not be applied.

create table checkpoints (
    consumer   text collate "C" not null,
    number     bigint           not null default 0,
    alarm      text,
    alarmed_at timestamp with time zone,
    constraint a_consumer_has_one_checkpoint primary key (consumer)
) with (fillfactor = 50);

comment on table checkpoints is
    'How far each consumer has got, changed in the transaction of what it did; the row that replicas lock to take turns.';
comment on column checkpoints.number is
    'The last message gone past, 0 before the first.';
comment on column checkpoints.alarm is
    'What was found that must not be: another message under a number that was gone past. Nothing is consumed while it '
    'is there: the log was restored, or failed over, behind this consumer, and somebody has to look.';

create table passed (
    consumer text collate "C" not null,
    number   bigint           not null,
    hash     text collate "C" not null,
    constraint a_message_is_passed_once primary key (consumer, number)
);

comment on table passed is
    'Every message that a consumer applied or set aside, with its hash: what comes again under the number has to be it.';

create table set_aside (
    consumer     text collate "C"         not null,
    number       bigint                   not null,
    subject      text                     not null,
    headers      text                     not null,
    body         bytea                    not null,
    error        text                     not null,
    set_aside_at timestamp with time zone not null default clock_timestamp(),
    tried        integer                  not null default 1,
    settled_as   text,
    settled_at   timestamp with time zone,
    constraint a_message_is_set_aside_once primary key (consumer, number),
    constraint a_message_is_applied_or_skipped check (settled_as in ('applied', 'skipped'))
);

comment on table set_aside is
    'Messages that could not be applied, with the reason of the last try; kept after they were settled.';
comment on column set_aside.settled_as is
    'applied: a later try succeeded; skipped: an operator gave it up; null: still to be settled.';

grant select, insert, update on checkpoints, set_aside to {role};
grant select, insert on passed to {role};
