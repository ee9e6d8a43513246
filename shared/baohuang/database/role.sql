-- The role that works in a schema, named in place of {role}. Roles belong to the cluster and not to a database, so this
-- runs at every start: a dump restored into a fresh cluster has none.

do $$
begin
    create role {role} nologin;
exception when duplicate_object or unique_violation then
    null; -- roles belong to the cluster: another database has made it, perhaps at this very moment
end
$$;

do $$
begin
    if not pg_has_role(current_user, '{role}', 'set') then
        execute format('grant {role} to %I', current_user);
    end if;
end
$$;
