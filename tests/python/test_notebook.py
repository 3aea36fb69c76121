"""At home in a notebook: progress, pictures, tables, Ctrl-C. Stand-ins for tqdm, matplotlib and pandas say what is asked of
them, so that this is tested where they are not installed."""

import os
import signal
import sys
import threading
import types

import numpy as np
import pytest
import throughtime as tt


def small(**more):
    return tt.Regressor(**{"hidden": 3, "epochs": 2, "batch": 2, "window": 50, "threads": 1, **more})


def test_curves_are_drawn_with_matplotlib(sine, pyplot, tmp_path):
    x, y = sine
    model = small().fit(x[:400], y[:400], validation=(x[400:], y[400:]), directory=tmp_path / "run")
    axes = model.history_.plot()
    assert axes.drawn == ["train loss", "validation loss"] and axes.label == "iteration"
    own = type(axes)()
    assert model.history_.plot("train_loss", axes=own) is own and own.drawn == ["train loss"]
    assert "train loss" in tt.Run(tmp_path / "run").plot().drawn
    assert len(tt.diagnose(model, x, y, positions=4, lags=5).plot().drawn) == 2
    with pytest.raises(KeyError, match="known: .*train_loss"):
        model.history_.plot("no_loss")


def test_without_matplotlib_only_drawing_fails(sine, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    model = small().fit(*sine)
    with pytest.raises(ImportError):
        model.history_.plot()
    assert model.score(*sine) < 1


def test_tables_for_a_notebook(sine):
    assert "not fitted yet" in small()._repr_html_()
    model = small(learner=tt.FPTT(window_length=5)).fit(*sine)
    page = model._repr_html_()
    assert f"{sum(value.size for value in model.state_dict().values()):,} weights" in page
    assert "<td>learner</td><td>FPTT(window_length=5)</td>" in page
    assert "<td>train_loss</td>" in model.history_._repr_html_()


def test_text_in_a_table_is_no_markup(sine):
    page = tt.Classifier(classes=["<b>", "&"])._repr_html_()
    assert "<b>" not in page and "&lt;b&gt;" in page


def test_progress_is_a_bar_where_tqdm_is(sine, monkeypatch):
    bars = []

    class Bar:
        def __init__(self, total, unit):
            self.total, self.n, self.closed, self.postfix = total, 0, False, {}
            bars.append(self)

        def update(self, count):
            self.n += count

        def set_postfix(self, **shown):
            self.postfix = shown

        def close(self):
            self.closed = True

    package, auto = types.ModuleType("tqdm"), types.ModuleType("tqdm.auto")
    auto.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", package)
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    model = small().fit(*sine, verbose=1)
    assert len(bars) == 1 and bars[0].closed
    assert bars[0].n == bars[0].total == model.n_iter_
    assert float(bars[0].postfix["loss"]) > 0
    with pytest.raises(RuntimeError):
        small(cell="rnn_relu", learner=tt.BPTT(), optimizer=tt.SGD(rate=1e18), epochs=50).fit(*sine, verbose=1)
    with pytest.raises(ValueError):
        model.partial_fit(*sine, sample_weight=-np.ones(600), verbose=1)  # ends before there is a bar
    assert len(bars) == 2 and bars[1].closed


def test_progress_is_lines_where_tqdm_is_not(sine, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    x, y = sine
    model = small().fit(x[:400], y[:400], validation=(x[400:], y[400:]), verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert f"iteration {model.n_iter_}: validation loss" in lines[-1]
    assert any("training loss" in line for line in lines)
    model.fit(x, y)
    assert capsys.readouterr().err == ""


def test_memory_is_known_before_the_first_step(sine):
    model, seen = small(), []
    model.fit(*sine, callbacks=[lambda event: seen.append((event["event"], model.memory_)) and event["event"] == "start"])
    assert seen[0] == ("start", model.memory_) and model.memory_ > 0


def test_ctrl_c_from_outside_ends_a_fit_without_callbacks(sine):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    model = small(epochs=10**6, hidden=8)
    key = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    key.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(*sine)
    finally:
        key.join()
        signal.signal(signal.SIGINT, before)
    assert model.n_iter_ > 0 and model.predict(sine[0]).shape == sine[1].shape
    assert len(model.history_) > 0


def test_ctrl_c_ends_many_rows(sine):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    x = np.zeros((10_000_000, 1), np.float32)
    model = small(hidden=2).learn_one(x[0], 0.0)
    key = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    key.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.learn_many(x, x[:, 0])
    finally:
        key.join()
        signal.signal(signal.SIGINT, before)
    assert 1 < model.updates_ < 10_000_000 and model.learn_one(x[0], 0.0)


class Table:
    """What is asked of a table of pandas: columns, and an array."""

    def __init__(self, values, columns):
        self.values, self.columns = np.asarray(values), columns
        self.shape = self.values.shape

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype) if dtype else self.values


def test_the_columns_of_a_table_are_kept_and_checked():
    values = np.random.default_rng(0).normal(size=(60, 2))
    model = small(window=20).fit(Table(values, ["a", "b"]), values[:, 0])
    assert list(model.feature_names_in_) == ["a", "b"]
    assert (model.predict(Table(values, ["a", "b"])) == model.predict(values)).all()
    for columns, line in ((["a", "c"], "unseen at fit time:\n- c"), (["b", "a"], "must be in the same order")):
        with pytest.raises(ValueError, match=line):
            model.predict(Table(values, columns))
    model.learn_one({"b": 1.0, "a": 2.0}, 1.0)
    with pytest.raises(ValueError, match="unseen at fit time:\n- c"):
        model.learn_one({"a": 1.0, "c": 2.0}, 1.0)
    with pytest.raises(ValueError, match="unseen at fit time:\n- c"):
        model.learn_many(Table(values, ["a", "c"]), values[:, 0])


class Row:
    """What is asked of a row of such a table: an index, and its numbers."""

    def __init__(self, **values):
        self.index, self.values = list(values), list(values.values())

    def __iter__(self):
        return iter(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


def test_a_row_of_a_table_has_names():
    rows, dicts = small(), small()
    for step in range(5):
        assert rows.observe(Row(a=step, b=1.0), 1.0) == dicts.observe({"a": step, "b": 1.0}, 1.0)
    assert rows.predict_one(Row(b=1.0, a=2.0)) == dicts.predict_one({"a": 2.0, "b": 1.0})
    with pytest.raises(ValueError, match="unseen at fit time:\n- c"):
        rows.learn_one(Row(a=1.0, c=2.0), 1.0)
    numbers = small().learn_one([1.0, 2.0], 1.0)
    assert numbers.predict_one(Row(a=1.0, b=2.0)) == numbers.predict_one([1.0, 2.0])
