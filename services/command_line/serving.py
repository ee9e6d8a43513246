"""`baohuang serve SERVICE`: one service in this process, where something else starts and watches processes."""

from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Final

import typer

from command_line.services import BESIDE_TABLES, HISTORY, TABLE

SERVED: Final = MappingProxyType({service.name: service for service in (TABLE, *BESIDE_TABLES, HISTORY)})
"""What can be served, by its name."""


def serve(
    service: Annotated[str, typer.Argument(metavar="SERVICE", help=f"one of {', '.join(SERVED)}")],
) -> None:
    """Run one replica of a service until SIGTERM, told everything by its environment; log lines on standard error.

    Its variables stand in docs/settings.md.
    """
    if service not in SERVED:
        raise typer.BadParameter(f"{service!r} is not one of {', '.join(SERVED)}", param_hint="SERVICE")
    import_module(SERVED[service].module).main()
