-- in_the_stream: of one stream, between the versions; by the player if there is one.
e.stream_id = $1 and e.version > (select low from versions) and e.version <= (select high from versions)
    and ($2 is null or e.actor = $2 or e.data ->> 'player' = $2)
