"""A run lets others work, and ends at Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import fairdisk
import pytest

LONG = (
    "import fairdisk, signal\n"
    # Who runs the tests may ignore it, and children would, too.
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "told = []\n"
    "def tell(done, of):\n"
    "    told.append(done)\n"
    "    if len(told) == 1:\n"
    "        print('begun', flush=True)\n"
    "try:\n"
    "    fairdisk.run('two-groups', seeds=10000, duration_s=300, progress=tell)\n"
    "except KeyboardInterrupt:\n"
    "    print('interrupted', flush=True)\n"
)


def interrupted(*words: str) -> tuple[str, int]:
    """What Python says that is sent Ctrl-C when it has begun, and how it ends."""
    child = subprocess.Popen([sys.executable, "-c", *words], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    try:
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    return out, child.returncode


def test_ctrl_c_ends_a_run() -> None:
    assert interrupted(LONG) == ("interrupted\n", 0)


SWEPT = (
    "import fairdisk, signal, sys\n"
    "from concurrent.futures import ThreadPoolExecutor\n"
    "from fairdisk._sweep import FsspecStore\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "told = []\n"
    "def tell(done, of):\n"
    "    told.append(done)\n"
    "    if len(told) == 1:\n"
    "        print('begun', flush=True)\n"
    "pool = ThreadPoolExecutor(2) if sys.argv[1] == 'pool' else None\n"
    "try:\n"
    "    fairdisk.sweep('two-groups', {'scheduler': ['fair']}, seeds=2000, duration_s=20,\n"
    "        executor=pool, store=FsspecStore(sys.argv[2]), progress=tell)\n"
    "except KeyboardInterrupt:\n"
    "    print(f'interrupted {told[-1]}', flush=True)\n"
)


@pytest.mark.parametrize("executor", ["pool", "threads"])
def test_ctrl_c_of_a_sweep_keeps_what_was_run(executor: str, tmp_path: Path) -> None:
    out, _ = interrupted(SWEPT, executor, str(tmp_path))
    said, told = out.split()
    kept = sum(1 for _ in tmp_path.rglob("*.json"))
    # Cells are kept before they are told of, and those that were finished meanwhile, too.
    assert said == "interrupted" and 0 < int(told) <= kept < 2000


def test_other_threads_work_meanwhile() -> None:
    class Worked(Exception):
        pass

    begun, worked = threading.Event(), threading.Event()
    told: list[int] = []

    def work() -> None:
        begun.wait()
        worked.set()

    def tell(done: int, of: int) -> None:
        # The run is not over yet, and the other thread has worked since it was told before.
        if worked.is_set():
            raise Worked
        begun.set()
        told.append(done)
        assert len(told) < 1000, "the other thread waits for the run"

    other = threading.Thread(target=work, daemon=True)
    other.start()
    with pytest.raises(Worked):
        fairdisk.run("two-groups", seeds=10000, duration_s=300, progress=tell)
    other.join()


def test_progress_rises_to_all_runs_of_a_phase() -> None:
    told: list[tuple[int, int]] = []

    def tell(done: int, of: int) -> None:
        told.append((done, of))

    fairdisk.run("two-groups", seeds=3, duration_s=200, progress=tell)
    assert told[-1] == (9, 9) and told == sorted(told)
    fairdisk.compare(
        "two-groups", scheduler="fair", want={"database": {"share": 70}}, seeds=1, duration_s=20,
        progress=tell,
    )
    assert all(done <= of for done, of in told), told


def test_what_a_progress_function_raises_ends_the_run() -> None:
    class Enough(Exception):
        pass

    def tell(done: int, of: int) -> None:
        raise Enough

    call: Callable[[], object] = lambda: fairdisk.run(  # noqa: E731
        "two-groups", seeds=10000, duration_s=100, progress=tell
    )
    with pytest.raises(Enough):
        call()
