import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from baohuang.embedded.account import Account, passable_folder
from baohuang.embedded.errors import UnsafeFolder
from baohuang.embedded.home import outside_folder, server_home

STRANGER = Account(uid=os.geteuid() + 4242, gid=os.getegid() + 4242)
OURSELVES = Account(os.geteuid(), os.getegid())


@pytest.fixture
def data(folder: Path) -> Iterator[Path]:
    """Give a data folder in a folder of mode 0700; what stands in for it elsewhere is removed."""
    made = folder / "closed" / "data"
    made.mkdir(parents=True)
    made.parent.chmod(0o700)
    yield made
    shutil.rmtree(outside_folder(made))


def test_within_reach_it_is_below_the_data_folder(data: Path) -> None:
    """No detour where none is needed."""
    assert server_home(data, "x", OURSELVES) == data.resolve() / "x"


def test_out_of_reach_it_is_elsewhere_and_linked(data: Path) -> None:
    """The same place at every start, reachable, ours, closed to listing, and to be found from the data folder."""
    home = server_home(data, "x", STRANGER)
    assert home == server_home(data, "x", STRANGER) == (data / "x").resolve()
    assert STRANGER.can_reach(home / "file")
    assert {stat.S_IMODE(made.stat().st_mode) for made in (home, home.parent)} == {0o711}
    assert stat.S_IMODE(data.parent.stat().st_mode) == 0o700


def test_a_moved_data_folder_keeps_its_files(data: Path, folder: Path) -> None:
    """The link goes where it went, although the path the place was named after is another; opened parents or not."""
    home = server_home(data, "x", STRANGER)
    moved = data.rename(data.with_name("moved"))
    assert server_home(moved, "x", STRANGER) == home
    data.parent.chmod(0o755)
    assert server_home(moved, "x", STRANGER) == home


def test_a_link_to_nothing_is_made_anew(data: Path) -> None:
    """Somebody cleaned up where the files were: they are made again, not stumbled over."""
    shutil.rmtree(server_home(data, "x", STRANGER))
    assert server_home(data, "x", STRANGER).is_dir()


def test_files_that_got_out_of_reach_are_not_passed_over(data: Path) -> None:
    """A server whose folder's parents were closed says so; it does not start on an empty folder elsewhere."""
    data.parent.chmod(0o755)
    server_home(data, "x", STRANGER)
    data.parent.chmod(0o700)
    with pytest.raises(UnsafeFolder, match="any more"):
        server_home(data, "x", STRANGER)


@pytest.mark.parametrize("mode", [0o777, 0o722, 0o720])
def test_a_folder_others_may_write_to_is_refused(folder: Path, mode: int) -> None:
    """What another could have put there is not trusted."""
    (folder / "x").mkdir()
    (folder / "x").chmod(mode)
    with pytest.raises(UnsafeFolder):
        passable_folder(folder / "x")


def test_a_link_in_place_of_a_folder_is_refused(folder: Path) -> None:
    """A link planted where we would make a folder does not lead us elsewhere."""
    (folder / "elsewhere").mkdir()
    (folder / "x").symlink_to(folder / "elsewhere")
    with pytest.raises(UnsafeFolder):
        passable_folder(folder / "x")
