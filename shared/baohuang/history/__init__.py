"""Reading the log's history back: by table, player, type, ruling, clause, time and position, from indexes.

    sought.py      what is asked for
    composing.py   which ways lead to it, and the query that takes them
    reader.py      the answers

PostgreSQL only, and read only: a replica of the database will do. Nothing here decides who may see what.
"""
