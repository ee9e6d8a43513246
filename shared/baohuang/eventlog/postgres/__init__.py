"""The event log on PostgreSQL."""
