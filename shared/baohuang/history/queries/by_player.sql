-- by_player: naming the player.
e.data ? 'player' and e.data ->> 'player' = $2
