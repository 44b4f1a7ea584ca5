"""The package and the examples are typed, and what is generated is as the catalogue is."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import fairdisk._generate
import pytest

HERE = Path(__file__).parent.parent


def test_mypy_finds_nothing(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path)]
    done = subprocess.run([*words, "fairdisk", "examples"], cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_functions_of_schedulers_and_devices_are_those_of_the_catalogue() -> None:
    for name, text in fairdisk._generate.modules().items():
        update = os.environ.get("UPDATE_PACKAGE")
        if update:
            (Path(update) / "fairdisk" / name).write_text(text, encoding="utf-8")
            continue
        there = (HERE / "fairdisk" / name).read_text(encoding="utf-8")
        assert there == text, f"{name}: run python -m fairdisk._generate"


@pytest.mark.parametrize("example", sorted((HERE / "examples").glob("*.py")), ids=lambda it: it.name)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    words = [sys.executable, str(example)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize("module", ["fairdisk", "fairdisk._settings", "fairdisk._spec"])
def test_examples_of_the_documentation_hold(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert failed == 0 and tried > 0
