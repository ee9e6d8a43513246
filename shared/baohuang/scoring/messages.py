"""Postings of the ledger as messages of the stream `baohuang-scoring`: message n is posting n.

    subject  baohuang.v1.scoring.<table id>.<type>
    body     {"data", "posting", "type"}      JSON in the form of RFC 8785; `data` is the message that `type` names
    header   Baohuang-Hash                    SHA-256 of the body, lower-case hex

There is nothing in them that not everybody may know.
"""

from hashlib import sha256
from typing import Final

import msgspec

from baohuang.eventlog.json_codec import CodecError
from baohuang.scoring.events import CODEC, Posted, PostingNumber
from baohuang.stream.port import HASH_HEADER, Message, Number, Unprocessable
from baohuang.stream.streams import SCORING_STREAM


class _Body(msgspec.Struct, frozen=True):
    data: msgspec.Raw
    posting: int
    type: str


_encode: Final = msgspec.json.Encoder(order="sorted").encode
_decode: Final = msgspec.json.Decoder(_Body).decode


def message_of(number: PostingNumber, table_id: str, kind: str, data: bytes) -> Message:
    """Return the message that carries a posting; `data` is its JSON in whatever form."""
    body = _encode({"data": msgspec.json.decode(data), "posting": number, "type": kind})
    headers = {HASH_HEADER: sha256(body).hexdigest()}
    return Message(Number(number), SCORING_STREAM.subject(table_id, kind), body, headers)


def posted_in(message: Message) -> Posted:
    """Return the posting that a message carries. Raises Unprocessable."""
    posted = posted_as(message.body)
    if posted.posting != PostingNumber(message.number):
        raise Unprocessable(f"message {message.number} carries posting {posted.posting}")
    return posted


def posted_as(body: bytes) -> Posted:
    """Return the posting that a message's body carries, whatever its number. Raises Unprocessable."""
    try:
        read = _decode(body)
        posted = CODEC.decode(read.type, bytes(read.data))
    except (msgspec.MsgspecError, CodecError, UnicodeDecodeError) as error:
        raise Unprocessable(f"there is no posting in it: {error}") from error
    if read.posting != posted.posting:
        raise Unprocessable(f"it is said to be posting {read.posting} and is posting {posted.posting}")
    return posted
