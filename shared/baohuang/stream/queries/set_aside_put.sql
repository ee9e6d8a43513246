-- set_aside_put: set a message aside, or note another try at one that is, and return how many there were.
insert into set_aside as s (consumer, number, subject, headers, body, error) values ($1, $2, $3, $4, $5, $6)
on conflict on constraint a_message_is_set_aside_once do update set error = excluded.error, tried = s.tried + 1
returning tried
