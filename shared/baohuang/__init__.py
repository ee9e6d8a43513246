"""The Baohuang backend, shared parts: rules, event log, rpc plumbing, client."""
