-- Who may do what in the database. A superuser runs this once, in the database that is to hold everything, before the
-- first migration, or before a backup is restored into it; to run it again changes nothing. Passwords are given elsewhere.
--
--     baohuang_owner        owns the schemas, migrates them
--     login_<service>       may act as the role of its own service, and nothing else
--     baohuang_…            the roles themselves, without a login; migrations grant them what they need

do $$
declare
    missing text;
begin
    for missing in
        select name
        from unnest(array[
            'baohuang_owner', 'login_table', 'login_scoring', 'login_rating', 'login_matchmaking', 'login_history',
            'baohuang_app', 'baohuang_history', 'baohuang_log_reader', 'baohuang_reader', 'baohuang_scoring',
            'baohuang_rating', 'baohuang_matchmaking'
        ]) as wanted (name)
        where not exists (select from pg_roles where rolname = wanted.name)
    loop
        execute format('create role %I', missing);
    end loop;
end
$$;

alter role baohuang_owner login createrole;
alter role login_table login;
alter role login_scoring login;
alter role login_rating login;
alter role login_matchmaking login;
alter role login_history login;
alter role login_history set default_transaction_read_only = on;

-- A migration makes one role a member of another, and acts as each of them.
grant baohuang_app, baohuang_history, baohuang_log_reader, baohuang_reader, baohuang_scoring, baohuang_rating,
    baohuang_matchmaking
    to baohuang_owner with admin option;

grant baohuang_app to login_table;
grant baohuang_history to login_history;
grant baohuang_scoring to login_scoring;
grant baohuang_rating to login_rating;
grant baohuang_matchmaking to login_matchmaking;

do $$
begin
    execute format('alter database %I owner to baohuang_owner', current_database());
    execute format('revoke all on database %I from public', current_database());
    execute format(
        'grant connect on database %I to login_table, login_scoring, login_rating, login_matchmaking, login_history',
        current_database()
    );
end
$$;
