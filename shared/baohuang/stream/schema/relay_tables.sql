-- Relays: who publishes a source of this schema to its stream, and until when.

create table relays (
    source       text collate "C"         not null,
    holder       text                     not null,
    epoch        bigint                   not null,
    leased_until timestamp with time zone not null,
    number       bigint                   not null default 0,
    constraint a_source_has_one_relay primary key (source)
) with (fillfactor = 50);

comment on table relays is
    'The one publisher of each source, by lease. It saves work: two at once do no harm, the stream refuses who is behind.';
comment on column relays.epoch is
    'Raised by whoever takes the lease, so that the one before finds out that it is not his any more.';
comment on column relays.leased_until is
    'By this database''s clock; from then on anybody may take it.';
comment on column relays.number is
    'How far the holder has published, for who looks after it. Nobody starts from it: the stream itself is asked.';

grant select, insert, update on relays to {role};
