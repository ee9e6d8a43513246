"""The baseline of an idle service: `python -m tests.bench.bare_imports` imports gRPC and the clients of both stores."""

import sys

import asyncpg
import grpc.aio
import nats


def main() -> None:
    """Say "ready" and what was imported, and wait to be ended."""
    print("ready", grpc.aio.__name__, asyncpg.__name__, nats.__name__, flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main()
