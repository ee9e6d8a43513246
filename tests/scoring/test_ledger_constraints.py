import asyncpg
import pytest

from scoring.following import Ledger
from scoring.hands import a_hand
from scoring.recording import Recorder

ENTRY = "insert into entries (number, line, account, points, balance) values "


@pytest.fixture
async def filled(recorder: Recorder, ledger: Ledger) -> Ledger:
    """Give a ledger with a few postings."""
    await recorder.record(a_hand())
    await recorder.record_some(4)
    await ledger.follow()
    return ledger


async def test_what_is_booked_is_never_changed(filled: Ledger, own_database_dsn: str) -> None:
    """The service's role has no right to, and a trigger refuses it to owners and superusers too."""
    admin = await asyncpg.connect(own_database_dsn)
    for table in ("postings", "entries"):
        for change in ("update {} set number = 99", "delete from {}", "truncate {} cascade"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await filled.pool.execute(change.format(table))
            with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refused:
                await admin.execute(change.format(f"scoring.{table}"))
            assert refused.value.constraint_name == "the_ledger_is_append_only"
    await admin.close()


AGAIN = """
    insert into postings (hash, table_id, type, happened_at, data, number, position, version, hand)
    select hash, table_id, type, happened_at, data, {} from postings where hand is not null order by number limit 1
"""
REFUSED = (
    (ENTRY + "(1, 8, 'player:x', 5, 5), (1, 9, 'house', -4, -4)", "a_posting_sums_to_zero"),
    (ENTRY + "(1, 8, 'player:x', 5, 5)", "a_posting_sums_to_zero"),
    (ENTRY + "(99, 0, 'player:x', 5, 5), (99, 1, 'house', -5, -5)", "an_entry_belongs_to_a_posting"),
    (ENTRY + "(1, 0, 'player:x', 5, 5), (1, 9, 'house', -5, -5)", "a_line_holds_one_entry"),
    (ENTRY + "(1, 8, 'player:x', 5, 5), (1, 9, 'player:x', -5, 0)", "a_posting_touches_an_account_once"),
    (AGAIN.format("number, position + 1, version + 1, hand + 1"), "a_number_holds_one_posting"),
    (AGAIN.format("number + 90, position, version + 100, hand + 100"), "an_event_is_posted_once"),
    (AGAIN.format("number + 90, position + 90, version, hand + 100"), "a_version_is_posted_once"),
    (AGAIN.format("number + 90, position + 90, version + 100, hand"), "a_hand_counts_once"),
    (AGAIN.format("number + 90, position + 90, version + 100, null"), "a_scored_hand_is_named"),
)


async def test_the_database_keeps_the_rules_of_the_ledger(filled: Ledger) -> None:
    """Balance, and once for each event, version and hand, are constraints, each named after the rule it keeps."""
    for statement, constraint in REFUSED:
        with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refused:
            await filled.pool.execute(statement)
        assert refused.value.constraint_name == constraint, statement


async def test_each_entry_tells_the_balance_after_it(filled: Ledger, recorder: Recorder) -> None:
    """An account's statement adds up line by line, over several batches, and ends at the account's balance."""
    await recorder.record_some(10, seed=3)
    await filled.follow()
    rows = await filled.fetch("""
        select account, balance, sum(points) over (partition by account order by number) as summed, number
        from entries order by number
    """)
    assert all(row["balance"] == row["summed"] for row in rows)
    last = {row["account"]: (row["balance"], row["number"]) for row in rows}
    accounts = await filled.fetch("select account, balance, entries, last_number from accounts")
    assert {row["account"]: (row["balance"], row["last_number"]) for row in accounts} == last
    counts = await filled.fetch("select account, count(*) as entries from entries group by account")
    assert {row["account"]: row["entries"] for row in accounts} == {row["account"]: row["entries"] for row in counts}


@pytest.mark.parametrize("schema", ["scoring", "rating"])
async def test_what_is_there_is_explained(database_dsn: str, schema: str) -> None:
    """Every table of both schemas has a comment that says why, and every constraint a name of its own."""
    admin = await asyncpg.connect(database_dsn)
    silent = await admin.fetch(
        """
        select relname from pg_class
        where relnamespace = $1::regnamespace and relkind = 'r' and relname <> 'alembic_version'
            and obj_description(oid, 'pg_class') is null
        """,
        schema,
    )
    unnamed = await admin.fetch(
        """
        select conname from pg_constraint
        where connamespace = $1::regnamespace and contype in ('p', 'u', 'c', 'f')
            and conname ~ '_(pkey|key|check|fkey)[0-9]*$'
        """,
        schema,
    )
    await admin.close()
    assert (silent, unnamed) == ([], [])
