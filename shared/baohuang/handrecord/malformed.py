"""What is wrong with a document, and where."""


class MalformedRecord(ValueError):  # noqa: N818 - a finding about a document
    """The document is no record of a hand. `field` is the place in it, e.g. `events[3].data.cards[0]`; "" the whole."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}" if field else why)
        self.field = field
        self.why = why
