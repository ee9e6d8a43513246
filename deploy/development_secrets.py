"""Passwords and keys for the compose file and for a development cluster, made once into a folder of your own.

    python deploy/development_secrets.py deploy/secrets

keys/            the key that signs tokens and its JWK set, as `baohuang up` has them: `baohuang token --data FOLDER`
compose.env      for `docker compose --env-file`
kubernetes.yaml  for `kubectl apply -f`: the Secrets and the JWK set that the overlays dev and kind name

For production have these made by what keeps your secrets; docs/operations.md lists them.
"""

import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from baohuang.rpc.auth import Caller, CallerId, Role
from baohuang.stream.permissions import NatsUser
from command_line.development_key import DevelopmentKey, jwks_path, signing_key_path

_NAMESPACE: Final = "baohuang"
_USER_OF_THE_IMAGE: Final = 65532
_AS_LONG_AS_IT_RUNS: Final = 10 * 365 * 86400.0
_LOGINS: Final = ("OWNER", "TABLE", "SCORING", "RATING", "MATCHMAKING", "HISTORY")
_NATS_PASSWORDS: Final = (*(f"BAOHUANG_NATS_{user.upper()}_PASSWORD" for user in NatsUser), "NATS_CLUSTER_PASSWORD")


def make(folder: Path) -> None:
    """Write what is not there yet. Raises DevelopmentKeyError, OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = DevelopmentKey.made_or_found(folder)
    env = folder / "compose.env"
    if not env.exists():
        _write(env, "".join(f"{name}={text}\n" for name, text in _made(key)))
    _write(folder / "kubernetes.yaml", _kubernetes(dict(_read(env)), folder))
    if os.geteuid() == 0:
        for path in (folder, folder / "keys", signing_key_path(folder), jwks_path(folder)):
            os.chown(path, _USER_OF_THE_IMAGE, _USER_OF_THE_IMAGE)


def _made(key: DevelopmentKey) -> Iterator[tuple[str, str]]:
    user, group = (os.getuid(), os.getgid()) if os.geteuid() else (_USER_OF_THE_IMAGE, _USER_OF_THE_IMAGE)
    yield "BAOHUANG_USER", f"{user}:{group}"
    yield "SERVICE_TOKEN", key.token(Caller(CallerId("matchmaking"), Role.SERVICE), _AS_LONG_AS_IT_RUNS)
    yield "POSTGRES_PASSWORD", _password()
    for login in _LOGINS:
        yield f"{login}_PASSWORD", _password()
    for name in _NATS_PASSWORDS:
        yield name, _password()


def _password() -> str:
    """Return one that needs no quoting in a URL, and that nats-server does not take for a number."""
    return f"p{secrets.token_hex(20)}"


def _read(env: Path) -> Iterator[tuple[str, str]]:
    for line in env.read_text(encoding="utf-8").splitlines():
        name, _, text = line.partition("=")
        yield name, text


def _kubernetes(made: Mapping[str, str], folder: Path) -> str:
    objects = [
        *(_secret(name, data) for name, data in _secrets(made, folder).items()),
        _object("ConfigMap", "jwks", "data", {"jwks.json": jwks_path(folder).read_text(encoding="utf-8")}),
    ]
    return "---\n".join(f"{json.dumps(one, indent=2)}\n" for one in objects)  # JSON is YAML


def _secrets(made: Mapping[str, str], folder: Path) -> Mapping[str, Mapping[str, str]]:
    def dsn(login: str, password: str) -> str:
        return f"postgresql://{login}:{made[password]}@postgres:5432/baohuang"

    def url(user: str) -> str:
        return f"nats://{user}:{made[f'BAOHUANG_NATS_{user.upper()}_PASSWORD']}@nats:4222"

    following = {
        name: {"postgres-dsn": dsn(f"login_{name}", f"{name.upper()}_PASSWORD"), "nats-url": url(name)}
        for name in ("table", "scoring", "rating")
    }
    return {
        **following,
        "migration": {"postgres-dsn": dsn("baohuang_owner", "OWNER_PASSWORD")},
        "operator": {"postgres-dsn": dsn("baohuang_owner", "OWNER_PASSWORD"), "nats-url": url("operator")},
        "matchmaking": {
            "postgres-dsn": dsn("login_matchmaking", "MATCHMAKING_PASSWORD"),
            "service-token": made["SERVICE_TOKEN"],
        },
        "history": {"postgres-dsn": dsn("login_history", "HISTORY_PASSWORD")},
        "bots": {"signing.pem": signing_key_path(folder).read_text(encoding="utf-8")},
        "postgres": {name: made[name] for name in ("POSTGRES_PASSWORD", *(f"{login}_PASSWORD" for login in _LOGINS))},
        "nats": {name: made[name] for name in _NATS_PASSWORDS},
    }


def _secret(name: str, data: Mapping[str, str]) -> Mapping[str, Any]:
    return _object("Secret", name, "stringData", data)


def _object(kind: str, name: str, field: str, data: Mapping[str, str]) -> Mapping[str, Any]:
    metadata = {"name": name, "namespace": _NAMESPACE}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, field: data}


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:  # noqa: PLR2004 - the folder, after the program
        sys.exit("usage: python deploy/development_secrets.py FOLDER")
    make(Path(sys.argv[1]))
