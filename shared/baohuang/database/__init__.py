"""PostgreSQL as every service of this system uses it: a schema and a role of its own, migrations, a pool."""
