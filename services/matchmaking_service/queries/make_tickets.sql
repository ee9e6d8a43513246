-- Settles a flush of requests for tickets.
select * from make_tickets($1);
