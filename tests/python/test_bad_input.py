"""What cannot be is a ValueError with a line that says who speaks; nothing ends the interpreter."""

import datetime

import numpy as np
import pytest
import throughtime as tt

X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
Y = X[:, 0].copy()
LABELS = (Y > 0).astype(int)


def refused(line, work):
    with pytest.raises(ValueError) as error:
        work()
    assert str(error.value).startswith(line), str(error.value)


@pytest.mark.filterwarnings("ignore:.regressor. dropout is between layers")
@pytest.mark.parametrize("parameters, line", [
    (dict(window=0), "[regressor] window must be a whole number of at least 1, got 0"),
    (dict(batch=0), "[regressor] batch must be a whole number of at least 1, got 0"),
    (dict(batch=1.5), "[regressor] batch must be a whole number of at least 1, got 1.5"),
    (dict(patience=-1), "[regressor] patience must be a whole number of at least 0, got -1"),
    (dict(epochs=float("nan")), "[regressor] epochs must be a number above 0, got nan"),
    (dict(epochs=0), "[regressor] epochs must be a number above 0, got 0"),
    (dict(epochs="a"), "[regressor] epochs must be a number above 0, got 'a'"),
    (dict(targets="foo"), "[regressor] targets must be one of auto, step, sequence, got 'foo'"),
    (dict(standardise="no"), "[regressor] standardise must be True or False, got 'no'"),
    (dict(keep_best=None), "[regressor] keep_best must be True or False, got None"),
    (dict(options={"hidden": 3}), "[regressor] options has the keys of a configuration file, such as 'model.embedding'"),
    (dict(options={"model.hidden": 3}), "[regressor] options: model.hidden is said by a parameter already"),
    (dict(optimizer=3), "[regressor] optimizer must be an optimizer such as Adam(), got 3"),
    (dict(hidden=10**9), "[config] options:"),
    (dict(streams=0), "[config] options:"),
    (dict(threads=-1), "[config] options:"),
    (dict(dropout=float("nan")), "[config] options:"),
    (dict(cell="x"), "[config] options:"),
    (dict(vocabulary=-1), "[model] input.vocabulary"),
    (dict(cell=["lstm", "gru"], layers=3), "[config] options: model.cell must have one entry, or one for each of the 3 layers"),
    (dict(hidden=[3, 4], layers=3), "[config] options: model.hidden must have one entry"),
    (dict(hidden=[3, 4]), "[config] options: model.hidden must have one entry"),
    (dict(hidden=[]), "[config] options: model.hidden must have one entry"),
    (dict(seed=None), "[config] train.seed: it must be a number, a text, True, False or a list of them, got None"),
    (dict(seed=2**63), "[config] train.seed: it must be a number"),
    (dict(options={"train.epochs": 3.0}), "[regressor] options: train.epochs is said by a parameter already"),
    (dict(options={"stream.difference": True}), "[regressor] options: stream.difference is for files that the command reads"),
    (dict(options={"task.arrays.length": 3}), "[regressor] options: task.arrays.length is "),
    (dict(options={"learner.fptt.alpha": 3}), "[regressor] options: learner.fptt.alpha belongs to the object"),
    (dict(options=[("a.b", 1)]), "[regressor] options must be a dict, got a list"),
    (dict(weights=3), "[regressor] weights must be a dict, got a int"),
    (dict(weights={}), "[regressor] the weights of the model are rnn.weight_ih_l0, "),
])
def test_parameters(parameters, line):
    for work in (lambda model: model.fit(X, Y), lambda model: model.learn_one(X[0], Y[0])):
        refused(line, lambda: work(tt.Regressor(**{"hidden": 3, "epochs": 1, **parameters})))


def test_options_of_fit_are_not_passed_over():
    refused("[regressor] options: train.epochs is said by a parameter already",
            lambda: tt.Regressor(options={"train.epochs": 3.0}).fit(X, Y))
    model = tt.Regressor(hidden=2, epochs=1, batch=1, window=10, options={"train.report_every": 1}).fit(X, Y)
    assert len(model.history_) == 6


def fitted():
    return tt.Regressor(hidden=3, epochs=1).fit(X, Y)


@pytest.mark.parametrize("x, line", [
    (np.zeros((1, 2, 3, 4)), "[regressor] X must be [steps, features] or"),
    (3.0, "[regressor] X must be [steps, features] or"),
    (None, "[regressor] X must be [steps, features] or"),
    ([], "[regressor] X must be [steps, features] or"),
    ([[1, 2], [3]], "[regressor] X must be"),
    ([["a", 1.0]], "[regressor] X must be numbers"),
    (np.ma.masked_greater(X, 1), "[regressor] X has masked entries"),
    (np.zeros((3, 5)), "[regressor] X has 5 features, but Regressor is expecting 2"),
    (np.zeros((3, 2), "datetime64[D]"), "[regressor] X must be numbers, got times"),
    (np.array([["1", "2"]]), "[regressor] X must be numbers, got texts (<U1)"),
    ([{"a": 1.0, "b": 2.0}], "[regressor] X must be"),
    (np.array([[datetime.date(2020, 1, 1), 2.0]]), "[regressor] X must be numbers: float() argument must be"),
])
def test_inputs(x, line):
    model = fitted()
    before = model.predict(X)
    refused(line, lambda: model.predict(x))
    refused(line, lambda: model.partial_fit(x, Y))
    assert (model.predict(X) == before).all()


def test_validation_weights_and_states():
    model = fitted()
    refused("[regressor] validation must be a pair", lambda: fitted().fit(X, Y, validation=X))
    refused("[regressor] X has 1 features", lambda: fitted().fit(X, Y, validation=(X[:, :1], Y)))
    refused("[arrays] sequence 0 of the train part: a weight", lambda: model.partial_fit(X, Y, sample_weight=-np.ones(60)))
    refused("[regressor] sample_weight must have 60 numbers", lambda: model.partial_fit(X, Y, sample_weight=np.ones(3)))
    refused("[regressor] sample_weight must be finite", lambda: model.partial_fit(X, Y, sample_weight=np.full(60, np.nan)))
    refused("[regressor] sample_weight must have an entry for each of 2 sequences, got 1",
            lambda: fitted().partial_fit([X[:30], X[30:]], [Y[:30], Y[30:]], sample_weight=2.0))
    refused("[regressor] y must have the shape of the answers, (60,), got (3,)", lambda: model.score(X, Y[:3]))
    refused("[regressor] the model is for one target per sequence, X is one recording",
            lambda: tt.Regressor(targets="sequence").fit(X, Y))
    refused("[c] weights must be finite", lambda: model.load_state_dict(
        {name: value * np.nan for name, value in model.state_dict().items()}))


@pytest.mark.parametrize("labels, line", [
    (LABELS + 1, "[classifier] y holds the label 2; known: [0, 1]"),
    (np.full(60, "a"), "[classifier] y holds the label 'a'; known: [0, 1]"),
    ([None] * 60, "[classifier] labels must be of one kind"),
    (Y, "[classifier] Unknown label type"),
    (np.full(60, np.nan), "[classifier] y must be labels"),
    (np.zeros((60, 2)), "[classifier] y must have one label for each target"),
])
def test_labels(labels, line):
    model = tt.Classifier(hidden=2, epochs=1).fit(X, LABELS)
    refused(line, lambda: model.partial_fit(X, labels))
    assert model.predict(X).shape == (60,)
    refused("[classifier] ", lambda: tt.Classifier(classes=[1, "a"]).fit(X, LABELS))
    for work in (lambda each: each.fit(X, LABELS), lambda each: each.learn_one(X[0], 1)):
        refused("[classifier] classes must be a list of labels, got '01'", lambda: work(tt.Classifier(classes="01")))


@pytest.mark.parametrize("x, y, line", [
    (None, 1.0, "[regressor] a row must have 2 numbers"),
    ("ab", 1.0, "[regressor] a row must have 2 numbers"),
    (["a", "b"], 1.0, "[regressor] a row must hold numbers"),
    ([1j, 2.0], 1.0, "[regressor] a row must hold numbers"),
    (np.array([1j, 2.0]), 1.0, "[regressor] a row must hold numbers"),
    ([1.0, 2.0], 1j, "[regressor] a target must hold numbers, got 1j"),
    ([1.0, 2.0], "a", "[regressor] a target must hold numbers, got 'a'"),
    ([1.0, 2.0], [1.0, 2.0], "[regressor] a target has 1 numbers, got 2"),
    ([1.0, 2.0], {"u": 1.0}, "[regressor] targets have no names here, got ['u']"),
    (["1", "2"], 1.0, "[regressor] a row must hold numbers, got array(['1', '2']"),
    (["1", 2.0, ], 1.0, "[regressor] a row must hold numbers"),
    (np.array(["1", 2.0], dtype=object), 1.0, "[regressor] a row must hold numbers"),
    (np.array([1, 2], "datetime64[D]"), 1.0, "[regressor] a row must hold numbers"),
    ({1.0, 2.0}, 1.0, "[regressor] a row must have 2 numbers, got {1.0, 2.0}"),
    ([1.0, 2.0], "1.0", "[regressor] a target must hold numbers, got '1.0'"),
    ([1.0, 2.0], np.datetime64(3, "D"), "[regressor] a target must hold numbers"),
    ([1.0, 2.0], datetime.date(2020, 1, 1), "[regressor] a target must hold numbers"),
    ([1.0, 2.0], 10**400, "[regressor] a target must hold numbers"),
    ([1.0, 2.0], 1e300, "[online] inputs and targets must be finite numbers"),
])
def test_rows(x, y, line):
    model = tt.Regressor(hidden=2).learn_one([0.0, 1.0], 1.0)
    before = model.predict_one([1.0, 0.0])
    refused(line, lambda: model.learn_one(x, y))
    assert model.predict_one([1.0, 0.0]) == before


def test_tokens_and_labels_of_streams():
    model = tt.Classifier(vocabulary=3, classes=["a", "b"], hidden=2).learn_one(np.int64(2), "a")
    refused("[classifier] a token must be a whole number, got 1.5", lambda: model.learn_one(1.5, "a"))
    refused("[classifier] a token must be a whole number, got 'x'", lambda: model.learn_one("x", "a"))
    refused("[online] a token must be between 0 and 2, got 7", lambda: model.learn_one(7, "a"))
    refused("[classifier] there is no label ['a']", lambda: model.learn_one(1, ["a"]))
    refused("[regressor] X and y must have as many rows", lambda: fitted().learn_many(X, Y[:3]))
    refused("[regressor] X must be [rows, 2]", lambda: fitted().learn_many(X[:, 0], Y))
    refused("[regressor] X must not be empty", lambda: fitted().learn_many(X[:0], Y[:0]))
    refused("[regressor] X must be rows of numbers, got <generator", lambda: fitted().learn_many((row for row in X), Y))
    refused("[regressor] the first row needs its target", lambda: tt.Regressor().learn_many(X, None))
    refused("[regressor] stream must be a number, a text or None, got [1]", lambda: fitted().learn_one(X[0], 1.0, stream=[1]))
    refused("[regressor] stream must be", lambda: fitted().learn_one(X[0], 1.0).predict_one(X[0], stream=[1]))
    refused("[classifier] y must be of one kind", lambda: tt.Classifier().fit(X, [1, "a"] * 30))
    refused("[classifier] standardise is for numbers, and here are none", lambda: tt.Classifier(
        vocabulary=3, standardise=True, classes=[0, 1]).learn_one(1, 0))


def test_forecasters_and_windows():
    refused("[forecaster] a row must hold numbers, got 'a'", lambda: tt.Forecaster(hidden=2).learn_one("a"))
    refused("[forecaster] a row must hold numbers, got 1.0 and 'a'", lambda: tt.Forecaster(hidden=2).learn_one(1.0, "a"))
    refused("[forecaster] horizon must be a whole number, got 1.5", lambda: tt.Forecaster().learn_one(1.0).forecast(1.5))
    refused("[forecaster] a row must hold numbers, got [1, 2]", lambda: tt.Forecaster().learn_one(1.0).learn_one([1, 2]))
    refused("[forecaster] xs is for rows that have x", lambda: tt.Forecaster().learn_one(1.0).forecast(2, xs=[1.0]))
    refused("[window] X must be [sequences, steps, features]", lambda: tt.Window([], [], 1, [0]))
    refused("[window] X and y must have as many sequences", lambda: tt.Window(X[None], Y[None, :3], 1, [0]))
    refused("[c] rows must be between 1", lambda: tt.Window(X[None], Y[None], 1, []))
    refused("[c] a buffer must have at least 1 number", lambda: tt.Engine(tt.Model(1, 1, hidden=2)).buffer(0))
    refused("[engine] a buffer of 1000000000000 numbers", lambda: tt.Engine(tt.Model(1, 1, hidden=2)).buffer(10**12))


@pytest.mark.parametrize("path", ["", "a\0b", b"", 3, None, True, ["a"]])
def test_paths_that_are_none(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = {"save": fitted().save, "load": tt.Regressor.load, "run": tt.Run, "train": tt.train,
             "safetensors": tt.read_safetensors}
    if path is not None:
        calls["regressor"] = lambda each: fitted().fit(X, Y, directory=each)
    for speaker, call in calls.items():
        what = "directory" if speaker == "regressor" else "the path"
        refused(f"[{speaker}] {what} must name a file or a folder, got {path!r}", lambda: call(path))
    assert list(tmp_path.iterdir()) == []


def test_a_bias_is_a_number():
    found = tt.diagnose(fitted(), X, Y, burn_in=0)
    assert found.truncation(np.float32(1e9)) == found.lengths[0] and found.truncation(0) in (None, *found.lengths)
    for bias in (-1, float("nan"), "a", None):
        refused(f"[diagnose] bias must be a number of at least 0, got {bias!r}", lambda: found.truncation(bias))


def test_what_is_not_fitted_and_files_that_are_none(tmp_path):
    for work in (lambda: tt.Regressor().score(X, Y), lambda: tt.diagnose(tt.Regressor(), X, Y),
                 lambda: tt.Regressor().save(tmp_path / "x"), lambda: tt.Regressor().state_dict()):
        refused("[regressor] This Regressor instance is not fitted yet", work)
    refused("[safetensors] cannot read", lambda: tt.Regressor.load(tmp_path / "none"))
    for content in (b"", b"\x08\0\0\0\0\0\0\0{}      ", b"\xff" * 20):
        (tmp_path / "broken").write_bytes(content)
        refused("[safetensors] ", lambda: tt.Regressor.load(tmp_path / "broken"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    refused("[run] ", lambda: fitted().fit(X, Y, directory=tmp_path / "full"))
    with pytest.raises(RuntimeError, match=r"^\[run\] cannot write "):
        fitted().save(tmp_path / "nowhere" / "x")
