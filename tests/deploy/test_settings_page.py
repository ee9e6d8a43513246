"""The page of settings is what the code reads."""

import re
import subprocess
import sys

from deploy.settings_page import PATH, page
from deploy.told import SETTINGS, read_by


def test_the_page_is_what_the_classes_say() -> None:
    """Word by word: make it anew with `python -m deploy.settings_page`, `tests` being on the path."""
    assert PATH.read_text(encoding="utf-8") == page()


def test_every_variable_of_every_service_is_on_it() -> None:
    """With what it says, whichever class it comes from."""
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", PATH.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name: required == "does not start" for name, required, _ in rows}
    for service in SETTINGS:
        read = read_by(["serve", service])
        assert read.keys() <= listed.keys()
        assert {name for name, required in read.items() if required} <= {name for name, must in listed.items() if must}
    assert all(says != "None" for _, _, says in rows)


def test_help_says_where_it_is() -> None:
    """Whoever asks how to serve is told where the variables stand."""
    asked = [sys.executable, "-m", "command_line", "serve", "table", "--help"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own command
    assert "docs/settings.md" in said
