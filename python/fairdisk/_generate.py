"""Writes `schedulers.py` and `devices.py` from the catalogue: ``python -m fairdisk._generate``."""

from __future__ import annotations

import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import _fairdisk
from ._settings import identifier

#: A key with its value and what is allowed.
Keys = list[tuple[str, str, str]]


@dataclass(frozen=True)
class Entry:
    """A scheduler or a device of the catalogue."""

    name: str
    title: str
    #: Its family or kind, which has keys in common.
    family: str
    keys: Keys


def modules() -> dict[str, str]:
    """The text of each module, by its name."""
    schedulers = entries("schedulers", "family", _fairdisk.tunables)
    devices = entries(
        "devices", "kind", lambda name: [(*one, "") for one in _fairdisk.device_keys(name)]
    )
    return {
        "schedulers.py": module("Scheduler", schedulers),
        "devices.py": module("Device", devices),
    }


def entries(of: str, family: str, keys_of: Callable[[str], Keys]) -> list[Entry]:
    """What the catalogue has of a sort."""
    texts = dict(_fairdisk.catalog(of))

    def said(key: str, name: str) -> str:
        found = re.search(rf'^{key} = "(.*)"$', texts[name], re.MULTILINE)
        return found.group(1) if found else said(key, said("inherits", name))

    return [
        Entry(name, said("title", name).rstrip("."), said(family, name), keys_of(name))
        for name in texts
    ]


def module(kind: str, entries: list[Entry]) -> str:
    """A class of keys for each family, and a function for each of its members."""
    parts = [_HEAD.format(kind=kind)]
    families: dict[str, list[Entry]] = {}
    for entry in entries:
        families.setdefault(entry.family, []).append(entry)
    for family, members in families.items():
        usual = usual_of(members)
        if usual:
            parts.append(class_of(family, usual))
        parts += [function(entry, kind, usual) for entry in members]
    return "\n\n".join(parts)


_HEAD = '''"""{kind}s of the catalogue, each with the keys that its family has.

Written by `python -m fairdisk._generate`. A key that is left out keeps the value of the catalogue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from ._settings import {kind}, Value, given, with_keys

if TYPE_CHECKING:
    from typing_extensions import Unpack
'''


def usual_of(members: list[Entry]) -> Keys:
    """The keys of a family, each with the value that most of its members have."""
    values: dict[str, list[str]] = {}
    allowed: dict[str, str] = {}
    for key, value, these in (one for member in members for one in member.keys):
        values.setdefault(key, []).append(value)
        allowed[key] = these
    return [
        (key, Counter(found).most_common(1)[0][0], allowed[key]) for key, found in values.items()
    ]


def argument(key: str, family: str) -> str:
    """The argument for a key: its path, without the section that has the name of the family."""
    section, dot, rest = key.partition(".")
    return identifier(rest if dot and identifier(family).endswith(section) else key)


def keys_name(family: str) -> str:
    """The name of the class with the keys of a family."""
    return "".join(part.capitalize() for part in re.split(r"\W", family)) + "Keys"


def class_of(family: str, usual: Keys) -> str:
    """The keys of a family, with their types, values and what is allowed."""
    lines = [f"class {keys_name(family)}(TypedDict, total=False):"]
    lines.append(f'    """The keys of the family `{family}`, with the values of most of it."""')
    for key, value, allowed in usual:
        said = f"{value}; {allowed}" if allowed else value
        said = textwrap.shorten(said, 88, placeholder="…")
        lines.append(f'    {argument(key, family)}: Annotated[{type_of(value)}, "{key}"]')
        lines.append(f'    """{said}."""')
    return "\n".join(lines) + "\n"


def function(entry: Entry, kind: str, usual: Keys) -> str:
    """The function that makes a scheduler or a device with some keys."""
    name, keys = identifier(entry.name), keys_name(entry.family)
    if not usual:
        lines = [f"def {name}() -> {kind}:", f'    """{entry.title}."""']
        return "\n".join([*lines, f'    return {kind}("{entry.name}")']) + "\n"
    lines = [f"@with_keys({keys})", f"def {name}(**changes: Unpack[{keys}]) -> {kind}:"]
    common = {key: value for key, value, _ in usual}
    own = [
        f"{argument(key, entry.family)}={value}"
        for key, value, _ in entry.keys
        if value != common[key]
    ]
    if own:
        told = f"Unlike most of its family: {', '.join(own)}."
        lines += [f'    """{entry.title}.', "", *_wrapped(told), '    """']
    else:
        lines.append(f'    """{entry.title}."""')
    return "\n".join([*lines, f'    return {kind}("{entry.name}", given({keys}, changes))']) + "\n"


def _wrapped(text: str) -> list[str]:
    indent = "    "
    return textwrap.wrap(
        text, 96, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def type_of(value: str) -> str:
    """The type of a value as the catalogue writes it."""
    if value in ("true", "false"):
        return "bool"
    if value.startswith("["):
        return "Value"
    for kind in (int, float):
        try:
            kind(value)
            return kind.__name__
        except ValueError:
            pass
    return "str"


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for file, written in modules().items():
        (folder / file).write_text(written, encoding="utf-8")
