-- The number of the server process behind this connection.
select pg_backend_pid();
