-- add_points: add to players' points, in one order, and return their sums.
insert into players as p (player, points)
select a.player, a.points from unnest($1::text[], $2::integer[]) as a (player, points) order by a.player
on conflict on constraint a_player_has_one_sum do update set points = p.points + excluded.points
returning player, points
