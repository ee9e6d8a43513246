"""HistoryService: the record, read; served beside the tables, or alone (`python -m table_service.history.main`).

servicer  →  who may ask (asking)  →  what is sought (api)  →  what he may see of it (sight)  →  messages (api)
pages and streams (listing) · tables as they were (past) · long work in short pieces (working), the
callers in turn (taking_turns)
ReverseRuling is the table service's: done there, or sent there by who serves alone (forwarding)
"""
