"""Private tables: who may know of one at all. For everybody else it does not exist.

A table that was opened with an invitation code keeps a digest of it and never the code. Whoever opened the table, sits
at it or plays in its hand may do there what he may do anywhere; so may operators and services, and who shows the code.
"""

from hashlib import sha256
from hmac import compare_digest

from msgspec import Struct

from baohuang.rules.state import PlayerId, Table, TableId, seat_of
from table_service.refusing import no_such_table


class Visitor(Struct, frozen=True):
    """Who comes to a table: `trusted` is an operator or a service, the code is what he shows, if anything."""

    player: PlayerId
    invitation_code: str = ""
    trusted: bool = False


def digest_of(table_id: TableId, invitation_code: str) -> str:
    """Return what a table keeps of its code: SHA-256(table id ‖ NUL ‖ code), in hex; empty without a code."""
    return sha256(f"{table_id}\0{invitation_code}".encode()).hexdigest() if invitation_code else ""


def check_admitted(table: Table, visitor: Visitor) -> None:
    """Raise NotFound, as if there were no such table, unless the visitor may know of it."""
    if table.invitation_digest and not (visitor.trusted or _belongs(table, visitor.player)):
        shown = digest_of(table.table_id, visitor.invitation_code)
        if not compare_digest(shown, table.invitation_digest):
            raise no_such_table(table.table_id)


def _belongs(table: Table, player: PlayerId) -> bool:
    in_hand = table.hand is not None and player in table.hand.players
    return in_hand or player == table.opened_by or seat_of(table, player) is not None
