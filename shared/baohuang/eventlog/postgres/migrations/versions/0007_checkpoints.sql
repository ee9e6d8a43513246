-- Checkpoints: what the log was at a position, signed, so that what is kept of it elsewhere can be held against it.

create table eventlog.checkpoints (
    position  bigint                   not null,
    made_at   timestamp with time zone not null,
    streams   bigint                   not null,
    root      bytea                    not null,
    previous  bytea                    not null,
    key_id    text collate "C"         not null,
    signature bytea                    not null,
    constraint a_position_has_one_checkpoint primary key (position),
    constraint a_checkpoint_follows_another unique (previous),
    constraint a_root_has_256_bits check (octet_length(root) = 32),
    constraint a_predecessor_has_256_bits check (octet_length(previous) = 32),
    constraint an_ed25519_signature_has_512_bits check (octet_length(signature) = 64)
);

comment on table eventlog.checkpoints is
    'Signed statements of where every stream ended: added by `baohuang checkpoint`, never changed.';
comment on column eventlog.checkpoints.position is
    'The last position of the log it speaks of.';
comment on column eventlog.checkpoints.root is
    'SHA-256 over stream, version and hash of the last event of each stream up to that position, by stream id.';
comment on column eventlog.checkpoints.previous is
    'SHA-256 of the signed text of the checkpoint before it, zeros for the first: none can be left out.';
comment on column eventlog.checkpoints.key_id is
    'Which key signed it; keys are replaced, old signatures stand.';

create trigger checkpoints_are_append_only before update or delete or truncate on eventlog.checkpoints
    for each statement execute function eventlog.refuse_change();

grant select, insert on eventlog.checkpoints to baohuang_app;
