"""`baohuang demo`: five bots play one hand over real gRPC, and all that can be checked about it is checked."""
