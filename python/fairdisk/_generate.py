"""Writes `schedulers.py` and `devices.py` from the catalogue: ``python -m fairdisk._generate``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from . import _fairdisk
from ._settings import arguments, identifier


def modules() -> dict[str, str]:
    """The text of each module, by its name."""
    return {"schedulers.py": schedulers(), "devices.py": devices()}


def schedulers() -> str:
    """A function for each scheduler of the catalogue."""
    parts = [_HEAD.format(what="Schedulers", of="scheduler", kind="Scheduler")]
    for name, text in _fairdisk.catalog("schedulers"):
        keys = [
            (key, value, allowed if len(allowed) < 80 else f"{allowed[:77]}...")
            for key, value, allowed in _fairdisk.tunables(name)
        ]
        parts.append(function(name, text, keys, "Scheduler"))
    return "\n\n".join(parts)


def devices() -> str:
    """A function for each device of the catalogue."""
    parts = [_HEAD.format(what="Devices", of="device", kind="Device")]
    for name, text in _fairdisk.catalog("devices"):
        keys = [(key, value, "") for key, value in _fairdisk.device_keys(name)]
        parts.append(function(name, text, keys, "Device"))
    return "\n\n".join(parts)


_HEAD = '''"""{what} of the catalogue, each with the keys that it has.

Written by `python -m fairdisk._generate`. A key that is left out keeps the value of the catalogue.
"""

from __future__ import annotations

from ._settings import {kind}, Value, given_{of} as given
'''


def function(name: str, text: str, keys: list[tuple[str, str, str]], kind: str) -> str:
    """The function that makes a scheduler or a device with some keys."""
    said = re.search(r'^title = "(.*)"$', text, re.MULTILINE)
    title = said.group(1).rstrip(".") if said else name
    names = arguments([key for key, _, _ in keys])
    lines = [f"def {identifier(name)}("]
    lines += ["    *,"] if keys else []
    lines += [f"    {names[key]}: {type_of(value)} | None = None," for key, value, _ in keys]
    lines += [f") -> {kind}:", f'    """{title}.']
    if keys:
        lines += ["", "    Args:"]
    for key, value, allowed in keys:
        lines.append(f"        {names[key]}: `{key}`, {value}" + (f"; {allowed}" if allowed else "") + ".")
    lines.append('    """')
    if not keys:
        lines.append(f'    return {kind}("{name}")')
        return "\n".join(lines) + "\n"
    lines.append(f'    return {kind}("{name}", given("{name}", locals()))')
    return "\n".join(lines) + "\n"


def type_of(value: str) -> str:
    """The type of a value as the catalogue writes it."""
    if value in ("true", "false"):
        return "bool"
    if value.startswith("["):
        return "Value"
    try:
        int(value)
        return "int"
    except ValueError:
        pass
    try:
        float(value)
        return "float"
    except ValueError:
        return "str"


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for file, written in modules().items():
        (folder / file).write_text(written, encoding="utf-8")
