"""The messages of a Play stream, serialized."""

from collections.abc import Iterable

from baohuang.gen.table.v1 import play_pb2, watch_pb2

_TABLE_TAG = bytes([play_pb2.PlayResponse.DESCRIPTOR.fields_by_name["table"].number << 3 | 2])
_SEVEN_BITS = 0x7F
_MESSAGE_TAG = bytes([play_pb2.TableMessage.DESCRIPTOR.fields_by_name["message"].number << 3 | 2])


def answered(answer: play_pb2.Accepted | play_pb2.Refused) -> bytes:
    """Return the answer to a command."""
    if isinstance(answer, play_pb2.Accepted):
        return play_pb2.PlayResponse(accepted=answer).SerializeToString()
    return play_pb2.PlayResponse(refused=answer).SerializeToString()


def heartbeat() -> bytes:
    """Return a sign of life."""
    return play_pb2.PlayResponse(heartbeat=play_pb2.PlayHeartbeat()).SerializeToString()


def reconnect(reason: "watch_pb2.ReconnectReason.ValueType", tables: Iterable[tuple[str, int]]) -> bytes:
    """Return the last message of a stream, with the version that each of its tables was brought to."""
    watched = [play_pb2.WatchedTable(table_id=table_id, version=version) for table_id, version in tables]
    return play_pb2.PlayResponse(reconnect=play_pb2.PlayReconnect(reason=reason, tables=watched)).SerializeToString()


class Envelope:
    """Puts messages of a table, serialized once for all who watch it, into those of a Play stream, as they are.

    That is plain protobuf: a field of a message type is its tag, the length of its bytes, and those bytes.
    """

    def __init__(self, table_id: str) -> None:
        self._head = play_pb2.TableMessage(table_id=table_id).SerializeToString() + _MESSAGE_TAG

    def around(self, message: bytes) -> bytes:
        """Return the PlayResponse with a serialized WatchTableResponse of the table in it."""
        length = _varint(len(message))
        whole = _varint(len(self._head) + len(length) + len(message))
        return b"".join((_TABLE_TAG, whole, self._head, length, message))


def _varint(number: int) -> bytes:
    low = bytearray()
    while number > _SEVEN_BITS:
        low.append(number & _SEVEN_BITS | 0x80)
        number >>= 7
    low.append(number)
    return bytes(low)
