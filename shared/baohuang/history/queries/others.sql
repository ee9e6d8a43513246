-- others: all that are no moves.
e.type not in ('CardsPlayed', 'Passed')
