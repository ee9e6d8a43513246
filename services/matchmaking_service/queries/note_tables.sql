-- Notes the tables of matches and closes their tickets.
select party_id from note_tables($1, $2);
