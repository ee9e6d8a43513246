"""How services are run on this machine, and what each is told by its environment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.rpc.key_sources import is_url
from baohuang.rpc.rate_limit import RateLimit
from command_line.development_key import AUDIENCE, ISSUER, DevelopmentKey, jwks_path, signing_key_path
from command_line.services import BOTS, MATCHMAKING, RATING, TABLE, Service

_AS_LONG_AS_IT_RUNS: Final = 10 * 365 * 86400.0
"""Seconds: a service's token lasts for longer than anybody runs it, and the key beside it could sign another."""


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """How to run a backend.

    `postgres_dsn` and `nats_url` name servers of yours; None runs embedded ones. `table_port` 0 keeps the last one,
    wanted or not; all `table_replicas` listen on it. `beside` are services to run beside the table service.
    `jwks` is the path or URL of the keys of your own tokens; then `service_token` is one of them, of the role service,
    for matchmaking, and `bots_key` the PEM file of one of the keys, for bots. None trusts those of `baohuang token`.
    `insecure_dev` believes each client that sends no token on its own word. `rate_limit` None is the services' own
    default. With `metrics` each replica tells Prometheus its own, on loopback.
    """

    data_dir: Path
    postgres_dsn: str | None = None
    nats_url: str | None = None
    table_port: int = 0
    dev_seed: int | None = None
    insecure_dev: bool = False
    jwks: str | None = None
    rate_limit: RateLimit | None = None
    table_replicas: int = 1
    beside: Sequence[Service] = ()
    service_token: str | None = None
    bots_key: Path | None = None
    metrics: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where everything is that a service may need.

    `nats_urls` are by the service that each is for; `addresses` has those of the services that run, "host:port".
    """

    options: BackendOptions
    postgres_dsn: str
    nats_urls: Mapping[Service, str]
    addresses: Mapping[Service, str]

    def environment_of(self, service: Service) -> Mapping[str, str]:
        """Return the variables that tell the service so. Raises DevelopmentKeyError."""
        nats = {"BAOHUANG_NATS_URL": self.nats_urls[service]} if service in self.nats_urls else {}
        return {**self._of_all(), **nats, **self._own(service)}

    def _of_all(self) -> dict[str, str]:
        environment = {
            "BAOHUANG_SHARE_PORT": "false",
            "BAOHUANG_POSTGRES_DSN": self.postgres_dsn,
            "BAOHUANG_INSECURE_DEV": str(self.options.insecure_dev).lower(),
            **_tokens(self.options),
        }
        if limit := self.options.rate_limit:
            environment["BAOHUANG_RATE_LIMIT_PER_SECOND"] = str(limit.per_second)
            environment["BAOHUANG_RATE_LIMIT_BURST"] = str(limit.burst)
        return environment

    def _own(self, service: Service) -> Mapping[str, str]:
        if service == TABLE:
            return self._of_tables()
        if service == MATCHMAKING:
            return self._of_matchmaking()
        if service == BOTS:
            return self._of_bots()
        return {}

    def _of_tables(self) -> Mapping[str, str]:
        shared = {"BAOHUANG_SHARE_PORT": str(self.options.table_replicas > 1).lower()}
        seed = self.options.dev_seed
        return shared if seed is None else {**shared, "BAOHUANG_DEV_SEED": str(seed)}

    def _of_matchmaking(self) -> Mapping[str, str]:
        others = {"BAOHUANG_TABLE_ADDRESS": self.addresses[TABLE]}
        if RATING in self.addresses:
            others["BAOHUANG_RATING_ADDRESS"] = self.addresses[RATING]
        if BOTS not in self.addresses:
            others["BAOHUANG_FILL_WITH_BOTS_AFTER"] = "inf"  # they would sit there, and nobody play for them
        token = _service_token(self.options)
        return others if token is None else {**others, "BAOHUANG_SERVICE_TOKEN": token}

    def _of_bots(self) -> Mapping[str, str]:
        where = {"BAOHUANG_TABLE_ADDRESS": self.addresses[TABLE]}
        key = bots_key(self.options)
        return where if key is None else {**where, "BAOHUANG_BOTS_KEY": str(key)}


def bots_key(options: BackendOptions) -> Path | None:
    """Return the key that vouches for bots: yours, or the folder's where that is trusted; None if there is none."""
    if options.bots_key is not None or options.jwks is not None:
        return options.bots_key and options.bots_key.resolve()
    return signing_key_path(options.data_dir)


def _tokens(options: BackendOptions) -> Mapping[str, str]:
    """Give the settings for the tokens to trust; with keys of yours, issuer and audience come from our environment."""
    if options.jwks is not None:
        return {"BAOHUANG_JWKS": options.jwks if is_url(options.jwks) else str(Path(options.jwks).resolve())}
    return {
        "BAOHUANG_JWKS": str(jwks_path(options.data_dir)),
        "BAOHUANG_JWT_ISSUER": ISSUER,
        "BAOHUANG_JWT_AUDIENCE": AUDIENCE,
    }


def _service_token(options: BackendOptions) -> str | None:
    """Return what matchmaking shows to the others: yours, or one of the folder's key where that is the one trusted."""
    if options.service_token is not None or options.jwks is not None:
        return options.service_token
    caller = Caller(CallerId(MATCHMAKING.name), Role.SERVICE)
    return DevelopmentKey.of(options.data_dir).token(caller, _AS_LONG_AS_IT_RUNS)
