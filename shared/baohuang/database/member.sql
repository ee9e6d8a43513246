-- Lets one role do what another may, named in place of {role} and {reads}; at every start, as in role.sql.

do $$
begin
    if not pg_has_role('{role}', '{reads}', 'usage') then
        grant {reads} to {role};
    end if;
end
$$;
