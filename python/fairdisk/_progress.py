"""Progress, where somebody looks on."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Union

Tell = Callable[[int, int], object]


@contextmanager
def progress_of(progress: Union[bool, None, Tell], unit: str) -> Iterator[Tell | None]:
    """A function that is told how many of how many are done; ``None`` where nobody looks on."""
    if callable(progress):
        yield progress
        return
    bar = None if progress is False or not (progress or _is_watched()) else _bar(unit)
    if bar is None:
        yield None
        return

    def tell(done: int, of: int) -> None:
        bar.total = of
        bar.update(done - bar.n)

    try:
        yield tell
    finally:
        bar.close()


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _bar(unit: str):  # type: ignore[no-untyped-def]
    try:
        from tqdm import tqdm
        from tqdm.notebook import tqdm_notebook
    except ImportError:
        return None
    # The bar of notebooks needs widgets, and says so where there are none.
    has_widgets = "ipykernel" in sys.modules and importlib.util.find_spec("ipywidgets") is not None
    bar = tqdm_notebook if has_widgets else tqdm
    # What is done at once needs no bar.
    return bar(unit=f" {unit}", leave=False, delay=0.5)
