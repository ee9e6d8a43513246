"""Pings by which each side of a connection finds that the other is gone without a word."""

from collections.abc import Sequence


def keepalive(every_ms: int, answered_within_ms: int) -> Sequence[tuple[str, int]]:
    """Give grpc's channel arguments: pings so often, on idle streams too; the connection ends when one is not answered.

    Both are milliseconds.
    """
    return (
        ("grpc.keepalive_time_ms", every_ms),
        ("grpc.keepalive_timeout_ms", answered_within_ms),
        # Without it a ping has a minute for as long as the other side's kernel, or a proxy, takes bytes in.
        ("grpc.http2.ping_timeout_ms", answered_within_ms),
        ("grpc.http2.max_pings_without_data", 0),
    )
