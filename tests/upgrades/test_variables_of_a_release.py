"""The variables that services are told by: what an operator has set for the release before is taken as it is."""

import json
import os
import subprocess
import sys

from deploy.told import SETTINGS
from fleet.code import THIS, Code

PROGRAM = """
import json, sys
from importlib import import_module
found = {name: getattr(import_module(module), kind) for name, (module, kind) in json.loads(sys.argv[1]).items()}
print(json.dumps({
    name: {f"BAOHUANG_{field.upper()}": told.is_required() for field, told in settings.model_fields.items()}
    for name, settings in found.items()
}))
"""


def variables_of(code: Code) -> dict[str, dict[str, bool]]:
    """Return the variables that each service reads, with whether they have to be there."""
    environment = {**os.environ, "PYTHONPATH": code.path}
    classes = json.dumps({name: (kind.__module__, kind.__qualname__) for name, kind in SETTINGS.items()})
    ran = subprocess.run([sys.executable, "-c", PROGRAM, classes], check=True, capture_output=True, env=environment)  # noqa: S603
    read: dict[str, dict[str, bool]] = json.loads(ran.stdout)
    return read


def test_none_is_gone_and_none_is_wanted_anew(before: Code) -> None:
    """Every service of the last release reads in this tree what it read then; what is new has a default."""
    then, now = variables_of(before), variables_of(THIS)
    assert then.keys() <= now.keys()
    for service, known in then.items():
        assert known.keys() <= now[service].keys()
        assert {name for name, wanted in now[service].items() if wanted} <= {name for name, had in known.items() if had}
