"""The gRPC services that each service of ours reports as serving: from its wiring."""

import matchmaking_service.wiring
import rating_service.wiring
import scoring_service.wiring
import table_service.history.wiring
import table_service.wiring


def services_of(name: str) -> frozenset[str]:
    """Return their full names; bots serve nothing but their health."""
    match name:
        case "table":
            return frozenset(table_service.wiring.SERVICES) - {table_service.history.wiring.SERVICE}
        case "scoring":
            return frozenset(scoring_service.wiring.SERVICES)
        case "rating":
            return frozenset(rating_service.wiring.SERVICES)
        case "matchmaking":
            return frozenset(matchmaking_service.wiring.SERVICES)
        case "history":
            return frozenset((table_service.history.wiring.SERVICE,))
        case "bots":
            return frozenset()
        case other:
            raise AssertionError(f"there is no service {other}")
