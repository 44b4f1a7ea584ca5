"""Schedulers, devices and changes of single values."""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Union

from . import _fairdisk
from .errors import wrong

Value = Union[bool, int, float, str, Sequence[Union[bool, int, float, str]]]
Changes = Mapping[str, Value]


def as_text(value: object, argument: str) -> str:
    """A value as ``--set KEY=VALUE`` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        return str(value)
    if isinstance(value, Sequence):
        return "[" + ", ".join(as_text(one, argument) for one in value) + "]"
    raise wrong(argument, value, "a number, a text, true or false, or a list of these")


def as_changes(changes: Changes | None, argument: str = "set") -> list[str]:
    """Changes as ``KEY=VALUE`` each."""
    if changes is None:
        return []
    if not isinstance(changes, Mapping):
        raise wrong(argument, changes, 'a mapping of keys to values, as {"host.hz": 1000}')
    for key in changes:
        if not isinstance(key, str):
            raise wrong(argument, key, "keys that are texts")
    return [f"{key}={as_text(value, f'{argument}[{key!r}]')}" for key, value in changes.items()]


@dataclass(frozen=True)
class Scheduler:
    """A scheduler of the catalogue or of a ``.toml`` file, with changes.

    The functions of :mod:`fairdisk.schedulers` make one with the keys that its family has.

    >>> str(Scheduler("fair", {"fair.round_ms": 5}))
    'fair[fair.round_ms=5]'
    """

    name: str
    changes: Changes = field(default_factory=dict)

    def __str__(self) -> str:
        changes = ";".join(as_changes(self.changes, self.name))
        return f"{self.name}[{changes}]" if changes else self.name


@dataclass(frozen=True)
class Device:
    """A device of the catalogue or of a ``.toml`` file, with changes.

    The functions of :mod:`fairdisk.devices` make one with the keys that its kind has.
    """

    name: str
    changes: Changes = field(default_factory=dict)

    def settings(self) -> list[str]:
        """The changes as ``device.KEY=VALUE`` each."""
        return [f"device.{change}" for change in as_changes(self.changes, self.name)]


def identifier(name: str) -> str:
    """A name that Python allows."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in name)
    plain = f"_{plain}" if plain[:1].isdigit() else plain
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def arguments(keys: Sequence[str]) -> dict[str, str]:
    """The name of the argument for each key: its last part, if no other key ends like that."""
    last = Counter(key.rsplit(".", 1)[-1] for key in keys)
    short = {key: key.rsplit(".", 1)[-1] for key in keys}
    return {key: identifier(key if last[short[key]] > 1 else short[key]) for key in keys}


def _given(keys: Sequence[str], values: Mapping[str, Value | None]) -> dict[str, Value]:
    named = {name: key for key, name in arguments(keys).items()}
    return {named[name]: value for name, value in values.items() if value is not None}


def given_scheduler(name: str, values: Mapping[str, Value | None]) -> dict[str, Value]:
    """The values that a caller gave to the function of a scheduler, by their keys."""
    return _given([key for key, _, _ in _fairdisk.tunables(name)], values)


def given_device(name: str, values: Mapping[str, Value | None]) -> dict[str, Value]:
    """The values that a caller gave to the function of a device, by their keys."""
    return _given([key for key, _ in _fairdisk.device_keys(name)], values)


def catalog(kind: Literal["devices", "hosts", "schedulers", "experiments"]) -> dict[str, str]:
    """The files of the catalogue: the text of each, by its id."""
    return dict(_fairdisk.catalog(kind))
