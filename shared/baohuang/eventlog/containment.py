"""JSON containment as PostgreSQL's `jsonb @>` has it, for the twin that has no PostgreSQL."""

import msgspec

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def contains(document: bytes, part: bytes) -> bool:
    """Tell whether `document @> part`, both JSON.

    Objects contain objects whose every member they contain; arrays contain arrays whose every element some element of
    theirs contains, whatever the order and number; scalars contain their equals; and at the top alone an array
    contains a scalar that is one of its elements.
    """
    left, right = msgspec.json.decode(document), msgspec.json.decode(part)
    if isinstance(left, list) and not isinstance(right, list | dict):
        return any(_same_scalar(element, right) for element in left)
    return _contains(left, right)


def _contains(left: Json, right: Json) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return all(key in left and _contains(left[key], value) for key, value in right.items())
    if isinstance(left, list) and isinstance(right, list):
        return all(any(_contains(mine, theirs) for mine in left) for theirs in right)
    return _same_scalar(left, right)


def _same_scalar(left: Json, right: Json) -> bool:
    # In Python True == 1, in JSON it is not.
    return isinstance(left, bool) == isinstance(right, bool) and left == right and not isinstance(left, list | dict)
