-- The role the services act as. Roles belong to the cluster and not to a database, so this runs at every start: a dump
-- restored into a fresh cluster has none.

do $$
begin
    create role baohuang_app nologin;
exception when duplicate_object or unique_violation then
    null; -- roles belong to the cluster: another database has made it, perhaps at this very moment
end
$$;

do $$
begin
    if not pg_has_role(current_user, 'baohuang_app', 'set') then
        execute format('grant baohuang_app to %I', current_user);
    end if;
end
$$;
