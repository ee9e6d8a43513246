from pathlib import Path

import pytest
from pydantic import ValidationError

from baohuang.embedded.errors import ServerDied
from baohuang.eventlog.codec import decode
from baohuang.eventlog.memory import MemoryLog
from baohuang.rules.cards import Card
from baohuang.rules.deal import commitment_to
from baohuang.rules.events import HandFinished, SeedCommitted
from bench.random_player import chance_of
from command_line.service_process import ServiceProcess
from command_line.services import TABLE
from table_service.seeds import DevelopmentSeeds, RandomSeeds, SeedSource, seeds_from
from table_service.settings import TableSettings
from tables.games import Game, started
from tables.replicas import replica

DSN = "postgresql://nobody:x@127.0.0.1:1/none"


async def deals_of(seeds: SeedSource, hands: int = 1) -> list[tuple[tuple[Card, ...], ...]]:
    """Return what is dealt first at a new table of a new service, and in the hands after it."""
    async with replica(MemoryLog(), seeds=seeds) as service:
        game, dealt = await started(service), []
        for _ in range(hands):
            dealt.append((await game.hand()).hands)
            await game.play(chance_of("deals"))
            await game.all_ready()
        await check_commitments(game)
        return dealt


async def check_commitments(game: Game) -> None:
    """Check that the seeds published when a hand is over are those committed to before its deals (FAIR-1)."""
    committed: list[str] = []
    for stored in await game.events():
        match decode(stored.type, stored.data):
            case SeedCommitted(commitment=commitment):
                committed.append(commitment)
            case HandFinished(seeds=seeds):
                assert [commitment_to(bytes.fromhex(seed)) for seed in seeds] == committed
                committed.clear()


async def test_the_same_development_seed_deals_the_same_hands() -> None:
    """Hand after hand, at a new table of a new service; another seed deals others, and no two hands are alike."""
    first, again, other = [await deals_of(DevelopmentSeeds(seed), hands=2) for seed in (1, 1, 2)]
    assert first == again
    assert first[0] != first[1]
    assert first[0] != other[0]


async def test_without_it_no_two_tables_are_dealt_alike() -> None:
    """Real tables take their seeds from the operating system."""
    assert await deals_of(RandomSeeds()) != await deals_of(RandomSeeds())
    assert isinstance(seeds_from(None), RandomSeeds)


def test_known_cards_go_with_development_only() -> None:
    """dev_seed without insecure_dev is refused; with it, and for no negative number, it is taken."""
    with pytest.raises(ValidationError, match="insecure_dev"):
        TableSettings.model_validate({"postgres_dsn": DSN, "dev_seed": 1, "insecure_dev": False})
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        TableSettings.model_validate({"postgres_dsn": DSN, "dev_seed": -1, "insecure_dev": True})
    assert TableSettings.model_validate({"postgres_dsn": DSN, "dev_seed": 0, "insecure_dev": True}).dev_seed == 0


async def test_a_service_told_so_does_not_start(tmp_path: Path) -> None:
    """The process ends at once and says why; it does not fall back to anything."""
    environment = {"BAOHUANG_POSTGRES_DSN": DSN, "BAOHUANG_DEV_SEED": "7", "BAOHUANG_INSECURE_DEV": "false"}
    service = ServiceProcess(TABLE, tmp_path, environment)
    with pytest.raises(ServerDied, match="BAOHUANG_INSECURE_DEV"):
        await service.start()
