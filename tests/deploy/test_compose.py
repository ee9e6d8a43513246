"""The compose file: what it says is what Compose and our own code understand."""

import asyncio
import json
import os
import re
import resource
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from baohuang.embedded.ports import free_port
from command_line.health import ANSWER_SECONDS
from command_line.serving import SERVED
from deploy.told import listens, read_by
from deploy.tree import DEPLOY, ROOT, compose
from deploy.versions import image_of
from eventually import eventually

OURS = ("migrate", *SERVED)


SOON = 60.0
CHECK = compose()["services"]["table"]["healthcheck"]


def seconds(duration: str) -> float:
    """Return a duration of Compose's, of one unit."""
    (number, unit) = re.findall(r"^(\d+)(ms|s|m|h)$", duration)[0]
    return int(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit]


def environment_of(service: str) -> Mapping[str, str]:
    found: Mapping[str, str] = compose()["services"][service]["environment"]
    return found


def test_it_is_a_compose_file() -> None:
    """It holds to the schema of the Compose specification."""
    schema = json.loads((Path(__file__).parent / "compose-spec.json").read_text(encoding="utf-8"))
    jsonschema.validate(compose(), schema)


def test_its_head_says_what_the_page_says() -> None:
    """How it is started, in the same words."""
    head = re.findall(r"docker compose .+ up .+", (DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    page = re.findall(
        r"^docker compose .+ up .+", (ROOT / "docs/operations.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(head) == 1
    assert head == page


def test_every_service_is_there() -> None:
    """And table twice."""
    services = compose()["services"]
    assert {name for name, one in services.items() if one["image"].startswith("baohuang:")} == set(OURS)
    assert services["table"]["deploy"]["replicas"] == 2
    assert {name: services[name]["command"] for name in SERVED} == {name: ["serve", name] for name in SERVED}


@pytest.mark.parametrize("name", OURS)
def test_each_is_told_what_it_reads(name: str) -> None:
    """All that it needs, and nothing that it would not look at."""
    read = read_by(compose()["services"][name]["command"])
    told = set(environment_of(name))
    assert told <= set(read)
    assert {variable for variable, required in read.items() if required} <= told


@pytest.mark.parametrize("name", SERVED)
def test_what_is_published_is_served(name: str) -> None:
    """The port that others are given is the one that it listens on."""
    port = environment_of(name)[listens(name)].rpartition(":")[2]
    published = [text.rpartition(":")[2] for text in compose()["services"][name].get("ports", [])]
    assert set(published) <= {port}
    called = [text for one in OURS for text in environment_of(one).values() if text.startswith(f"{name}:")]
    assert set(called) <= {f"{name}:{port}"}


@pytest.mark.parametrize("name", SERVED)
def test_who_serves_is_checked_where_it_listens(name: str) -> None:
    """By our own command, at the container's own address: `up --wait` waits for services, not for processes."""
    check = compose()["services"][name]["healthcheck"]
    port = environment_of(name)[listens(name)].rpartition(":")[2]
    assert check["test"] == ["CMD", "baohuang", "health", f"127.0.0.1:{port}"]
    assert {**check, "test": None} == {**CHECK, "test": None}


def test_checks_are_as_often_as_the_page_says() -> None:
    """One in a few seconds until it serves, two a minute from then on."""
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    (often,) = re.findall(r"every (\d+) s while they start", " ".join(page.split()))
    assert "then twice a minute" in " ".join(page.split())
    assert seconds(CHECK["start_interval"]) == float(often)
    assert seconds(CHECK["interval"]) == 60 / 2


async def test_a_check_has_time_to_say_that_nobody_answers() -> None:
    """Of itself, in its own words: it waits for an answer, and on a machine twice as slow as well for its own start."""
    before = processor_seconds()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        running = await started("health", f"127.0.0.1:{silent.getsockname()[1]}")
        _, said = await running.communicate()
    assert (running.returncode, b"DEADLINE_EXCEEDED" in said) == (1, True)
    assert ANSWER_SECONDS + 2 * (processor_seconds() - before) < seconds(CHECK["timeout"])


async def test_a_start_is_well_within_its_period(own_database_dsn: str) -> None:
    """Failures while a service starts count for nothing, on a machine that is ten times as slow as well."""
    address = f"127.0.0.1:{free_port()}"
    settings = {"INSECURE_DEV": "true", "POSTGRES_DSN": own_database_dsn, "TABLE_LISTEN": address}
    service = await started("serve", "table", **settings)

    async def serves() -> bool:
        asking = await started("health", address, "--seconds", "1")
        await asking.communicate()
        return asking.returncode == 0

    try:
        await eventually(serves, SOON)
    finally:
        before = processor_seconds()
        service.terminate()
        await service.communicate()
    assert 10 * (processor_seconds() - before) < seconds(CHECK["start_period"])


def processor_seconds() -> float:
    """Return what all our processes that have ended took of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def started(*arguments: str, **variables: str) -> asyncio.subprocess.Process:
    """Run our command, told nothing but this."""
    bare = {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}
    told = {f"BAOHUANG_{name}": text for name, text in variables.items()}
    command = (sys.executable, "-m", "command_line", *arguments)
    return await asyncio.create_subprocess_exec(*command, env={**bare, **told}, stderr=asyncio.subprocess.PIPE)


@pytest.mark.parametrize("name", OURS)
def test_each_waits_for_whom_it_calls(name: str) -> None:
    """For all that are named in what it is told, until they serve; history alone is of use without tables."""
    called = {one for text in environment_of(name).values() for one in SERVED if text.startswith(f"{one}:")}
    waits = compose()["services"][name]["depends_on"]
    of_ours = {one: how["condition"] for one, how in waits.items() if one in SERVED}
    assert of_ours == dict.fromkeys(called if name != "history" else (), "service_healthy")
    if name in SERVED:
        assert waits["migrate"] == {"condition": "service_completed_successfully"}


@pytest.mark.parametrize("name", compose()["services"])
def test_each_is_hardened(name: str) -> None:
    """Nobody's root (but what hands the volumes over), nothing to write but what is mounted, no capabilities."""
    service = compose()["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert (service["user"] == "0:0") == (name == "nats-data")
    assert service.get("cap_add", []) == (["CHOWN"] if name == "nats-data" else [])
    assert not service.get("privileged")


@pytest.mark.parametrize("name", compose()["services"])
def test_images_are_the_tested_ones(name: str) -> None:
    """By tag, never `latest`: ours of this version, PostgreSQL and NATS of the versions that the tests ran."""
    image: str = compose()["services"][name]["image"]
    expected: Any = image_of(image.partition(":")[0])
    assert image == expected
