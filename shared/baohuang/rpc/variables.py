"""Variables of the environment that look like ours and that nobody reads: a name that is misspelt, most likely.

Services share an environment, and commands run in it too: a name that any of them knows is none of these.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

PREFIX: Final = "BAOHUANG_"
_NAMES: Final = """
BOTS_KEY BOTS_LISTEN BOTS_LOOK_SECONDS BOTS_THINK_SECONDS DEV_SEED DRAIN_GRACE_SECONDS FILL_WITH_BOTS_AFTER
HISTORY_LISTEN INSECURE_DEV JWKS JWT_AUDIENCE JWT_ISSUER KEEP_DAYS LOG_LEVEL MATCHMAKING_LISTEN
MAX_CONCURRENT_STREAMS MAX_CONNECTION_AGE_GRACE_SECONDS MAX_CONNECTION_AGE_SECONDS MAX_REQUEST_BYTES
MAX_STREAMS_PER_PLAYER METRICS METRICS_LISTEN MIN_PING_INTERVAL_SECONDS NATS_CA NATS_CERT NATS_KEY
NATS_OPERATOR_PASSWORD NATS_RATING_PASSWORD NATS_SCORING_PASSWORD NATS_TABLE_PASSWORD NATS_URL POSTGRES_DSN
PROBE_LISTEN RATE_LIMIT_BURST RATE_LIMIT_PER_SECOND RATING_ADDRESS RATING_LISTEN REFUSE_SECONDS REPLICA
SCORING_LISTEN SERVICE_TOKEN SHARE_PORT STREAM_SERVERS TABLE_ADDRESS TABLE_LISTEN TABLE_TARGET
TICKET_LIFETIME_SECONDS TLS_CA TLS_CERT TLS_CLIENT_CA TLS_KEY TOKEN USER
"""
KNOWN: Final = frozenset(f"{PREFIX}{name}" for name in _NAMES.split())
"""What services, commands and the files under deploy/ read; a test holds it to them."""
_OF_KUBERNETES: Final = re.compile(r".*_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)")
"""What a pod is told of each Service of its namespace, by the Service's name."""


def unread(environment: Iterable[str]) -> Sequence[str]:
    """Return the names that nobody reads, each with the known one that it is nearest to, if it is near any."""
    ours = sorted(name for name in environment if name.upper().startswith(PREFIX))
    return [_with_nearest(name) for name in ours if name.upper() not in KNOWN and not _OF_KUBERNETES.fullmatch(name)]


def _with_nearest(name: str) -> str:
    near = get_close_matches(name.upper(), KNOWN, n=1, cutoff=0.85)
    return f"{name} ({near[0]}?)" if near else name
