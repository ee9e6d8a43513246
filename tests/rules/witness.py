"""A witness who sees everything, and checks at every event what must hold whatever happens.

What a viewer may know is worked out here from the rules and the full history, without a look at how `redact` does it.
"""

from collections import Counter
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from baohuang.rules import events as ev
from baohuang.rules.cards import CROWN, STRENGTH, SWORD, Card
from baohuang.rules.evolve import evolve
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.redact import Viewer, mask, redact
from baohuang.rules.rulesets import Guarding, Ruleset
from baohuang.rules.settlement import Solo
from baohuang.rules.state import ALL_SEATS, Answer, Hand, Phase, Roles, Table, TableStatus

VIEWERS: Final[tuple[Viewer, ...]] = (None, *ALL_SEATS)


class Witness:
    """Checks one table's history, event by event; the views of two viewers in turn at plays, of all `viewers` else."""

    def __init__(self, viewers: tuple[Viewer, ...] = VIEWERS) -> None:
        self.viewers = viewers
        self.seen = 0
        self.guard_shown = False
        self.solo_shown = False
        self._deck: Counter[Card] = Counter()
        self._played: Counter[Card] = Counter()
        self._called_played = 0

    def decided(self, before: Table | None, events: tuple[ev.Event, ...], after: Table) -> None:
        """Check one decision: its events one by one, and the table that `decide` returned with them."""
        assert events
        state = before
        for event in events:
            following = evolve(state, event)
            self.follow(state, event, following)
            self._check_views(state, event, following)
            state = following
        assert state == after
        if after.hand is not None:
            self._check_at_rest(after.hand)
        self._check_deadlines(after)

    def follow(self, before: Table | None, event: ev.Event, after: Table) -> None:
        """Keep up with what is public, and count the cards; for one event after the other."""
        match event:
            case ev.CardsDealt():
                self.guard_shown = self.solo_shown = False
                self._deck, self._played, self._called_played = _held(after.hand), Counter(), 0
            case ev.CardsPlayed() if before is not None and before.hand is not None:
                self._played.update(event.cards)
                self._follow_play(before.ruleset, before.hand, event)
            case ev.DeclarationsPublished() if before is not None and before.hand is not None:
                self._follow_declarations(before.ruleset, before.hand)
            case ev.EmperorEnthroned(open_solo=True) | ev.OpenSoloDeclared():
                self.solo_shown = True
            case ev.SeizePublished(winner=winner) if winner is not None:
                self.solo_shown = True
            case ev.HandFinished():
                self._check_result(event)
            case _:
                pass
        if after.hand is not None and after.hand.phase is not Phase.REDEAL:
            assert _held(after.hand) + self._played == self._deck, "a card was made or lost"

    def _follow_play(self, ruleset: Ruleset, hand: Hand, event: ev.CardsPlayed) -> None:
        """ROLE-1."""
        roles = hand.roles
        alone = event.seat == roles.emperor and roles.solo is Solo.HIDDEN
        if ruleset.guarding is Guarding.SWORD_CARD:
            shows = SWORD in event.cards
        else:
            self._called_played += event.cards.count(roles.called) if alone and roles.called else 0
            shows = self._called_played == 4 if alone else roles.called in event.cards
        self.guard_shown |= shows and event.seat == roles.guard
        self.solo_shown |= shows and alone

    def _follow_declarations(self, ruleset: Ruleset, hand: Hand) -> None:
        """DECL-1, DECL-2, DECL-3, DECL-5, DECL-6."""
        opponents = 4 if hand.roles.solo else 3
        revolts = hand.answers.count(Answer.REVOLT)
        effective = bool(revolts) and revolts >= min(ruleset.revolt_threshold, opponents)
        effective &= not {Answer.OPEN_SOLO, Answer.SURRENDER} & set(hand.answers)
        if hand.roles.solo:
            self.solo_shown |= effective or bool({Answer.OPEN_SOLO, Answer.SURRENDER} & set(hand.answers))
        else:
            self.guard_shown |= effective or Answer.OPEN_GUARD in hand.answers

    def _check_result(self, event: ev.HandFinished) -> None:
        assert sum(event.points) == 0
        ended_by_operator = event.void and not event.places
        assert sorted(event.places) == ([] if event.surrendered or ended_by_operator else list(ALL_SEATS))
        assert (event.guard is None) == (event.solo is not None) or event.void
        assert event.emperor is not None or event.void

    def _check_at_rest(self, hand: Hand) -> None:
        """Somebody can always act until the hand is settled, and it is never a trustee; ROLE-1 is up to date."""
        acting = seats_to_act(hand)
        assert bool(acting) == (hand.phase is not Phase.SETTLED)
        assert not any(hand.trusteeships[seat].active for seat in acting)
        assert all(hand.hands[seat] for seat in acting) or hand.phase is not Phase.PLAY
        assert hand.roles.public_guard == (hand.roles.guard if self.guard_shown else None)
        assert hand.roles.public_solo == self.solo_shown

    def _check_deadlines(self, table: Table) -> None:
        """TABLE-1: something is always due at an open table, and nothing at a closed one; each rests on an event."""
        between = table.status is TableStatus.OPEN and (table.hand is None or table.hand.result is not None)
        for taken in table.seats:
            assert bool(taken.due_at) == bool(taken.due_version) == (between and bool(taken.player))
        empty = between and not any(taken.player for taken in table.seats)
        assert bool(table.closes_at) == bool(table.closes_version) == empty

    def _check_views(self, before: Table | None, event: ev.Event, after: Table) -> None:
        self.seen += 1
        plays = isinstance(event, ev.CardsPlayed | ev.Passed)
        viewers = (self.seen, self.seen * 5 + 2) if plays else range(len(self.viewers))
        for viewer in [self.viewers[index % len(self.viewers)] for index in viewers if self.viewers]:
            masked, redacted = mask(after, viewer), redact(event, viewer, hand_over=False)
            assert evolve(None if before is None else mask(before, viewer), redacted) == masked, (viewer, event)
            if not isinstance(event, ev.Passed):
                self.check_event(before, redacted, after, viewer)
                self.check_table(after, masked, viewer)

    def check_event(self, before: Table | None, redacted: ev.Event, after: Table, viewer: Viewer) -> None:
        """TABLE-2: in an event a viewer sees cards of his own hand and played or called ones, and no hidden role."""
        if isinstance(redacted, ev.HandFinished | ev.VoidReversed):
            assert after.hand is not None
            assert after.hand.result is not None
            return
        shown = Shown(redacted)
        assert not shown.cards - _own(before, viewer) - _own(after, viewer) - _public(redacted), (viewer, redacted)
        assert not _secrets(after) & shown.texts
        assert viewer is not None or getattr(redacted, "hidden", None) is None
        if not isinstance(redacted, ev.HandStarted):
            self._check_roles(shown, after, viewer)

    def check_table(self, table: Table, masked: Table, viewer: Viewer) -> None:
        """TABLE-2: in a state a viewer sees his own hand, what lies on the table, what he paid or pasted, no more."""
        shown = Shown((masked.hand, masked.commitment, masked.seeds))
        assert not _secrets(table) & shown.texts
        if table.hand is None or table.hand.result is not None:
            return
        assert shown.cards == _knows(table.hand, viewer), viewer
        self._check_roles(shown, table, viewer)

    def _check_roles(self, shown: "Shown", table: Table, viewer: Viewer) -> None:
        roles = table.hand.roles if table.hand else Roles()
        assert not shown.guard or viewer == roles.guard or self.guard_shown, viewer
        assert not shown.solo or viewer == roles.emperor or self.solo_shown, viewer


class Shown:
    """What can be read in a value, however deep it stands: cards, other texts, whether a guard or a solo is named."""

    def __init__(self, thing: object) -> None:
        self.texts: set[str] = set()
        self.guard = self.solo = False
        found: list[str] = []
        self._walk(thing, found)
        self.cards = Counter(Card(text) for text in found if text in STRENGTH)
        self.texts.update(found)

    def _walk(self, thing: object, found: list[str]) -> None:
        if isinstance(thing, str):
            found.append(thing)
        elif isinstance(thing, tuple):
            if thing and isinstance(thing[0], str):
                found += thing
                return
            for part in thing:
                self._walk(part, found)
        elif thing is not None and not isinstance(thing, int):
            self._walk_fields(thing, found)

    def _walk_fields(self, thing: object, found: list[str]) -> None:
        cls: Any = type(thing)
        for name in _field_names(cls):
            value = getattr(thing, name)
            self.guard |= name == "guard" and value is not None
            self.solo |= name == "solo" and value not in {None, False}
            self._walk(value, found)


@cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else ()


def _held(hand: Hand | None) -> Counter[Card]:
    """Return the cards in hands, and the crown and what was pasted to it while it is being offered."""
    if hand is None:
        return Counter()
    held = Counter(card for cards in hand.hands for card in cards)
    if hand.offer is not None:
        held.update((CROWN, *(pasted.card for pasted in hand.offer.pile)))
    return held


def _own(table: Table | None, viewer: Viewer) -> Counter[Card]:
    if table is None or table.hand is None or viewer is None:
        return Counter()
    return Counter(table.hand.hands[viewer])


def _public(event: ev.Event) -> Counter[Card]:
    match event:
        case ev.CardsPlayed():
            return Counter(event.cards)
        case ev.CardCalled():
            return Counter((event.card,))
        case _:
            return Counter()


def _knows(hand: Hand, viewer: Viewer) -> Counter[Card]:
    known = Counter(hand.trick.cards)
    if hand.roles.called:
        known[hand.roles.called] += 1
    if viewer is None:
        return known
    known.update(hand.hands[viewer])
    known.update(pasted.card for pasted in (hand.offer.pile if hand.offer else ()) if pasted.seat == viewer)
    for paid in hand.tribute:
        known.update(paid.cards if viewer in {paid.payer, paid.receiver} else ())
    return known


def _secrets(table: Table) -> set[str]:
    """Return the seeds that nobody may know yet (FAIR-1)."""
    secrets = {table.commitment.seed} if table.commitment else set()
    if table.hand is not None and table.hand.result is None:
        secrets.update(table.seeds)
    return secrets - {""}
