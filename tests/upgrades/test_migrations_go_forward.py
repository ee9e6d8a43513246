"""Migrations: what a release ran is never changed, and what comes after it harms nobody who still runs that release."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

from deploy.tree import ROOT
from upgrades.releases import Release, last_release, releases

SOURCES = ("shared", "services")
MIGRATIONS = re.compile(r"(.*/migrations/versions/v?\d{4}_\w+\.(sql|py)|baohuang/stream/schema/\w+\.sql)")
"""The files that migrations are made of, by their names in a wheel."""
UNSAFE: Mapping[str, str] = {
    r"\bdrop\s+(?!function\b|trigger\b|if\b)": "the release before may use it",
    r"\brename\b": "the release before knows the old name",
    r"\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b": "the table is rewritten under a lock",
    r"\bset\s+not\s+null\b": "the release before may write none",
    r"\badd\s+(column\s+)?(?!constraint\b)[^,;]*\bnot\s+null\b(?![^,;]*\b(default|generated)\b)": "old rows have none",
    r"\badd\s+constraint\b(?![^;]*\bnot\s+valid\b)": "all rows are checked under a lock, and old code may break it",
    r"\b(revoke|truncate|lock\s+table|vacuum\s+full|cluster)\b": "the release before needs what is taken",
    r"\bcreate\s+(unique\s+)?index\b(?!\s+concurrently)": "writers wait for as long as it takes",
    r"^\s*(update|delete)\b": "play waits for the rows until all of the migration is through",
}
"""What may not stand in a migration, and why; a line `-- safe: REASON` in the statement says why it may be there."""
TRANSACTION = r"\b(commit|rollback|concurrently)\b"
"""What cannot stand in a migration at all: all of an upgrade is one transaction."""


def files_of(release: Release) -> Mapping[str, bytes]:
    """Return the migrations in its wheel by name."""
    with ZipFile(release.wheel) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist() if MIGRATIONS.fullmatch(name)}


def files_here() -> Mapping[str, Path]:
    """Return the migrations of this tree by the name that they have in a wheel."""
    found = (path for source in SOURCES for path in (ROOT / source).rglob("*") if path.suffix in {".sql", ".py"})
    named = {"/".join(path.relative_to(ROOT).parts[1:]): path for path in found}
    return {name: path for name, path in named.items() if MIGRATIONS.fullmatch(name)}


@pytest.mark.parametrize("release", releases(), ids=lambda release: release.version)
def test_what_a_release_ran_is_never_changed(release: Release) -> None:
    """Every migration of its wheel is in this tree, byte for byte."""
    here, there = files_here(), files_of(release)
    assert len(there) > 30
    assert [name for name, text in there.items() if name not in here or here[name].read_bytes() != text] == []


def new_scripts() -> Mapping[str, str]:
    """Return the SQL that this tree runs and the last release did not."""
    before = files_of(last_release())
    return {name: path.read_text("utf-8") for name, path in files_here().items() if name not in before}


def test_what_is_new_is_safe_for_the_release_before() -> None:
    """Nothing of the list stands in a migration that is new since the last release, without a reason."""
    assert [found for name, text in new_scripts().items() for found in unsafe_in(name, text)] == []


def unsafe_in(name: str, text: str) -> Iterator[str]:
    """Yield what is not safe in a script, statement by statement."""
    made = set(re.findall(r"create\s+table\s+(?:if\s+not\s+exists\s+)?([\w.]+)", text.lower()))
    for statement in _without_bodies(text).split(";"):
        plain = re.sub(r"--[^\n]*", "", statement).lower()
        if re.search(TRANSACTION, plain):
            yield f"{name}: {plain.strip()}: cannot stand in a migration"
        indexed = re.search(r"create\s+(?:unique\s+)?index\s+[\w\s]*?\bon\s+(?:only\s+)?([\w.]+)", plain)
        if re.search(r"^\s*-- safe: \S", statement, re.MULTILINE) or (indexed and indexed[1] in made):
            continue
        yield from (f"{name}: {plain.strip()}: {why}" for way, why in UNSAFE.items() if re.search(way, plain))


def _without_bodies(text: str) -> str:
    """Leave the bodies of functions out, whose statements run later."""
    return re.sub(r"\$(\w*)\$.*?\$\1\$", "''", text, flags=re.DOTALL)


@pytest.mark.parametrize(
    "script",
    [
        "drop table heads;",
        "alter table heads drop column summary;",
        "alter table heads rename column summary to about;",
        "alter table heads rename to tips;",
        "alter table heads alter column version type bigint;",
        "alter table heads alter summary set not null;",
        "alter table heads add column mood text not null;",
        "alter table heads add mood text not null;",
        "alter table heads add constraint a_mood check (mood <> '');",
        "revoke select on heads from baohuang_app;",
        "create index heads_by_mood on heads (mood);",
        "create index concurrently heads_by_mood on heads (mood);",
        "update heads set summary = '{}';",
        "delete from heads;",
        "commit;",
    ],
)
def test_what_is_not_safe_is_found(script: str) -> None:
    """Each kind of it."""
    assert list(unsafe_in("made up", f"create table moods (mood text not null);\n{script}"))


@pytest.mark.parametrize(
    "script",
    [
        "alter table heads add column mood text;",
        "alter table heads add column mood text not null default 'calm';",
        "alter table heads add constraint a_mood check (mood <> '') not valid;",
        "create table moods (mood text not null); create index moods_by_mood on moods (mood);",
        "-- safe: the table has a row for each service\ncreate index relays_by_epoch on relays (epoch);",
        "create or replace function f() returns void language sql as $$ drop table heads; $$;",
        "grant select on heads to baohuang_history;",
    ],
)
def test_what_is_safe_is_let_through(script: str) -> None:
    """New columns that may be missing, new tables with their indexes, functions, rights; and what says why."""
    assert list(unsafe_in("made up", script)) == []
