"""Traces by OpenTelemetry, over OTLP to a collector: on where an endpoint is set, else nothing is done.

`spans` are what code is timed by, `carried` how a trace goes from one process to another, `settings` what the standard
environment variables say, `exporting` sends what was sampled. Traces are told beside the record and never stored in it:
where one is lost, nothing else is.
"""
