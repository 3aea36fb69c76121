import abc
import copy
import inspect
import os
import pathlib
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest
import throughtime as tt
from streams_support import rows, small, weights_of

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_looking_changes_nothing_and_observe_is_the_pair():
    for standardise in (False, True):
        looked, observed = small(standardise=standardise), small(standardise=standardise)
        for i, (x, y) in enumerate(zip(*rows(200))):
            guesses = [looked.predict_one(x) for _ in range(i % 3)]
            first = looked.predict_one(x)
            looked.learn_one(x, y)
            second = observed.observe(x, y)
            assert all(guess == first for guess in guesses)
            assert first == second or i == 0
        assert looked.predict_one(x) == observed.predict_one(x)


def test_rows_may_be_dicts_arrays_lists_or_numbers():
    x, y = rows(50)
    answers = []
    for form in (lambda r: r, lambda r: r.tolist(), lambda r: {"a": r[0], "b": r[1]}, lambda r: r.astype(float),
                 lambda r: {"b": r[1], "a": r[0]}):
        model = small()
        model.learn_one({"a": x[0, 0], "b": x[0, 1]} if isinstance(form(x[0]), dict) else form(x[0]), y[0])
        answers.append([model.observe(form(a), b) for a, b in zip(x[1:], y[1:])])
    assert all(each == answers[0] for each in answers)
    number = small()
    number.learn_one(1.0, 2)
    assert isinstance(number.predict_one(1.0), float)


def test_many_rows_in_one_call_are_row_by_row():
    x, y = rows(100)
    one, many = small(), small()
    answers = [one.observe(a, b) for a, b in zip(x, y)]
    assert (many.observe_many(x, y) == answers).all()
    assert one.predict_one(x[0]) == many.predict_one(x[0])
    assert many.learn_many(x, y) is many
    assert one.updates_ < many.updates_


def test_it_learns_and_goes_on_where_fit_ended():
    x, y = rows(3000)
    model = small(optimizer=tt.Adam(rate=0.01))
    errors = [(model.observe(a, b) - b) ** 2 for a, b in zip(x, y)]
    assert np.mean(errors[-500:]) < np.mean(errors[:500]) / 4
    fitted = small(optimizer=tt.Adam(rate=0.01), epochs=20, window=50, batch=4).fit(x[:1000], y[:1000])
    wanted = fitted.predict(x[:1])[0]
    assert fitted.predict_one(x[0]) == pytest.approx(wanted, abs=1e-6)
    before = fitted.predict(x[:10])
    fitted.learn_one(x[0], y[0])
    assert (fitted.predict(x[:10]) != before).any()  # the same weights, which have moved
    state = fitted.predict_one(x[1])
    fitted.predict(x)
    assert fitted.predict_one(x[1]) == state  # predict leaves the stream alone


OF_STREAMS = [tt.TBPTT(preset="original", truncation=3), tt.TBPTT(preset="paper", truncation=4),
              tt.AdaptiveTBPTT(truncation=3, longest=6, lags=8, burn_in=2, positions=4, estimate_every=7),
              tt.FPTT(window_length=4), tt.FPP(steps=3), tt.SlidingTBPTT(steps=3)]


@pytest.mark.parametrize("learner", OF_STREAMS, ids=repr)
@pytest.mark.parametrize("streams", [1, 2])
def test_pickled_mid_stream_goes_on_bit_for_bit(learner, streams, tmp_path):
    x, y = rows(100)
    model = small(standardise=True, streams=streams, learner=learner, optimizer=tt.Adam(rate=0.01))
    for i in range(51):
        model.learn_one(x[i], y[i], stream="ab"[i % streams])
    model.save(tmp_path / "model")
    others = [pickle.loads(pickle.dumps(model)), tt.Regressor.load(tmp_path / "model"), copy.deepcopy(model)]
    before = weights_of(model)
    for i in range(51, 100):
        answers = [each.observe(x[i], y[i], stream="ab"[i % streams]) for each in [model, *others]]
        assert answers == [answers[0]] * 4
    assert all((weights_of(model) == weights_of(each)).all() for each in others) and (weights_of(model) != before).any()


@pytest.mark.parametrize("learner", OF_STREAMS, ids=repr)
def test_looking_moves_nothing_whatever_the_method(learner):
    x, y = rows(80)
    looked, many = small(learner=learner), small(learner=learner)
    answers = []
    for i, (a, b) in enumerate(zip(x, y)):
        for _ in range(i % 3):
            looked.predict_one(x[0])
            looked.predict_one(a)
        answers.append(looked.observe(a, b))
    assert (many.observe_many(x, y) == answers).all() and (weights_of(looked) == weights_of(many)).all()


def test_a_loaded_classifier_and_rows_that_wait_go_on(tmp_path):
    x, y = rows(30)
    model = tt.Classifier(hidden=3, classes=["low", "high"], learner=tt.TBPTT(preset="original", truncation=3))
    for a, b in zip(x, y):
        model.learn_one(a, "high" if b > 0 else "low")
    model.ask(x[0])
    model.save(tmp_path / "model")
    for other in (tt.Classifier.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        other.tell("high")
        assert other.learn_one(x[1], "low").predict_proba_one(x[2]).keys() == {"low", "high"}


def test_streams_have_states_of_their_own():
    x, y = rows(40)
    model = small(streams=2)
    for i in range(40):
        model.learn_one(x[i], y[i], stream=i % 2)
    assert model.predict_one(x[0], stream=0) != model.predict_one(x[0], stream=1)
    model.reset(0)
    fresh = model.predict_one(x[0], stream=0)
    assert fresh == pytest.approx(model.predict(x[:1])[0], abs=1e-6)
    model.learn_one(x[0], y[0], stream="third")  # takes the slot of one of the two
    assert len(model._slots) == 2


def test_looking_at_a_new_stream_takes_no_place():
    x, y = rows(40)
    for standardise in (False, True):
        model = small(streams=2, standardise=standardise)
        for i in range(20):
            model.learn_one(x[i], y[i], stream=i % 2)
        state = [model.predict_one(x[0], stream=name) for name in (0, 1)]
        fresh = model.predict_one(x[0], stream="new")
        assert fresh == pytest.approx(model.predict(x[:1])[0], abs=1e-6)
        assert [model.predict_one(x[0], stream=name) for name in (0, 1)] == state and len(model._slots) == 2
        assert model.observe(x[0], y[0], stream="new") == pytest.approx(fresh, abs=1e-6)
    tokens = tt.Regressor(hidden=3, vocabulary=4).learn_one(1, 2.0, stream="a")
    assert tokens.predict_one(3, stream="b") == pytest.approx(tokens.predict([3])[0], abs=1e-6)


def test_many_rows_without_answers_move_the_state():
    x, y = rows(30)
    one, many = small().learn_one(x[0], y[0]), small().learn_one(x[0], y[0])
    for row in x[1:10]:
        one.learn_one(row, None)
    many.learn_many(x[1:10], None)
    assert one.predict_one(x[10]) == many.predict_one(x[10])


def test_answers_may_come_late():
    x, y = rows(50)
    late, prompt = small(), small()
    late.learn_one(x[0], y[0])
    prompt.learn_one(x[0], y[0])
    first = [late.ask(each) for each in x[1:4]]
    assert first[0] == prompt.predict_one(x[1])
    for each in y[1:4]:
        late.tell(each)
    assert late.updates_ == 4
    with pytest.raises(ValueError, match="no row waits for its answer"):
        late.tell(0.0)


def test_missing_answers_move_the_state():
    x, y = rows(20)
    model = small()
    model.learn_one(x[0], y[0])
    before = model.predict_one(x[2])
    model.learn_one(x[1], None)
    assert model.predict_one(x[2]) != before


def test_targets_may_be_arrays_or_dicts():
    model = small()
    model.learn_one([1.0], {"u": 1.0, "v": 2.0})
    assert set(model.predict_one([1.0])) == {"u", "v"}
    model = small()
    model.learn_one([1.0], np.array([1.0, 2.0]))
    assert model.predict_one([1.0]).shape == (2,)


def test_targets_with_names_are_known_by_them():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    x, _ = rows(20)
    targets = [{"u": float(a), "v": float(b)} for a, b in x]
    table = pandas.DataFrame(targets)
    by_dict, by_row = small(), small()
    for i, (row, target) in enumerate(zip(x, targets)):
        by_dict.learn_one(row, target)
        by_row.learn_one(row, table[["v", "u"]].iloc[i] if i else target)
    assert by_dict.predict_one(x[0]) == by_row.predict_one(x[0])
    assert (by_dict.observe_many(x, table) == by_row.observe_many(x, table.to_numpy())).all()
    with pytest.raises(ValueError, match=r"^\[regressor\] y must have the columns \['u', 'v'\] in that order, got \['v', 'u'\]"):
        by_dict.learn_many(x, table[["v", "u"]])
    assert small().learn_one(x[0], table.iloc[0]).predict_one(x[0]).keys() == {"u", "v"}


@pytest.mark.parametrize("standardise", [False, True])
def test_a_stream_that_diverges_says_so(standardise):
    x, y = rows(200)
    model = small(optimizer=tt.SGD(rate=1e30), standardise=standardise).learn_one(x[0], y[0])
    for work in (lambda: model.learn_many(x, y), lambda: model.observe(x[0], y[0]), lambda: model.predict_one(x[0]),
                 lambda: model.learn_one(x[0], y[0]), lambda: model.observe_many(x, None), lambda: model.ask(x[0])):
        with pytest.raises(RuntimeError, match=r"^\[online\] the prediction is -?(nan|inf): what was learnt has diverged; begin "
                           r"anew with a lower optimizer.rate \(now 1e\+30\) or clipping \(optimizer.clip, now 0\)"):
            work()
    with pytest.raises(RuntimeError, match=r"^\[predict\] prediction 0 is -?(nan|inf): what was learnt has diverged"):
        model.predict(x)
    model.set_params(optimizer__rate=0.01).fit(x, y)
    assert np.isfinite(model.observe(x[0], y[0]))


def test_classes_of_a_stream():
    x, y = rows(2000)
    model = tt.Classifier(hidden=4, classes=["low", "high"], learner=tt.TBPTT(preset="original", truncation=3),
                          optimizer=tt.Adam(rate=0.01))
    assert model.predict_one(x[0]) is None and model.predict_proba_one(x[0]) == {}
    right = 0
    for i, (a, b) in enumerate(zip(x, y)):
        wanted = "high" if b > 0 else "low"
        right += i >= 1000 and model.predict_one(a) == wanted
        model.learn_one(a, wanted)
    assert right > 900
    shares = model.predict_proba_one(x[0])
    assert set(shares) == {"low", "high"} and sum(shares.values()) == pytest.approx(1)
    with pytest.raises(ValueError, match="there is no label 'other'"):
        model.learn_one(x[0], "other")
    with pytest.raises(ValueError, match="must know its classes before the first row"):
        tt.Classifier().learn_one(x[0], "low")


def test_a_forecaster_goes_on_from_its_own_answers():
    series = np.sin(0.3 * np.arange(3000))
    model = tt.Forecaster(hidden=8, learner=tt.TBPTT(preset="original", truncation=10), optimizer=tt.Adam(rate=0.01))
    with pytest.raises(ValueError, match="call learn_one first"):
        model.forecast(1)
    assert model.learn_one(1.0).forecast(2) == [1.0, 1.0]
    model = tt.Forecaster(hidden=8, learner=tt.TBPTT(preset="original", truncation=10), optimizer=tt.Adam(rate=0.01))
    for value in series:
        model.learn_one(value)
    ahead = model.forecast(5)
    assert model.forecast(5) == ahead
    wanted = np.sin(0.3 * np.arange(3000, 3005))
    assert np.abs(np.array(ahead) - wanted).mean() < 0.3
    with pytest.raises(ValueError, match="horizon must be at least 1"):
        model.forecast(0)
    other = tt.Forecaster(hidden=4)
    other.learn_one(1.0, {"a": 2.0}).learn_one(2.0, {"a": 3.0}).learn_one(3.0, {"a": 1.0})
    assert len(other.forecast(3, xs=[{"a": 1.0}, {"a": 2.0}])) == 3
    with pytest.raises(ValueError, match="xs must have 2 rows"):
        other.forecast(3)
    with pytest.raises(ValueError, match="x must have the names"):
        other.learn_one(1.0, {"b": 2.0})


def test_a_forecaster_has_parameters_and_begins_another_series():
    model = tt.Forecaster(hidden=4, learner=tt.TBPTT(preset="original", truncation=3))
    assert repr(model) == "Forecaster(hidden=4, learner=TBPTT(preset='original', truncation=3))"
    assert repr(tt.Forecaster(standardise=False)) == "Forecaster(standardise=False)"
    assert model.set_params(hidden=5, learner__truncation=4).get_params()["learner__truncation"] == 4
    for value in np.sin(np.arange(50.0)):
        model.learn_one(value)
    twin = pickle.loads(pickle.dumps(model))
    assert twin.forecast(3) == model.forecast(3)
    with pytest.raises(ValueError, match="call learn_one first"):
        model.reset().forecast(1)
    assert model.learn_one(0.5).forecast(3) != twin.learn_one(0.5).forecast(3)


def test_a_run_of_the_command_over_a_stream_is_read(tmp_path):
    command = pathlib.Path(os.environ.get("THROUGHTIME_COMMAND", ROOT / "build" / "release" / "throughtime"))
    if not command.exists():
        pytest.skip("the command is not built")
    (tmp_path / "series.csv").write_text("y\n" + "".join(f"{np.sin(0.3 * t):.5f}\n" for t in range(400)))
    (tmp_path / "run.toml").write_text(f"""
[task]
name = "series"
[task.series]
inputs = ["y"]
horizon = 1
[model]
hidden = 4
[learner]
name = "tbptt"
[learner.tbptt]
preset = "original"
truncation = 3
[run]
directory = "{tmp_path / 'run'}"
[stream]
metrics_every = 100
""")
    with open(tmp_path / "series.csv") as rows:
        done = subprocess.run([command, "stream", tmp_path / "run.toml"], stdin=rows, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    metrics = tt.Run(tmp_path / "run").metrics
    assert metrics.position == "rows" and list(metrics.iterations)[:3] == [100, 200, 300]
    assert any(metrics.curve(name)[1].size for name in metrics.names)


def test_river_knows_of_what_kind_a_model_is(monkeypatch):
    """Its evaluation refuses what is no model of its own kinds; a stand-in has such kinds."""
    base = types.ModuleType("river.base")
    base.Regressor, base.Classifier = abc.ABCMeta("Regressor", (), {}), abc.ABCMeta("Classifier", (), {})
    assert not isinstance(tt.Regressor(), base.Regressor)
    monkeypatch.setitem(sys.modules, "river.base", base)
    assert isinstance(tt.Regressor(), base.Regressor) and isinstance(tt.Classifier(), base.Classifier)
    assert not isinstance(tt.Regressor(), base.Classifier) and tt.Regressor()._supervised
    assert pickle.loads(pickle.dumps(tt.Regressor(hidden=3))).hidden == 3
    assert "learner" in inspect.signature(tt.Regressor).parameters  # which help and notebooks show


def resident_kilobytes():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])


def test_memory_is_flat():
    x, y = rows(20000)
    model = small(hidden=2)
    for i in range(2000):
        model.observe(x[i], y[i])
    model.learn_many(x, y)
    named = [{"a": a, "b": b} for a, b in x[:2000].tolist()]
    by_names = small(hidden=2).learn_one(named[0], 1.0)
    for row in named:
        by_names.learn_one(row, by_names.predict_one(row))
    before = resident_kilobytes()
    for _ in range(48):  # a million rows
        model.learn_many(x, y)
    for i in range(20000):
        model.observe(x[i], y[i])
    for _ in range(20):
        for row in named:
            by_names.learn_one(row, by_names.predict_one(row))
    assert resident_kilobytes() - before < 2048
    assert model.stream_memory_ > 0 and model.updates_ > 900_000


@pytest.mark.parametrize("x, y, line", [
    (np.zeros(3), 0.0, "a row must have 2 numbers"),
    (np.array([0.0, np.nan]), 0.0, "finite"),
    (np.zeros(2), np.inf, "finite"),
    (np.zeros(2), [0.0, 0.0], "a target has 1 numbers, got 2"),
    ({"a": 1.0, "b": 1.0}, 0.0, "without names"),
])
def test_bad_rows_are_refused_and_change_nothing(x, y, line):
    model = small()
    a, b = rows(10)
    for row, target in zip(a, b):
        model.learn_one(row, target)
    before = model.predict_one(a[0])
    with pytest.raises(ValueError, match=line):
        model.learn_one(x, y)
    assert model.predict_one(a[0]) == before


def test_names_must_stay_the_same():
    model = small()
    model.learn_one({"a": 1.0, "b": 2.0}, 1.0)
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.learn_one({"a": 1.0, "c": 2.0}, 1.0)
    with pytest.raises(ValueError, match="now missing"):
        model.learn_one({"a": 1.0}, 1.0)


def test_a_method_that_needs_the_end_is_refused():
    with pytest.raises(ValueError, match="bptt"):
        tt.Regressor(hidden=2, learner=tt.BPTT()).learn_one([1.0], 1.0)
    assert tt.Regressor(hidden=2).predict_one([1.0]) == 0.0
    with pytest.raises(ValueError, match="the first row needs its target"):
        tt.Regressor(hidden=2).learn_one([1.0], None)
