"""`baohuang export` and `baohuang replay`: one finished hand as a document, and step by step in the terminal."""
