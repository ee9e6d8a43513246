"""Methods for some roles only.

    class TableServicer(...):
        @require(Role.OPERATOR)
        async def CloseTable(self, request, context): ...

The check stands inside the method, so whatever is put around a servicer cannot lose it.
"""

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from functools import wraps
from typing import Any, TypeVar, cast

from baohuang.rpc.auth import Role
from baohuang.rpc.call import current_caller
from baohuang.rpc.errors import PermissionDenied, Reason

Method = TypeVar("Method", bound=Callable[..., Any])


def require(*roles: Role) -> Callable[[Method], Method]:
    """Make a servicer's method, a coroutine or an async generator function, refuse callers of any other role.

    The refusal is PERMISSION_DENIED with the roles as metadata `roles`, before anything of the request is looked at.
    """

    def guard(method: Method) -> Method:
        guarded = _guarded_stream if inspect.isasyncgenfunction(method) else _guarded_call
        return cast("Method", guarded(method, roles))

    return guard


def check_role(*roles: Role) -> None:
    """Raise PermissionDenied unless the call being served is by a caller of one of the roles."""
    if current_caller().role not in roles:
        wanted = ", ".join(roles)
        raise PermissionDenied(Reason.PERMISSION_DENIED, f"this call is for the role {wanted}", {"roles": wanted})


def check_own(player: str | None, what: str) -> None:
    """Raise PermissionDenied unless `what` is of the calling player; operators and services may see everybody's."""
    caller = current_caller()
    if caller.role is Role.PLAYER and caller.player != player:
        wanted = f"{Role.OPERATOR}, {Role.SERVICE}"
        raise PermissionDenied(Reason.PERMISSION_DENIED, f"a player may list {what}", {"roles": wanted})


def _guarded_call(method: Callable[..., Any], roles: tuple[Role, ...]) -> Callable[..., Any]:
    @wraps(method)
    async def call(*arguments: Any, **named: Any) -> Any:
        check_role(*roles)
        return await method(*arguments, **named)

    return call


def _guarded_stream(method: Callable[..., Any], roles: tuple[Role, ...]) -> Callable[..., Any]:
    @wraps(method)
    async def stream(*arguments: Any, **named: Any) -> AsyncIterator[Any]:
        check_role(*roles)
        async with aclosing(method(*arguments, **named)) as responses:
            async for response in responses:
                yield response

    return stream
