"""`baohuang checkpoint` and `baohuang checkpoint-key`: signed statements of what the log is, to be kept elsewhere."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import asyncpg
import msgspec
import typer

from baohuang.audit.checkpointing import make
from baohuang.audit.checkpoints import Checkpoint, Statement
from baohuang.audit.kept import write_end, write_first
from baohuang.audit.signing import SigningKey, SigningKeyError
from baohuang.audit.survey import Survey, open_signing
from command_line.audit.asking import PostgresDsn, answered, cannot_tell
from command_line.saying import say

Tell = Callable[[Statement | None, str], str]
"""How a statement is told, and whether it was made now or before."""
KeyFile = Annotated[Path, typer.Option("--key", help="the private key, Ed25519 in PEM")]


def checkpoint_key(
    *,
    key: KeyFile,
    keys: Annotated[Path, typer.Option(help="the JWK set of all public keys, to which the new one is added")],
) -> None:
    """Make a key that checkpoints are signed with. Made again with another file, it replaces the old one.

    What the old one signed stays good for whoever has the set.
    """
    try:
        made = SigningKey.made(key, keys)
    except (SigningKeyError, OSError) as error:
        cannot_tell(error)
    say(made.key_id)


def checkpoint(
    *,
    key: KeyFile,
    to: Annotated[Path | None, typer.Option(help="a new file for the checkpoint with the end of every stream")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
    postgres_dsn: PostgresDsn,
) -> None:
    """Sign where every stream of the log ends now, store that in the log's database, and write it to a file.

    Kept where who can change the database cannot, the file shows whatever is changed or taken away up to this moment.
    """
    if to is not None and to.exists():
        raise typer.BadParameter(f"{to} exists already", param_hint="--to")
    try:
        signing = SigningKey.read(key)
    except (SigningKeyError, OSError) as error:
        cannot_tell(error)
    answered(_checkpoint(postgres_dsn, signing, to, _as_json if as_json else _in_words))


async def _checkpoint(dsn: str, key: SigningKey, to: Path | None, tell: Tell) -> int:
    async with open_signing(dsn) as survey:
        try:
            made = await make(survey, key, await survey.clock())
        except asyncpg.UniqueViolationError:
            made = None  # by somebody else meanwhile, who is as good
        last = made or await survey.last_checkpoint()
        if last is not None and to is not None:
            await _keep(survey, last, to)
    say(tell(last.statement if last else None, "made" if made else "made before"))
    return 0


def _in_words(said: Statement | None, made: str) -> str:
    if said is None:
        return "the log is empty"
    return f"{made}: position {said.position}, {said.streams} streams, root {said.root.hex()}"


def _as_json(said: Statement | None, made: str) -> str:
    """Return what there is to say as JSON; of an empty log that there is no position."""
    told: dict[str, object] = {"made": made == "made" and said is not None, "position": 0, "streams": 0, "root": ""}
    if said is not None:
        told |= {"position": said.position, "streams": said.streams, "root": said.root.hex()}
    return msgspec.json.encode(told).decode()


async def _keep(survey: Survey, checkpoint: Checkpoint, to: Path) -> None:
    """Write a checkpoint and where the streams ended then, put in place whole."""
    new = to.with_name(to.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        write_first(file, checkpoint)
        async for end in survey.ends_at(checkpoint.statement.position):
            write_end(file, end)
    new.replace(to)
