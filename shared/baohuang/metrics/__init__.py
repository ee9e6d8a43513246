"""Numbers for Prometheus: counted as plain ints where things happen, gathered when somebody asks for them."""
