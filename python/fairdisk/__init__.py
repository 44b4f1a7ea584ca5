"""The lab of Fairdisk: how schedulers share a disk between groups of programs.

>>> import fairdisk
>>> result = fairdisk.run("two-groups", scheduler="fair", seeds=1, duration_s=1)
>>> sorted(set(result.table.column_names) & {"group", "share_percent"})
['group', 'share_percent']

A load, called SPEC, is the id of an experiment of the catalogue, the path of a file, the text of
one, or an :class:`Experiment` or :class:`JobFile` built here. Everything that runs lets go of the
interpreter and ends at Ctrl-C.
"""

from . import devices, schedulers
from ._fairdisk import __version__
from ._run import advise, blame, compare, explain, run, trace
from ._settings import Device, Replay, Scheduler, catalog
from ._spec import Arm, Experiment, Group, JobFile, Row, Task, Volume
from ._sweep import Range, Sweep, SweepResult, sweep
from ._tune import Tuned, tune
from ._result import Result
from .errors import FairdiskError, RunError, SpecError

__all__ = [
    "Arm",
    "Device",
    "Experiment",
    "FairdiskError",
    "Group",
    "JobFile",
    "Range",
    "Replay",
    "Result",
    "Row",
    "RunError",
    "Scheduler",
    "SpecError",
    "Sweep",
    "SweepResult",
    "Task",
    "Tuned",
    "Volume",
    "__version__",
    "advise",
    "blame",
    "catalog",
    "compare",
    "devices",
    "explain",
    "run",
    "schedulers",
    "sweep",
    "trace",
    "tune",
]
