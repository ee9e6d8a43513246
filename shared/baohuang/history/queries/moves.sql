-- moves: nine events of ten.
e.type in ('CardsPlayed', 'Passed')
