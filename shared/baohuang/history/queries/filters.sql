-- filters: what is held against every event on the way, if it was asked for.
e.recorded_at >= $4 and e.recorded_at < $5
    and ($3 is null or e.type = any ($3))
    and ($1 is null or e.stream_id = $1)
    and ($9 is null or e.data ->> 'rule' = $9)
