-- in_the_log: between the positions.
e.position > (select low from positions) and e.position < (select high from positions)
