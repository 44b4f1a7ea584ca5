"""Search for values that keep wishes, by Optuna."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from . import _fairdisk
from ._progress import progress_of
from ._result import Result
from ._run import DeviceLike, Progress, SchedulerLike, Spec, request, run, whole
from ._settings import Changes, Device, Scheduler, Value, plain
from ._sweep import Range
from .errors import SpecError, wrong

if TYPE_CHECKING:
    import optuna

#: What is looked for in a run: a number of it, lower is better.
Objective = Callable[[Result], float]
#: The wish for a column of tables: ``">="`` or ``"<="``, and a number.
Wish = tuple[str, float]


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Attributes:
        values: The best values, by key.
        off: How far the best is from the wishes, 0 if it keeps them; or the objective's number.
        result: The runs of the best.
        study: The study of Optuna, with every trial.
    """

    values: dict[str, Value]
    off: float
    result: Result
    study: optuna.Study


def tune(
    spec: Spec,
    wishes: Mapping[str, Mapping[str, Wish]] | Objective,
    space: Mapping[str, Union[Range, list[Value], tuple[Value, ...]]],
    *,
    trials: int = 50,
    seed: int = 0,
    scheduler: SchedulerLike | None = None,
    device: DeviceLike | None = None,
    arm: str | None = None,
    row: str | None = None,
    seeds: int | None = 1,
    duration_s: float | None = None,
    set: Changes | None = None,
    sampler: optuna.samplers.BaseSampler | None = None,
    progress: Progress = None,
) -> Tuned:
    """Looks for values that keep what groups wish, or for the least of an objective.

    Args:
        wishes: What each group is to have: columns of the table, each with ``">="`` or ``"<="``
            and a number, as ``{"database": {"share_percent": (">=", 70)}}``; or a function of a
            :class:`Result` whose number is to be low.
        space: The values of each key, as a list or a :class:`Range`: ``scheduler``, ``device``, or
            any key of `set`.
        trials: So many are tried, at most; a search for wishes ends when all are kept.
        scheduler: The one that is tuned, if it is not in the `space`; a load with one arm needs
            none, and a load with several rows needs a `row`.
        seed: What the sampler of Optuna is drawn from, if none is given.
        progress: As that of :func:`run`, of trials in place of runs.

    Raises:
        SpecError: Optuna is missing, or an argument is wrong.
    """
    try:
        import optuna
    except ImportError as error:
        remedy = "install it with `pip install fairdisk[tune]`"
        raise SpecError(f"optuna is missing; {remedy}", remedy=remedy) from error
    if not isinstance(space, Mapping) or not space:
        raise wrong("space", space, "values by keys, of one key or more")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    count = whole("trials", trials, 1)
    if count is None:
        raise wrong("trials", trials, "how many")
    order = whole("seed", seed)
    objective = wishes if callable(wishes) else _distance(wishes)

    def chosen(values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a run with these values."""
        places = {"scheduler": scheduler, "device": device}
        changes = {key: value for key, value in values.items() if key not in places}
        return {
            **{key: values.get(key, other) for key, other in places.items()},
            **{"arm": arm, "row": row, "seeds": seeds, "duration_s": duration_s},
            "set": {**(set or {}), **changes},
        }

    def run_with(values: Mapping[str, Any]) -> Result:
        return run(spec, **chosen(values), progress=False)

    asked = request(spec, **chosen({key: _first(key, one) for key, one in space.items()}))
    for argument, names in zip(("scheduler", "row"), _fairdisk.cells(asked)):
        if len(names) > 1:
            raise wrong(argument, None, f"one of {', '.join(names)}: the load runs all of them")

    def tried(trial: optuna.Trial) -> float:
        values = {key: _suggested(trial, key, one) for key, one in space.items()}
        return float(objective(run_with(values)))

    study = optuna.create_study(sampler=sampler or optuna.samplers.TPESampler(seed=order))
    with progress_of(progress, "trials") as tell:

        def enough(study: optuna.Study, trial: Any) -> None:
            if tell is not None:
                tell(trial.number + 1, count)
            if not callable(wishes) and study.best_value <= 0.0:
                study.stop()

        study.optimize(tried, n_trials=count, callbacks=[enough])
    values = dict(study.best_params)
    return Tuned(values, study.best_value, run_with(values), study)


def _first(key: str, space: object) -> Any:
    """A value of a key: the least of a range, the first of a list."""
    if isinstance(space, Range):
        return int(space.start) if space.whole else float(space.start)
    values = plain(space)
    if isinstance(values, (list, tuple)) and values:
        return _simple(values[0])
    raise wrong(f"space[{key!r}]", space, "a list of values or a Range")


def _simple(value: Any) -> Any:
    """A value as Optuna keeps it."""
    return str(value) if isinstance(value, (Scheduler, Device)) else plain(value)


def _suggested(trial: Any, key: str, space: Any) -> Any:
    if isinstance(space, Range):
        if space.whole:
            return trial.suggest_int(key, int(space.start), int(space.stop), log=space.log)
        return trial.suggest_float(key, space.start, space.stop, log=space.log)
    return trial.suggest_categorical(key, [_simple(value) for value in plain(space)])


def _distance(wishes: Mapping[str, Mapping[str, Wish]]) -> Objective:
    """How far a result is from wishes: the sum of relative distances, 0 if all are kept."""
    if not isinstance(wishes, Mapping) or not wishes:
        raise wrong("wishes", wishes, 'wishes as {"database": {"share_percent": (">=", 70)}}')
    for group, columns in wishes.items():
        if not isinstance(columns, Mapping):
            raise wrong(f"wishes[{group!r}]", columns, 'columns, as {"share_percent": (">=", 70)}')
        for column, wish in columns.items():
            ends = wish if isinstance(wish, (tuple, list)) and len(wish) == 2 else ("", None)
            if ends[0] not in (">=", "<=") or not isinstance(plain(ends[1]), (int, float)):
                raise wrong(f"wishes[{group!r}][{column!r}]", wish, '">=" or "<=", and a number')

    def distance(result: Result) -> float:
        frame = result.to_polars()
        off = 0.0
        for group, columns in wishes.items():
            rows = frame.filter(frame["group"] == group)
            if rows.is_empty():
                known = sorted(str(one) for one in frame["group"].drop_nulls().unique())
                raise wrong("wishes", group, f"a group among {', '.join(known)}")
            for column, (sign, bound) in columns.items():
                if column not in rows.columns:
                    raise wrong("wishes", column, "a column of the table, as share_percent")
                mean = rows[column].mean()
                if mean is None:
                    off += 1.0
                    continue
                missing = bound - float(mean) if sign == ">=" else float(mean) - bound
                off += max(0.0, missing) / (abs(bound) or 1.0)
        return off

    return distance
