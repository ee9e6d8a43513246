"""Which table a call is about, said outside its message, so that a proxy may send it where that table is in memory.

Any replica serves any table: this only spares another one from reading it.
"""

from typing import Final

from baohuang.rpc.credentials import Metadata

TABLE_ID_KEY: Final = "baohuang-table-id"


def affinity(request: object) -> Metadata:
    """Return the metadata that names a request's table; none for one without, or whose id metadata cannot carry."""
    table_id = getattr(request, "table_id", "")
    return ((TABLE_ID_KEY, table_id),) if table_id and table_id.isascii() and table_id.isprintable() else ()
