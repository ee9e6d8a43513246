-- A party of one has no code: nobody can join it, and nobody is told a code of it.

alter table parties alter column code drop not null;
alter table parties drop constraint a_code_is_of_one_party;
create unique index a_code_is_of_one_party on parties (code) where code is not null;

comment on column parties.code is
    'What others join it with; random, and told to its leader alone. Null for a party of one.';
