"""A run lets others work, and ends at Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import fairdisk
import pytest

LONG = (
    "import fairdisk, signal\n"
    # Who runs the tests may ignore it, and children would, too.
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "try:\n"
    "    print('begun', flush=True)\n"
    "    fairdisk.run('two-groups', seeds=10000, duration_s=3000)\n"
    "except KeyboardInterrupt:\n"
    "    print('interrupted', flush=True)\n"
)


def test_ctrl_c_ends_a_run() -> None:
    child = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    try:
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    finally:
        child.kill()
    assert (out, child.returncode) == ("interrupted\n", 0)


def test_other_threads_work_meanwhile() -> None:
    worked = threading.Event()
    told: list[tuple[int, int]] = []

    def tell(done: int, of: int) -> None:
        told.append((done, of))
        # The run is not over, and waits for nobody.
        if not worked.is_set():
            threading.Thread(target=worked.set).start()

    fairdisk.run("two-groups", seeds=3, duration_s=200, progress=tell)
    assert worked.wait(60)
    assert told[-1] == (9, 9) and all(before <= after for before, after in zip(told, told[1:]))


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
