"""Schedulers, devices and changes of single values."""

from __future__ import annotations

import keyword
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from inspect import Parameter, Signature
from typing import Any, Literal, TypeVar, Union, get_type_hints

from . import _fairdisk
from .errors import SpecError, wrong

Value = Union[bool, int, float, str, Sequence[Union[bool, int, float, str]]]
Changes = Mapping[str, Value]
Function = TypeVar("Function", bound=Callable[..., object])


def plain(value: Any) -> Any:
    """A number or an array of somebody else's, such as those of numpy, as Python's own."""
    if value is None or isinstance(value, (bool, int, float, str)):
        # A subclass, as the float64 of numpy, would print its name.
        return float(value) if isinstance(value, float) else value
    if callable(getattr(value, "tolist", None)):
        return value.tolist()
    for method, number in (("__index__", operator.index), ("__float__", float)):
        if hasattr(type(value), method):
            return number(value)
    return value


def as_text(value: object, argument: str) -> str:
    """A value as ``--set KEY=VALUE`` takes it."""
    value = plain(value)
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


def _changed(name: str, changes: Changes) -> str:
    """A name with changes, as ``NAME[KEY=VALUE;KEY=VALUE]``."""
    said = ";".join(as_changes(changes, name))
    return f"{name}[{said}]" if said else name


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
        return _changed(self.name, self.changes)


@dataclass(frozen=True)
class Device:
    """A device of the catalogue or of a ``.toml`` file, with changes.

    The functions of :mod:`fairdisk.devices` make one with the keys that its kind has.

    >>> str(Device("nvme", {"read_us": 80}))
    'nvme[read_us=80]'
    """

    name: str
    changes: Changes = field(default_factory=dict)

    def __str__(self) -> str:
        return _changed(self.name, self.changes)


@dataclass(frozen=True)
class Replay:
    """How a trace is done again, and which part of it: what options of a trace say.

    >>> half_as_fast = Replay(window_s=(30, 90), rename={"/a": "/b"}, scale={"/b": 4})
    """

    #: When tasks ask again: their recorded think time after those they waited for, at recorded
    #: times, or at once. Without it, as the trace allows.
    pace: Literal["closed-loop", "as-it-came", "as-fast-as-it-can"] | None = None
    #: The part of the trace, in seconds from its start.
    window_s: tuple[float, float] | None = None
    #: Other names of groups; those that get one name are merged.
    rename: Mapping[str, str] = field(default_factory=dict)
    #: Groups that are left out.
    drop: Sequence[str] = ()
    #: How many times the tasks of a group are there.
    scale: Mapping[str, int] = field(default_factory=dict)
    #: The weights of groups, 1 to 10000.
    weight: Mapping[str, int] = field(default_factory=dict)
    #: Floors, ceilings and targets of groups, as ``{"/db": {"max_iops": 500}}``; ``None`` takes a
    #: recorded one away.
    limit: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)

    def checked(self) -> Replay:
        """The same with Python's own types.

        Raises:
            SpecError: A value is of another type, or out of its range.
        """
        if self.pace is not None and not isinstance(self.pace, str):
            raise wrong("pace", self.pace, "closed-loop, as-it-came or as-fast-as-it-can")
        window = plain(self.window_s)
        if window is not None:
            ends = [plain(one) for one in window] if isinstance(window, (tuple, list)) else []
            numbers = [one for one in ends if isinstance(one, (int, float))]
            if len(numbers) != 2 or len(ends) != 2 or not 0 <= numbers[0] < numbers[1]:
                raise wrong("window_s", self.window_s, "two times in seconds, the second one later")
            window = (float(ends[0]), float(ends[1]))
        drop = plain(self.drop)
        is_list = isinstance(drop, Iterable) and not isinstance(drop, str)
        drop = list(drop) if is_list else [None]
        if not all(isinstance(one, str) for one in drop):
            raise wrong("drop", self.drop, "a list of groups")
        limit = {
            group: {_setting(group, key): _limit(key, value) for key, value in it.items()}
            for group, it in _of_groups("limit", self.limit, Mapping).items()
        }
        return Replay(
            self.pace,
            window,
            _of_groups("rename", self.rename, str),
            drop,
            _of_groups("scale", self.scale, int),
            _of_groups("weight", self.weight, int),
            limit,  # type: ignore[arg-type]
        )


def _of_groups(argument: str, values: object, kind: Any) -> dict[str, Any]:
    """What is said of groups, each a value of this type; numbers are from 1 to 10000."""
    if not isinstance(values, Mapping):
        raise wrong(argument, values, "a mapping of groups")
    found = {group: plain(value) for group, value in values.items()}
    words = {str: "a name", int: "a whole number from 1 to 10000", Mapping: "settings and values"}
    for group, value in found.items():
        is_right = isinstance(group, str) and isinstance(value, kind)
        if not is_right or kind is int and (value is True or not 1 <= value <= 10_000):
            raise wrong(f"{argument}[{group!r}]", value, words[kind])
    return found


def _setting(group: str, key: object) -> str:
    if not isinstance(key, str):
        raise wrong(f"limit[{group!r}]", key, "settings by their names, as max_iops")
    return key


def _limit(key: str, value: object) -> str | None:
    """A limit as options take it, a whole number without a point."""
    value = plain(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if value is None else as_text(value, key)


def identifier(name: str) -> str:
    """A name that Python allows."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in name)
    plain = f"_{plain}" if plain[:1].isdigit() else plain
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def with_keys(keys: type) -> Callable[[Function], Function]:
    """Shows `help` and notebooks the arguments that ``**changes: Unpack[keys]`` stands for."""

    def shown(function: Function) -> Function:
        only = Parameter.KEYWORD_ONLY
        names = [Parameter(name, only, default=None) for name in keys.__annotations__]
        function.__signature__ = Signature(names)  # type: ignore[attr-defined]
        return function

    return shown


@cache
def _known(keys: type) -> dict[str, tuple[str, object]]:
    """The key and the type of each argument."""
    hints = get_type_hints(keys, include_extras=True)
    return {name: (hint.__metadata__[0], hint.__origin__) for name, hint in hints.items()}


def given(keys: type, changes: Mapping[str, object]) -> dict[str, Value]:
    """The changes that a caller gave to the function of a scheduler or a device, by their keys."""
    known = _known(keys)
    found: dict[str, Value] = {}
    for name, value in changes.items():
        if name not in known:
            close = get_close_matches(name, known, 1)
            remedy = f"did you mean `{close[0]}`?" if close else f"expected {', '.join(known)}"
            raise SpecError(f"`{name}`: no such key; {remedy}", key=name, remedy=remedy)
        key, kind = known[name]
        value = plain(value)
        if value is not None:
            found[key] = _checked(name, value, kind)
    return found


def _checked(name: str, value: object, kind: object) -> Value:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is bool and not isinstance(value, bool):
        raise wrong(name, value, "True or False")
    if kind in (int, float) and not is_number:
        raise wrong(name, value, "a number")
    if kind is str and not isinstance(value, str):
        raise wrong(name, value, "a text")
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value  # type: ignore[return-value]


def catalog(kind: Literal["devices", "hosts", "schedulers", "experiments"]) -> dict[str, str]:
    """The files of the catalogue: the text of each, by its id."""
    return dict(_fairdisk.catalog(kind))
