"""Instances of the rules' dataclasses for hypothesis, from their annotations alone: all that the types allow."""

from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

INT32 = st.integers(-(2**31), 2**31 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
"""Every text that UTF-8 can hold: JSON's own characters, controls and all planes included."""


@cache
def instances(cls: Any) -> st.SearchStrategy[Any]:
    """Give instances of a dataclass; ints are int32, lists have up to five entries."""
    hints = get_type_hints(cls)
    return st.builds(cls, **{field.name: values(hints[field.name]) for field in fields(cls)})


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """Give values of one annotation; TypeError for one that these strategies do not cover."""
    if isinstance(annotation, NewType):
        return values(annotation.__supertype__)
    if get_origin(annotation) in {UnionType, Union}:
        return st.one_of(st.none(), *(values(arm) for arm in get_args(annotation) if arm is not NoneType))
    if get_origin(annotation) is tuple:
        return st.lists(values(get_args(annotation)[0]), max_size=5).map(tuple)
    if is_dataclass(annotation) and isinstance(annotation, type):
        return instances(annotation)
    if issubclass(annotation, Enum):
        return st.sampled_from(annotation)
    return _scalars(annotation)


def _scalars(annotation: type) -> st.SearchStrategy[Any]:
    if annotation is bool:
        return st.booleans()
    if annotation is int:
        return st.one_of(st.integers(-1, 5), INT32)
    if annotation is str:
        return TEXT
    raise TypeError(f"no strategy for {annotation}")
