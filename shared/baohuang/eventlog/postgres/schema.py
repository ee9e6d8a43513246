"""The schema `eventlog`."""

from pathlib import Path
from typing import Final

from baohuang.database.schema import Schema

READERS: Final = "baohuang_log_reader"
"""Who may read the log's public view; a service that does has its own role be a member of this one."""
OPERATORS: Final = "baohuang_reader"
"""Who may read the views of the schema `history`: people, with logins of their own that are members of this role."""
HISTORY: Final = "baohuang_history"
"""Who may read all of the log, what is hidden included, and change nothing: to look back, and to verify."""
SCHEMA: Final = Schema(
    "eventlog",
    "baohuang_app",
    Path(__file__).with_name("migrations"),
    readers=(READERS, OPERATORS, HISTORY),
    reads=(HISTORY,),
)
