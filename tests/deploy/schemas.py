"""What Kubernetes, and the operators whose kinds we use, take for an object."""

import json
from functools import cache
from typing import Any, Final

import jsonschema
import kubernetes_validate

from deploy.tree import KUBERNETES, Document

VERSION: Final = "1.37"
"""Of Kubernetes, the newest that kubernetes-validate knows; nothing here is younger than 1.34."""


class NotAnObjectError(AssertionError):
    """Kubernetes, or the operator whose kind it is, would not take it."""


def check(one: Document) -> None:
    """See that an object is what its kind says, no field too many. Raises NotAnObjectError, of unknown kinds too."""
    _check(json.dumps(one, sort_keys=True))


@cache
def _check(text: str) -> None:
    one = json.loads(text)
    name = f"{one['kind']} {one['metadata']['name']}"
    schema = _of_custom(one["apiVersion"], one["kind"])
    try:
        if schema is not None:
            jsonschema.validate(one, schema)
        else:
            kubernetes_validate.validate(one, VERSION, strict=True)
    except (jsonschema.ValidationError, kubernetes_validate.ValidationError) as error:
        raise NotAnObjectError(f"{name}: {error.message}") from error
    except kubernetes_validate.SchemaNotFoundError as error:
        raise NotAnObjectError(f"{name}: nothing is known of {one['apiVersion']}") from error


def _of_custom(version: str, kind: str) -> Any:
    """Return the schema that is kept of a custom resource, None for the kinds of Kubernetes itself."""
    group, _, number = version.rpartition("/")
    kept = KUBERNETES / "schemas" / group / f"{kind.lower()}_{number}.json"
    return json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else None
