"""gRPC plumbing: errors and their wire form, caller identity, server assembly, logging."""
