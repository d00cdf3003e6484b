"""What happens around a running fit: Ctrl-C, threads, fork, and ten thousand fits in a row."""
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import tamis

# Long enough to be interrupted: minutes, if nobody does.
LONG = dict(C=1e6, gamma=100.0, tol=1e-9)


def long_data():
    return tamis.generate("checkerboard", 40000)


def interrupt_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_fit_and_leaves_it_unfitted(n_jobs):
    X, y = long_data()
    machine = tamis.SVC().fit(X[:200], y[:200])
    machine.set_params(n_jobs=n_jobs, **LONG)
    interrupt_after(0.7)
    with pytest.raises(KeyboardInterrupt):
        machine.fit(X, y)
    assert not machine.__sklearn_is_fitted__()
    assert [name for name in vars(machine) if name.endswith("_")] == []
    assert tamis.SVC().fit(X[:500], y[:500]).report_["stop_reason"] == "converged"


def test_ctrl_c_ends_a_prediction():
    X, y = long_data()
    machine = tamis.SVC(gamma=100.0).fit(X, y)
    rows = np.tile(X, (200, 1))
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        machine.predict(rows)
    assert machine.score(X, y) > 0.9


def test_a_signal_handler_that_does_not_raise_does_not_end_the_fit():
    X, y = long_data()
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.append(time.monotonic()))
    try:
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        with pytest.warns(Warning, match="time limit"):
            tamis.SVC(max_seconds=1, **LONG).fit(X, y)
        end = time.monotonic()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(heard) == 1 and end - heard[0] > 0.3  # it was called during the fit, not after


def test_other_python_threads_run_during_a_fit():
    X, y = long_data()
    count = 0
    done = threading.Event()

    def work():
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.warns(Warning, match="time limit"):
        tamis.SVC(max_seconds=1, **LONG).fit(X, y)
    done.set()
    thread.join()
    assert count > 50


def test_two_threads_fit_at_once():
    problems = [tamis.generate("checkerboard", 5000, seed) for seed in (1, 2)]
    alone = [tamis.SVC(C=10, gamma=100.0).fit(X, y) for X, y in problems]
    together = [tamis.SVC(C=10, gamma=100.0) for _ in problems]

    def fit(machine, data):
        for _ in range(3):
            machine.fit(*data)

    threads = [threading.Thread(target=fit, args=pair) for pair in zip(together, problems)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b, (X, _) in zip(alone, together, problems):
        np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


def fit_in_child(seed):
    X, y = tamis.generate("checkerboard", 3000, seed)
    machine = tamis.SVC(C=10, gamma=100.0).fit(X, y)
    return machine.report_["objective"], machine.predict(X[:10]).tolist()


def test_fork_after_use():
    wanted = [fit_in_child(seed) for seed in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(fit_in_child, range(4)).get(timeout=60) == wanted
    assert fit_in_child(0) == wanted[0]


def test_fork_while_another_thread_fits():
    X, y = long_data()
    under_way = threading.Event()
    machine = tamis.SVC(max_seconds=2, progress=lambda state: under_way.set(), **LONG)
    with pytest.warns(Warning, match="time limit"):
        thread = threading.Thread(target=machine.fit, args=(X, y))
        thread.start()
        under_way.wait(timeout=10)
        child = os.fork()
        if child == 0:
            os._exit(0)  # what it may do beyond this is up to POSIX
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
    assert machine.predict(X[:5]).shape == (5,)


@pytest.mark.skipif(tamis._core.available_threads() < 2, reason="one CPU: one thread")
def test_a_forked_child_starts_threads_of_its_own():
    script = textwrap.dedent("""
        import os, tamis
        X, y = tamis.generate("checkerboard", 20000)
        machine = tamis.SVC(C=10, gamma=100.0, n_jobs=2)
        machine.fit(X, y)
        if os.fork() == 0:
            most = [0]
            def count(state):
                most[0] = max(most[0], len(os.listdir("/proc/self/task")))
            machine.set_params(progress=count, C=1e5, tol=1e-6, max_seconds=2).fit(X, y)
            os._exit(0 if most[0] >= 3 else 1)  # this one, the one that works, oneTBB's
        os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
    """)
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)


def test_ten_thousand_fits_leak_nothing():
    X = np.random.RandomState(0).normal(size=(12, 3)).astype(np.float32)
    y = np.arange(12) % 3
    machine = tamis.SVC()

    def fits(count):
        for _ in range(count):
            machine.fit(X, y).predict(X)
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()

    before = fits(2000)  # as large as it gets; sanitizers keep what was freed for a while
    assert fits(8000) < before + (2**24 if os.environ.get("TAMIS_SANITIZE") else 2**20)
