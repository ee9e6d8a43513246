-- Notes the table of a match; gives nothing if that was done before.
update matches set state = 'opened', table_id = $2 where match_id = $1 and state = 'formed'
returning true;
