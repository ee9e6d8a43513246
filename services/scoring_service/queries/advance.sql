-- advance: note the number given out, and the event it was given to.
update progress set last_number = $1, last_position = $2
