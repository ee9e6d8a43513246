"""What there is to know of a service's schema, without what migrates it: a process that serves never needs that."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema of the database: whose it is, and the folder whose `versions` bring it up to date.

    The search path is `name` while they run, so names without a schema in them are this schema's. `readers` are roles
    that they grant something to, for other services to be members of; `reads` are those, of this schema or others, that
    this one's role is a member of.
    """

    name: str
    role: str
    folder: Path
    readers: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()

    @property
    def newest(self) -> str:
        """The last migration that this release knows: "0010" of `v0010_reading.py`."""
        return max(file.name[1:5] for file in self.folder.glob("versions/v[0-9][0-9][0-9][0-9]_*.py"))
