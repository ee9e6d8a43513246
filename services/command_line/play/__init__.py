"""`baohuang play`: a person in the terminal against four bots."""
