"""What happened and what was ruled, straight from the log's database or a replica of it."""
