"""Bots: players of their own policy, which reach the tables as any player does, through the client alone."""
