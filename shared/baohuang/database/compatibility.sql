-- What services ask at their start: made by every migration, so that it is there whatever the version is.

create table if not exists compatibility (
    only_row boolean          not null default true,
    oldest   text collate "C" not null,
    constraint there_is_one_row primary key (only_row),
    constraint the_row_is_true check (only_row)
);

comment on table compatibility is
    'From which migration on code has to know to work with this schema: code that knows less finds missing what it uses.';

insert into compatibility (oldest) values ('{oldest}')
on conflict (only_row) do update set oldest = excluded.oldest where compatibility.oldest < excluded.oldest;

grant select on alembic_version, compatibility to {roles};
