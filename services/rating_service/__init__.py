"""The rating service: skill, levels and leaderboards, which follow the ledger."""
