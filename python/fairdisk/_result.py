"""Results: a table, JSON, the text that the program prints, and the page of its report."""

from __future__ import annotations

import html
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _fairdisk
from .errors import wrong

if TYPE_CHECKING:
    import altair
    import pandas
    import polars
    import pyarrow


class Tabular:
    """What has a table: a row for each group of each run, of every arm and row.

    Names of columns end in the unit. ``latency_*`` is of reads and writes together, ``flush_*`` of
    ``fsync``. The columns ``…_histogram_to_ms`` and ``…_histogram_count`` are lists: the upper
    ends of buckets, and how many operations each has. ``error`` says why a run has no figures.
    """

    @cached_property
    def table(self) -> _fairdisk.Table:
        """The table; anything that knows the Arrow C data interface reads it without copying."""
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as a stream of the Arrow C data interface."""
        return self.table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.table)

    def __bool__(self) -> bool:
        """A result is one, also where its table is empty."""
        return True

    def to_arrow(self) -> pyarrow.Table:
        """The table of pyarrow, which shares the memory of this one."""
        import pyarrow

        return pyarrow.table(self.table)

    def to_polars(self) -> polars.DataFrame:
        """The table as a data frame of Polars, which shares the memory of this one."""
        import polars

        return polars.DataFrame(self.table)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame of pandas, by way of pyarrow."""
        return self.to_arrow().to_pandas()

    def _axes(self, x: str | None, y: str | None) -> tuple[str, str]:
        """The columns of a chart: those that are named, else what the table is about."""
        names = self.table.column_names
        for of_x, of_y in (("group", "share_percent"), ("group", "got_percent"), ("change", "part")):
            if of_x in names and of_y in names:
                return x or of_x, y or of_y
        raise wrong("x", x, "a result that has a table")

    def chart(self, x: str | None = None, y: str | None = None, **more: Any) -> altair.Chart:
        """A chart of Altair: means of `y` over `x`, side by side for each scheduler.

        Without `x` and `y`, the parts of groups, or those of changes.

        Args:
            more: Further channels, as for ``altair.Chart.encode``.
        """
        import altair

        x, y = self._axes(x, y)
        columns = {x, y, "scheduler", *(name for name in more.values() if isinstance(name, str))}
        frame = self.to_polars().select(sorted(columns & set(self.table.column_names)))
        channels = {"x": x, "y": f"mean({y})", **more}
        if "scheduler" in frame.columns:
            channels = {"xOffset": "scheduler", "color": "scheduler", **channels}
        return altair.Chart(frame).mark_bar().encode(**channels)

    def draw(self, axes: Any = None, *, x: str | None = None, y: str | None = None) -> Any:
        """Bars of Matplotlib: means of `y` over `x`, side by side for each scheduler.

        Without `x` and `y`, the parts of groups, or those of changes.
        """
        x, y = self._axes(x, y)
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots()[1]
        frame = self.to_pandas()
        columns = "scheduler" if "scheduler" in frame else None
        pivot = frame.pivot_table(index=x, columns=columns, values=y, aggfunc="mean")
        pivot.plot.bar(ax=axes, ylabel=y, rot=0)
        return axes


class Result(Tabular):
    """What came of a run, a comparison, advice, blame or a trace."""

    def __init__(self, outcome: _fairdisk.Outcome, command: str) -> None:
        self._outcome = outcome
        self._command = command

    @cached_property
    def table(self) -> _fairdisk.Table:
        """The table.

        Of a run it has a row for each arm, row, seed and group; of a comparison for each device,
        row, arm and group, and for what was refused; of advice for each try and group; of blame for
        each change. Explanations and traces have none: see :attr:`data`.
        """
        return self._outcome.table()

    @cached_property
    def data(self) -> dict[str, Any]:
        """The results as ``--json`` prints them."""
        found: dict[str, Any] = json.loads(self._outcome.json())
        return found

    def page(self) -> str:
        """The page of ``--report``: HTML in one file, with its charts."""
        return self._outcome.page(self._command)

    def plot(self, path: str | Path | None = None) -> Plot:
        """The page of ``--report``, which notebooks show; written to `path`, if one is given."""
        page = self.page()
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return Plot(page)

    def __str__(self) -> str:
        return self._outcome.text()

    def __repr__(self) -> str:
        return f"<fairdisk.Result of {self._command}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


class Plot:
    """A page with charts, which notebooks show in a frame."""

    def __init__(self, page: str) -> None:
        self.page = page

    def _repr_html_(self) -> str:
        style = "width:100%;height:40em;border:0"
        return f'<iframe srcdoc="{html.escape(self.page)}" style="{style}"></iframe>'
