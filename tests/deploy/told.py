"""What a container of ours can be told by its environment, by its arguments: taken from the code that reads it."""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic_settings import BaseSettings
from typer.core import TyperOption

from baohuang.tracing.settings import TraceSettings
from command_line.bots.settings import BotsSettings
from command_line.main import _imported
from matchmaking_service.settings import MatchmakingSettings
from rating_service.settings import RatingSettings
from scoring_service.settings import ScoringSettings
from table_service.history.settings import HistorySettings
from table_service.settings import TableSettings

SETTINGS: Final[Mapping[str, type[BaseSettings]]] = {
    "table": TableSettings,
    "scoring": ScoringSettings,
    "rating": RatingSettings,
    "matchmaking": MatchmakingSettings,
    "bots": BotsSettings,
    "history": HistorySettings,
}
PREFIX: Final = "BAOHUANG_"
OPERATORS: Final = ("migrate", "verify", "reconcile", "set-aside", "clear-alarm", "rebuild-stream")
"""Commands that operators run on the database, and on NATS, beside the services: by `kubectl exec`."""


def read_by(arguments: Sequence[str]) -> Mapping[str, bool]:
    """Return the variables that `baohuang ARGUMENTS` reads, each with whether it has to be there."""
    match list(arguments):
        case ["serve", service]:
            fields = SETTINGS[service].model_fields
            ours = {f"{PREFIX}{name.upper()}": field.is_required() for name, field in fields.items()}
            return ours | {str(field.validation_alias): False for field in TraceSettings.model_fields.values()}
        case []:
            return _read_by_any(OPERATORS)
        case [command]:
            return _read_by_any([command])
        case other:
            raise AssertionError(f"no container of ours is told {other}")


def _read_by_any(commands: Sequence[str]) -> Mapping[str, bool]:
    parameters = [one for command in commands for one in _imported(command).params]
    return {str(one.envvar): one.required for one in parameters if isinstance(one, TyperOption) and one.envvar}


def listens(service: str) -> str:
    """Return the name of the variable that tells a service where to serve."""
    return f"{PREFIX}{service.upper()}_LISTEN"
