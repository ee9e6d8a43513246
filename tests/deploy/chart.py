"""What the Helm chart `nats` 2.14.2 makes of values: nats-server's configuration, and the files that its pods have.

As its templates have it (files/config, files/stateful-set, _helpers.tpl), as far as our values go; held by hand against
what Helm renders of that chart with them, since neither comes with Python. Helm passes over a value that the chart has
no place for; here that is an error, as is one whose meaning is not written down below.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

Values = Mapping[str, Any]

CONFIGURATION: Final = PurePosixPath("/etc/nats-config/nats.conf")
"""Where the configuration is in its pods."""
_NAME: Final = "nats"
"""Of the release, and so of all that the chart makes."""


def _free() -> Values:
    """Return what is laid over what the chart makes, whatever it is; nothing by itself."""
    return {"merge": {}, "patch": []}


def _tls(protocol: str) -> Values:
    folder = f"/etc/nats-certs/{protocol}"
    return {"enabled": False, "secretName": None, "dir": folder, "cert": "tls.crt", "key": "tls.key", **_free()}


_VALUES: Final[Values] = {
    "tlsCA": {"enabled": False, "configMapName": None, "secretName": None, "dir": "/etc/nats-ca-cert", "key": "ca.crt"},
    "config": {
        "nats": {"port": 4222, "tls": _tls("nats")},
        "cluster": {
            "enabled": False,
            "port": 6222,
            "replicas": 3,
            "noAdvertise": True,
            "tls": _tls("cluster"),
            **_free(),
        },
        "jetstream": {
            "enabled": False,
            "fileStore": {"enabled": True, "dir": "/data", "pvc": {"enabled": True, "size": "10Gi"}},
            **_free(),
        },
        "monitor": {"enabled": True, "port": 8222, "tls": {"enabled": False}},
        **_free(),
    },
    "container": {"image": {"tag": "2.14.2-alpine"}, "env": {}, **_free()},
    "reloader": {"enabled": True, "natsVolumeMountPrefixes": ["/etc/"], **_free()},
    "natsBox": {"enabled": True},
    "podTemplate": {"topologySpreadConstraints": {}, **_free()},
    "podDisruptionBudget": {"enabled": True},
}
"""The chart's own, those whose meaning is written down here; an empty map takes any."""


class UnknownValueError(AssertionError):
    """The chart, or what is written down of it, has no place for a value."""


@dataclass(frozen=True, slots=True)
class Source:
    """What files come from: a Secret, a ConfigMap, or "" where they are the pod's own."""

    kind: str
    name: str


def valued(*files: Values) -> Values:
    """Return the chart's values with those of files over them, the last first. Raises UnknownValueError."""
    whole: dict[str, Any] = deepcopy(dict(_VALUES))
    for file in files:
        _lay(whole, file, _VALUES, "")
    return whole


def _lay(under: dict[str, Any], over: Values, known: Values, place: str) -> None:
    for name, value in over.items():
        here = f"{place}.{name}".removeprefix(".")
        if known and name not in known:
            raise UnknownValueError(f"no place for {here}")
        below = known.get(name)
        if isinstance(value, Mapping):
            if known and not isinstance(below, Mapping):
                raise UnknownValueError(f"{here} is no map")
            inner = under.setdefault(name, {})
            _lay(inner, value, below or {}, here)
        else:
            under[name] = value


def configuration(values: Values) -> Values:
    """Return the configuration of each node (files/config/config.yaml)."""
    config = values["config"]
    made: dict[str, Any] = {
        "server_name": "<< $SERVER_NAME >>",
        "lame_duck_grace_period": "10s",
        "lame_duck_duration": "30s",
        "pid_file": "/var/run/nats/nats.pid",
        "port": config["nats"]["port"],
        **_secured(values, config["nats"]),
    }
    if config["cluster"]["enabled"]:
        made["cluster"] = _cluster(values, config["cluster"])
    if config["monitor"]["enabled"]:
        made["https_port" if config["monitor"]["tls"]["enabled"] else "http_port"] = config["monitor"]["port"]
    if config["jetstream"]["enabled"]:
        made["jetstream"] = _jetstream(config["jetstream"])
    return _merged(made, config)


def _secured(values: Values, protocol: Values) -> Values:
    tls, authority = protocol["tls"], values["tlsCA"]
    if not tls["enabled"]:
        return {}
    made: dict[str, Any] = {}
    if tls["secretName"]:
        made |= {f"{part}_file": f"{tls['dir']}/{tls[part]}" for part in ("cert", "key")}
    if authority["enabled"] and (authority["configMapName"] or authority["secretName"]):
        made["ca_file"] = f"{authority['dir']}/{authority['key']}"
    return {"tls": _merged(made, tls)}


def _cluster(values: Values, cluster: Values) -> Values:
    scheme = "tls" if cluster["tls"]["enabled"] else "nats"
    nodes = (f"{_NAME}-{number}.{_NAME}-headless" for number in range(cluster["replicas"]))
    made = {
        "name": _NAME,
        "port": cluster["port"],
        "no_advertise": cluster["noAdvertise"],
        "routes": [f"{scheme}://{node}:{cluster['port']}" for node in nodes],
    }
    return _merged({**made, **_secured(values, cluster)}, cluster)


def _jetstream(jetstream: Values) -> Values:
    store = jetstream["fileStore"]
    if not (store["enabled"] and store["pvc"]["enabled"]):
        raise UnknownValueError("a store of files that is no volume")
    size = f"<< {store['pvc']['size']} >>"
    return _merged({"max_memory_store": 0, "store_dir": store["dir"], "max_file_store": size}, jetstream)


def _merged(made: Values, values: Values) -> Values:
    if values["patch"]:
        raise UnknownValueError("a patch of the configuration")
    whole: dict[str, Any] = deepcopy(dict(made))
    _lay(whole, values["merge"], {}, "")
    return whole


def text(made: Values) -> str:
    """Return the configuration as it is written: includes and `<< … >>` without quotes (nats.formatConfig)."""
    whole = json.dumps(made, indent=2, sort_keys=True, ensure_ascii=False)
    including = re.sub(r'".*\$include": "(.*)",?', r"include \1;", whole)
    return re.sub(r'"<<\s+(.*?)\s+>>"', r"\1", including)


def mounts(values: Values) -> Mapping[PurePosixPath, Source]:
    """Return what each folder of a node's container is from (files/stateful-set)."""
    added = {one["name"]: _source(one) for one in _added(values["podTemplate"], "/spec/volumes/-")}
    found = {
        CONFIGURATION.parent: Source("ConfigMap", f"{_NAME}-config"),
        PurePosixPath("/var/run/nats"): Source("", "pid"),
    }
    if values["config"]["jetstream"]["enabled"]:
        found[PurePosixPath(values["config"]["jetstream"]["fileStore"]["dir"])] = Source("", f"{_NAME}-js")
    authority = values["tlsCA"]
    if authority["enabled"] and authority["configMapName"]:
        found[PurePosixPath(authority["dir"])] = Source("ConfigMap", authority["configMapName"])
    elif authority["enabled"] and authority["secretName"]:
        found[PurePosixPath(authority["dir"])] = Source("Secret", authority["secretName"])
    for tls in _certificates(values["config"]):
        found[PurePosixPath(tls["dir"])] = Source("Secret", tls["secretName"])
    for one in _added(values["container"], "/volumeMounts/-"):
        found[PurePosixPath(one["mountPath"])] = added[one["name"]]
    return found


def _certificates(config: Values) -> Iterator[Values]:
    for name in ("nats", "cluster"):
        tls = config[name]["tls"]
        if config[name].get("enabled", True) and tls["enabled"] and tls["secretName"]:
            yield tls


def _added(values: Values, path: str) -> Sequence[Any]:
    """Return what a patch adds, which may be nothing but that."""
    for one in values["patch"]:
        if (one["op"], one["path"]) != ("add", path):
            raise UnknownValueError(f"{one['op']} {one['path']}")
    return [one["value"] for one in values["patch"]]


def _source(volume: Values) -> Source:
    match volume:
        case {"configMap": {"name": str(name)}}:
            return Source("ConfigMap", name)
        case {"secret": {"secretName": str(name)}}:
            return Source("Secret", name)
        case other:
            raise UnknownValueError(f"a volume that is {other}")


def watched(values: Values) -> Sequence[str]:
    """Return the files that the reloader has nats-server read again when they change (nats.reloaderConfig).

    Those that it sees: it has the node's folders with the prefixes that the values say.
    """
    reloader = values["reloader"]
    if not reloader["enabled"]:
        return ()
    seen = [one for one in mounts(values) if str(one).startswith(tuple(reloader["natsVolumeMountPrefixes"]))]
    files = (str(CONFIGURATION), *_named(configuration(values)))
    return [file for file in files if any(folder in PurePosixPath(file).parents for folder in seen)]


def _named(made: Values) -> Iterator[str]:
    """Yield the files that a configuration names."""
    for name, value in sorted(made.items()):
        if isinstance(value, Mapping):
            yield from _named(value)
        elif name in {"cert_file", "key_file", "ca_file"}:
            yield value
        elif name.endswith("$include"):
            yield _cleaned(CONFIGURATION.parent, value)


def _cleaned(folder: PurePosixPath, relative: str) -> str:
    for part in PurePosixPath(relative).parts:
        folder = folder.parent if part == ".." else folder / part
    return str(folder)
