"""Matchmaking: tickets, queues, and the tables that players are seated at."""
