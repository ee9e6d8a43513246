-- rulings: all types of them.
e.type in (
    'FineReversed', 'HandVoided', 'PlayerBanned', 'PlayerFined', 'PlayerReinstated', 'PlayerUnseated', 'TableClosed',
    'TableDissolved', 'TrusteeshipEntered', 'TrusteeshipMadePermanent', 'TurnExtended', 'VoidReversed'
)
