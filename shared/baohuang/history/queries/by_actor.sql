-- by_actor: brought about by the player.
e.actor = $2
