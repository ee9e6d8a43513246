"""A client made from nothing but server reflection: what any language's client can know, no stubs of this project."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import grpc
from google.protobuf import json_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

Json = dict[str, Any]
SECONDS: Final = 20.0
"""How long a call may take before it is given up."""
_STATUS: Final = "google.rpc.Status"
_DETAILS_KEY: Final = "grpc-status-details-bin"


class Reflected:
    """Calls methods by name, JSON in and JSON out, as grpcurl does."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self._database = ProtoReflectionDescriptorDatabase(channel)
        self._pool = DescriptorPool(self._database)

    def services(self) -> Iterable[str]:
        """Return the full names of the services there are."""
        names: Iterable[str] = self._database.get_services()
        return names

    def methods(self, service: str) -> Iterable[str]:
        """Return the names of a service's methods."""
        return tuple(self._pool.FindServiceByName(service).methods_by_name)

    def call(self, method: str, body: str, headers: Mapping[str, str]) -> Json:
        """Make a unary call; a refused one gives its `google.rpc.Status`."""
        try:
            return next(self._messages(method, body, headers))
        except grpc.RpcError as error:
            return self._status_of(error)

    def stream(self, method: str, body: str, headers: Mapping[str, str]) -> Iterator[Json]:
        """Start a call that streams, and yield its messages."""
        return self._messages(method, body, headers)

    def _messages(self, method: str, body: str, headers: Mapping[str, str]) -> Iterator[Json]:
        service, _, name = method.partition("/")
        described = self._pool.FindServiceByName(service).methods_by_name[name]
        request = json_format.Parse(body, GetMessageClass(described.input_type)(), descriptor_pool=self._pool)
        start: Any = self._channel.unary_stream if described.server_streaming else self._channel.unary_unary
        called = start(
            f"/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=GetMessageClass(described.output_type).FromString,
        )(request, metadata=tuple(headers.items()), timeout=SECONDS)
        for reply in called if described.server_streaming else (called,):
            yield json_format.MessageToDict(reply, descriptor_pool=self._pool)

    def _status_of(self, error: Any) -> Json:
        """Return the rich status of a refused call. Raises KeyError for one that has none."""
        details = dict(error.trailing_metadata() or ())[_DETAILS_KEY]
        status = GetMessageClass(self._pool.FindMessageTypeByName(_STATUS)).FromString(details)
        return json_format.MessageToDict(status, descriptor_pool=self._pool)


@contextmanager
def reflected(address: str) -> Iterator[Reflected]:
    """Give a client of the server there."""
    with grpc.insecure_channel(address) as channel:
        yield Reflected(channel)
