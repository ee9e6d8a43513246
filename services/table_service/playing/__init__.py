"""Play: commands and updates of one or many tables over one stream in both directions.

`session` is one stream. What is read becomes `orders`, carried out by the handler that carries out unary calls, and
tables `watched`; what is to be written, in the form of `answers`, goes through one `outbox`.
"""
