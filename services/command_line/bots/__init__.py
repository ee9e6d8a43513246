"""Bots: players of their own policy, which reach the tables as any player does, through the client alone.

`python -m command_line.bots.main`, or `baohuang bots`, plays for those that matchmaking fills its matches with.
"""
