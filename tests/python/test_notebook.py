"""At home in a notebook: progress, pictures, tables, Ctrl-C. With tqdm, matplotlib and pandas themselves, and without them."""

import io
import os
import signal
import sys
import threading

import numpy as np
import pytest
import throughtime as tt


def small(**more):
    return tt.Regressor(**{"hidden": 3, "epochs": 2, "batch": 2, "window": 50, "threads": 1, **more})


def labels_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def inside(axes):
    """Shares of the drawn points that are within the picture, curve by curve."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    points = [line.get_xydata() for line in axes.lines if len(line.get_xydata()) > 2]
    return [np.mean((x >= left) & (x <= right) & (y >= bottom) & (y <= top)) for x, y in (each.T for each in points)]


def test_curves_are_drawn_with_matplotlib(sine, pyplot, tmp_path):
    x, y = sine
    model = small().fit(x[:400], y[:400], validation=(x[400:], y[400:]), directory=tmp_path / "run")
    axes = model.history_.plot()
    assert labels_of(axes) == ["train loss", "validation loss"]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_yscale()) == ("iteration", "loss", "linear")
    assert inside(axes) == [1.0] and len(axes.lines) == 2
    where, values = axes.lines[0].get_data()
    assert (where == model.history_.curve("train_loss")[0]).all() and (values == model.history_.curve("train_loss")[1]).all()
    own = pyplot.subplots()[1]
    assert model.history_.plot("train_loss", axes=own) is own and labels_of(own) == ["train loss"]
    assert own.get_ylabel() == "train loss"
    assert "train loss" in labels_of(tt.Run(tmp_path / "run").plot())
    with pytest.raises(KeyError, match="known: .*train_loss"):
        model.history_.plot("no_loss")


def test_curves_that_fall_far_have_a_logarithmic_scale(pyplot):
    falling = tt.History([{"iteration": i, "train_loss": 0.5**i} for i in range(30)])
    assert falling.plot().get_yscale() == "log"
    below_zero = tt.History([{"iteration": i, "train_loss": 1 - i} for i in range(30)])
    assert below_zero.plot().get_yscale() == "linear"


def test_a_curve_of_one_point_is_seen(pyplot):
    axes = tt.History([{"iteration": 7, "train_loss": 1.0}]).plot()
    assert axes.lines[0].get_marker() == "."
    assert tt.History([]).plot().get_legend() is None


def test_a_diagnosis_is_drawn_as_far_as_it_matters(sine, pyplot):
    found = tt.diagnose(small().fit(*sine), *sine, positions=4, lags=60)
    axes = found.plot()
    assert len(labels_of(axes)) == 3 and f"from {found.truncation()} steps on" in labels_of(axes)[2]
    assert axes.get_xlabel().startswith("steps") and axes.get_ylabel()
    norms, bias = axes.lines[0], axes.lines[1]
    drawn = np.isin(found.lengths, bias.get_xdata())
    assert norms.get_ydata()[0] == 1 and (bias.get_ydata() == found.bias[drawn]).all() and drawn.sum() > 20
    assert axes.get_xlim()[1] < 60 and axes.get_ylim()[0] == pytest.approx(1e-4)
    own = pyplot.subplots()[1]
    few = tt.diagnose(small().fit(*sine), *sine, positions=4, lags=2)
    assert few.plot(axes=own) is own and own.lines[0].get_marker() == "."


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
    found = tt.diagnose(model, *sine)
    assert f"<td>0.1</td><td>{found.truncation(0.1)}</td>" in found._repr_html_()
    forecaster = tt.Forecaster(hidden=3, ignore=["month"])
    assert "<th>Forecaster</th><th>not fitted yet</th>" in forecaster._repr_html_()
    assert "<td>ignore</td><td>[&#x27;month&#x27;]</td>" in forecaster._repr_html_()
    assert "<th>Forecaster</th><th>76 weights</th>" in forecaster.learn_one(1.0).learn_one(2.0)._repr_html_()


def test_text_in_a_table_is_no_markup(sine):
    page = tt.Classifier(classes=["<b>", "&"])._repr_html_()
    assert "<b>" not in page and "&lt;b&gt;" in page


@pytest.fixture
def bars(monkeypatch):
    """The bars that tqdm makes, each with what it wrote."""
    auto = pytest.importorskip("tqdm.auto", reason="tqdm is not installed")
    made = []

    class Bar(auto.tqdm):
        def __init__(self, **arguments):
            super().__init__(file=io.StringIO(), mininterval=3600, **arguments)
            self.closings = 0
            made.append(self)

        def close(self):
            self.closings += not self.disable
            super().close()

    monkeypatch.setattr(auto, "tqdm", Bar)
    return made


def test_progress_is_a_bar_where_tqdm_is(sine, bars):
    model = small(epochs=20).fit(*sine, verbose=1)
    bar, = bars
    assert bar.n == bar.total == model.n_iter_ and bar.closings == 1
    first, last = bar.fp.getvalue().strip("\r\n").split("\r")  # not one more: the bar itself says when it is drawn
    assert first.lstrip().startswith("0%") and last.startswith("100%")
    assert f"loss={model.history_['train_loss'][-1]:.4g}" in last


def test_the_bar_of_a_run_that_ends_early_is_closed(sine, bars):
    with pytest.raises(RuntimeError, match="loss"):
        small(cell="rnn_relu", learner=tt.BPTT(), optimizer=tt.SGD(rate=1e18), epochs=50).fit(*sine, verbose=1)
    small(epochs=50).fit(*sine, verbose=1, callbacks=[lambda event: event["event"] == "progress"])
    assert [bar.closings for bar in bars] == [1, 1]
    assert bars[1].n < bars[1].total
    with pytest.raises(ValueError):
        small().fit(*sine).partial_fit(*sine, sample_weight=-np.ones(600), verbose=1)  # ends before there is a bar
    assert [bar.closings for bar in bars] == [1, 1]


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


@pytest.fixture(params=["pandas", "another"])
def table(request):
    """Makes a table: of pandas, and of anything else that has columns and is an array."""
    if request.param == "another":
        return Table
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    return lambda values, columns: pandas.DataFrame(values, columns=columns)


def test_the_columns_of_a_table_are_kept_and_checked(table):
    values = np.random.default_rng(0).normal(size=(60, 2))
    model = small(window=20).fit(table(values, ["a", "b"]), values[:, 0])
    assert list(model.feature_names_in_) == ["a", "b"]
    assert (model.predict(table(values, ["a", "b"])) == model.predict(values)).all()
    for columns, line in ((["a", "c"], "unseen at fit time:\n- c"), (["b", "a"], "must be in the same order")):
        with pytest.raises(ValueError, match=line):
            model.predict(table(values, columns))
    model.learn_one({"b": 1.0, "a": 2.0}, 1.0)
    with pytest.raises(ValueError, match="unseen at fit time:\n- c"):
        model.learn_one({"a": 1.0, "c": 2.0}, 1.0)
    with pytest.raises(ValueError, match="unseen at fit time:\n- c"):
        model.learn_many(table(values, ["a", "c"]), values[:, 0])


def test_tables_of_several_recordings_have_the_same_columns(table):
    values = np.random.default_rng(0).normal(size=(30, 2))
    parts = [table(values, ["a", "b"]), table(values[:20], ["a", "b"])]
    model = small().fit(parts, [values[:, 0], values[:20, 0]])
    assert list(model.feature_names_in_) == ["a", "b"]
    assert [len(each) for each in model.predict([parts[0], values[:7]])] == [30, 7]  # an array has no names to compare
    with pytest.raises(ValueError, match=r"same columns in the same order: number 0 has a, b, number 1 has b, a"):
        small().fit([parts[0], table(values, ["b", "a"])], [values[:, 0], values[:, 0]])


class Row:
    """What is asked of a row of such a table: an index, and its numbers."""

    def __init__(self, **values):
        self.index, self.values = list(values), list(values.values())

    def __iter__(self):
        return iter(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


@pytest.fixture(params=["pandas", "another"])
def row(request):
    if request.param == "another":
        return Row
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    return lambda **values: pandas.Series(values)


def test_a_row_of_a_table_has_names(row):
    rows, dicts = small(), small()
    for step in range(5):
        assert rows.observe(row(a=step, b=1.0), 1.0) == dicts.observe({"a": step, "b": 1.0}, 1.0)
    assert rows.predict_one(row(b=1.0, a=2.0)) == dicts.predict_one({"a": 2.0, "b": 1.0})
    with pytest.raises(ValueError, match="unseen at fit time:\n- c"):
        rows.learn_one(row(a=1.0, c=2.0), 1.0)
    numbers = small().learn_one([1.0, 2.0], 1.0)
    assert numbers.predict_one(row(a=1.0, b=2.0)) == numbers.predict_one([1.0, 2.0])


def test_tables_of_pandas_serve_everywhere():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    times = pandas.date_range("2024-01-01", periods=120, freq="h")
    table = pandas.DataFrame({"a": np.sin(np.arange(120) / 5), "b": np.arange(120) % 3}, index=times)  # float and int
    y = table["a"].shift(-1).fillna(0.0).rename("next")
    arrays = table.to_numpy(), y.to_numpy()
    head, tail = slice(0, 80), slice(80, None)  # of which the index does not begin at 0

    model = small().fit(table[head], y[head], validation=(table[tail], y[tail]), sample_weight=pandas.Series(1.0, times[head]))
    other = small().fit(*(each[head] for each in arrays), validation=tuple(each[tail] for each in arrays),
                        sample_weight=np.ones(80))
    assert (model.predict(table[tail]) == other.predict(arrays[0][tail])).all()
    assert model.score(table[tail], y[tail]) == other.score(arrays[0][tail], arrays[1][tail])
    assert small().fit(table, table[["a", "b"]]).predict(table).shape == (120, 2)
    assert small().fit(table.astype("Float64"), y.astype("Float64")).predict(table).shape == (120,)
    for (_, line), target in zip(table.iterrows(), y):
        assert model.observe(line, target) == other.observe(line.to_numpy(), target)
    model.learn_many(table, y)

    words = pandas.Series(np.where(y > 0, "up", "down"), index=times)
    for labels in (words, words.astype("category"), words.astype("string")):
        classifier = tt.Classifier(hidden=3, epochs=1, window=50, batch=2).fit(table, labels)
        assert list(classifier.classes_) == ["down", "up"] and classifier.score(table, labels) > 0
    with pytest.raises(ValueError, match=r"\[regressor\] X must be finite numbers: it has missing entries \(NA\)"):
        small().fit(table.astype("Float64").mask(table["a"] > 0.9), y)
    with pytest.raises(ValueError, match=r"\[regressor\] y must be finite numbers"):
        small().fit(table, table["a"].shift(-1))
