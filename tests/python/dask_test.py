"""Estimators for Dask: the model of the local class, on two workers, also when one of them is killed."""
import os
import signal
import threading
import time

import numpy as np
import pytest
import tamis

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
import dask.array  # noqa: E402
import dask.dataframe  # noqa: E402
import tamis.dask  # noqa: E402

CELLS = {"k": 150, "cell_rows": 900, "C": 3.3, "gamma": 20}
OPTIONS = {"members": 12, "subset_rows": 150, "C": 3, "gamma": 0.5, "random_state": 7}


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        with distributed.Client(cluster) as connected:
            yield connected


@pytest.fixture(scope="module")
def rows():
    return tamis.generate("ten-gaussians", 3000)


def same_model(a, b):
    assert a._model.__getstate__() == b._model.__getstate__()


def local(X, y, **more):
    return tamis.RandomSubsetSVC(**{**OPTIONS, **more}).fit(X, y)


@pytest.mark.parametrize("more", [{}, {"scale": "standard", "candidates": 2}, {"member_value": "probability"},
                                  {"C": None, "gamma": None, "search_trials": 8}, {"mixed_kernels": True}])
def test_an_array_gives_the_local_model(client, rows, more):
    X, y = rows
    expected = local(X, y, **more)
    model = tamis.dask.RandomSubsetSVC(**{**OPTIONS, **more})
    model.fit(dask.array.from_array(X, chunks=(700, 1)), dask.array.from_array(y, chunks=500))
    same_model(model, expected)
    predicted = model.predict(dask.array.from_array(X, chunks=(700, 2)))
    assert isinstance(predicted, dask.array.Array) and predicted.numblocks == (5,)
    np.testing.assert_array_equal(predicted.compute(), expected.predict(X))
    np.testing.assert_array_equal(model.decision_function(dask.array.from_array(X, chunks=(700, 2))).compute(),
                                  expected.decision_function(X))
    assert model.score(dask.array.from_array(X, chunks=(700, 2)), y) == expected.score(X, y)


def test_the_workers_do_the_work(client, rows):
    def started():
        return sum(client.run(lambda dask_worker: dask_worker.state.executed_count).values())

    try:
        before = started()
    except AttributeError:
        pytest.skip("this version of distributed does not count tasks")
    tamis.dask.RandomSubsetSVC(**OPTIONS).fit(*rows)
    assert started() - before >= OPTIONS["members"]


def test_a_frame_several_classes_and_weights(client, rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    names = np.where(y > 0, "up", "down")
    names[::7] = "aside"
    weights = np.linspace(0.5, 1.5, len(y))
    frame = pandas.DataFrame({"east": X[:, 0].astype(np.float64), "north": X[:, 1]})
    parts = dask.dataframe.from_pandas(frame, npartitions=4)
    expected = tamis.RandomSubsetSVC(**OPTIONS).fit(frame, names, weights)
    model = tamis.dask.RandomSubsetSVC(**OPTIONS).fit(parts, dask.dataframe.from_pandas(pandas.Series(names), npartitions=3),
                                                      dask.array.from_array(weights))
    same_model(model, expected)
    assert list(model.feature_names_in_) == ["east", "north"]
    predicted = model.predict(parts)
    np.testing.assert_array_equal(predicted.compute().to_numpy(), expected.predict(frame))
    values = model.decision_function(parts).compute()
    np.testing.assert_array_equal(values, expected.decision_function(frame))


def test_pairs_of_classes_blocks_without_rows_and_another_client(client, rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    names = np.where(y > 0, 1, 2) + 2 * (np.arange(len(y)) % 2)  # 4 classes, 6 pairs
    expected = local(X, names, decision_function_shape="ovo")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        with distributed.Client(cluster):  # the one that was made last
            model = tamis.dask.RandomSubsetSVC(**OPTIONS, decision_function_shape="ovo")
            model.client = client
            model.fit(X, dask.array.from_array(names, chunks=800))
    same_model(model, expected)
    lazy = dask.array.from_array(X, chunks=((1000, 0, 2000), 2))
    values = model.decision_function(lazy)
    assert values.shape == (len(X), 6)
    np.testing.assert_array_equal(values.compute(), expected.decision_function(X))
    np.testing.assert_array_equal(model.predict(lazy).compute(), expected.predict(X))
    frame = dask.dataframe.from_pandas(pandas.DataFrame(X, columns=["a", "b"]), npartitions=3)
    above = frame[frame["a"] > frame["a"].max() + 1]
    assert model.fit(frame, names).decision_function(above).compute().shape == (0, 6)
    assert len(model.predict(above).compute()) == 0


def test_sparse_rows_and_arrays_as_in_the_local_class(client, rows):
    import scipy.sparse as sp

    X, y = rows
    same_model(tamis.dask.RandomSubsetSVC(**OPTIONS).fit(sp.csr_matrix(X), y), local(sp.csr_matrix(X), y))


@pytest.mark.parametrize("more", [{}, {"prediction": "nearest-centre"}, {"scale": "standard", "random_state": 3},
                                  {"prediction": "nearest-centre", "k": None, "class_weight": "balanced"}])
def test_cells_give_the_local_model(client, more):
    X, y = tamis.generate("checkerboard", 5000)
    expected = tamis.FalkSVC(**{**CELLS, **more}).fit(X, y)
    assert expected.report_["details"]["cells"] == 8
    model = tamis.dask.FalkSVC(**{**CELLS, **more})
    lazy = dask.array.from_array(X, chunks=(700, 1))
    model.fit(lazy, dask.array.from_array(y, chunks=500))
    same_model(model, expected)
    np.testing.assert_array_equal(model.predict(lazy).compute(), expected.predict(X))
    assert model.score(lazy, y) == expected.score(X, y)


def test_cells_of_a_frame_with_several_classes_and_weights(client):
    pandas = pytest.importorskip("pandas")
    X, y = tamis.generate("checkerboard", 4000)
    names = np.where(y > 0, "up, left", "down")  # a comma in a name
    names[::7] = "aside"
    weights = np.linspace(0, 1.5, len(y))  # the first row does not count
    frame = pandas.DataFrame({"east": X[:, 0], "north": X[:, 1]})
    options = {**CELLS, "class_weight": {"up, left": 2}}
    expected = tamis.FalkSVC(**options).fit(frame, names, weights)
    model = tamis.dask.FalkSVC(**options).fit(dask.dataframe.from_pandas(frame, npartitions=4), names, weights)
    same_model(model, expected)
    assert list(model.feature_names_in_) == ["east", "north"]


def test_the_workers_train_the_cells(client):
    X, y = tamis.generate("checkerboard", 5000)
    tasks = []

    class Counted(tamis.dask._Tasks):
        def each(self, count, *others):
            tasks.append(count)
            super().each(count, *others)

    model = tamis.dask.FalkSVC(**CELLS)
    model._task_runner = lambda: Counted(client)
    model.fit(X, y)
    assert tasks == [8]
    model.set_params(cell_rows=5000).fit(X, y)  # one cell: trained here
    assert tasks == [8]


def test_cells_within_a_time_limit(client):
    X, y = tamis.generate("checkerboard", 200000)
    model = tamis.dask.FalkSVC(k=1000, cell_rows=20000, C=100, gamma=100, max_seconds=0.5)
    start = time.monotonic()
    with pytest.warns(UserWarning, match="time limit"):
        model.fit(X, y)
    assert time.monotonic() - start < 30
    assert model.predict(X[:10]).shape == (10,)


def test_an_error_in_a_cell_is_raised(client, monkeypatch):
    X, y = tamis.generate("checkerboard", 5000)
    monkeypatch.setattr(tamis.dask, "_run_task", lambda task, shared: b"nonsense")
    with pytest.raises(ValueError, match="another version of tamis"):
        tamis.dask.FalkSVC(**CELLS).fit(X, y)


@pytest.mark.parametrize("kind, rows, options", [
    ("RandomSubsetSVC", "ten-gaussians", {**OPTIONS, "members": 60, "subset_rows": 1500, "score_rows": 4000}),
    ("FalkSVC", "checkerboard", {"k": 500, "cell_rows": 2000, "C": 100, "gamma": 100})])
def test_a_killed_worker_changes_nothing(kind, rows, options):
    X, y = tamis.generate(rows, 20000)
    expected = getattr(tamis, kind)(**options).fit(X, y)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        with distributed.Client(cluster) as client:
            pids = client.run(os.getpid)
            killed = []

            def kill():  # once tasks are running
                while not any(client.processing().values()):
                    time.sleep(0.01)
                time.sleep(0.2)
                victim = next(iter(pids.values()))
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

            killer = threading.Thread(target=kill)
            killer.start()
            model = getattr(tamis.dask, kind)(**options).fit(dask.array.from_array(X, chunks=(4000, 2)), y)
            done_after_kill = bool(killed)
            killer.join()
            assert done_after_kill, "the training ended before the worker was killed"
            same_model(model, expected)


def test_a_task_that_is_damaged_says_so(client):
    with pytest.raises(ValueError, match="another version of tamis"):
        client.submit(tamis.dask._run_task, b"nonsense", b"").result()


def test_fit_again_and_pickle(client, rows):
    import pickle

    X, y = rows
    model = tamis.dask.RandomSubsetSVC(**OPTIONS)
    model.client = client
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), local(X, y).predict(X))
    with pytest.raises(ValueError, match="2D"):
        model.fit(dask.array.from_array(y), y)
