"""Inside of river's evaluation loops. River cannot be installed everywhere, so these are its documented calls in our own
words: what a model is asked for, in which order, with what. Where river is installed its own loops run, too."""

import abc
import collections
import copy
import datetime
import sys
import types

import numpy as np
import pytest
import throughtime as tt
from streams_support import rows, small


@pytest.fixture
def river(monkeypatch):
    """River's kinds of models, as far as isinstance goes."""
    base = types.ModuleType("river.base")
    base.Regressor, base.Classifier = abc.ABCMeta("Regressor", (), {}), abc.ABCMeta("Classifier", (), {})
    monkeypatch.setitem(sys.modules, "river.base", base)
    return base


class MAE:
    kind, requires_labels = "Regressor", True

    def __init__(self):
        self.errors = []

    def works_with(self, model, base):
        return isinstance(model, getattr(base, self.kind))

    def update(self, y_true, y_pred):
        self.errors.append(abs(y_true - y_pred))

    def get(self):
        return float(np.mean(self.errors)) if self.errors else 0.0


class LogLoss(MAE):
    kind, requires_labels = "Classifier", False

    def update(self, y_true, y_pred):
        self.errors.append(-np.log(y_pred.get(y_true, 1e-15)))


class Accuracy(MAE):
    kind = "Classifier"

    def update(self, y_true, y_pred):
        self.errors.append(float(y_true == y_pred))


def questions_and_answers(dataset, delay):
    """Every row as a question, and `delay` rows later with its answer."""
    open_questions = collections.deque()
    for i, (x, y) in enumerate(dataset):
        while open_questions and open_questions[0][0] + delay < i:
            yield open_questions.popleft()
        yield i, dict(x), None
        open_questions.append((i, x, y))
    yield from open_questions


def iter_progressive_val_score(dataset, model, metric, base, step=1, delay=0, measure_memory=False):
    assert metric.works_with(model, base), "refused before the first row"
    ask = model.predict_one if metric.requires_labels else model.predict_proba_one
    guesses, answered = {}, 0
    for i, x, y in questions_and_answers(dataset, delay):
        if y is None:
            guesses[i] = ask(x)
            continue
        guess = guesses.pop(i)
        if guess != {} and guess is not None:
            metric.update(y_true=y, y_pred=guess)
        assert model._supervised
        model.learn_one(x, y)
        answered += 1
        if answered % step == 0:
            state = {type(metric).__name__: metric.get(), "Step": answered}
            yield {**state, "Memory": model._raw_memory_usage} if measure_memory else state


def progressive_val_score(dataset, model, metric, base, **more):
    for _ in iter_progressive_val_score(dataset, model, metric, base, **more):
        pass
    return metric


def evaluate_series(dataset, model, metric, horizon, grace_period=None):
    """A metric for each step ahead; xs are always given, in a queue."""
    metrics = [copy.deepcopy(metric) for _ in range(horizon)]
    ahead = collections.deque(maxlen=horizon + 1)
    grace = horizon if grace_period is None else grace_period
    for row in dataset:
        ahead.append(row)
        if len(ahead) <= horizon:
            continue
        (x, y), later = ahead[0], list(ahead)[1:]
        if grace > 0:
            grace -= 1
        else:
            guess = model.forecast(horizon, xs=collections.deque(x for x, _ in later))
            assert len(guess) == horizon and all(isinstance(value, float) for value in guess)
            for each, (_, wanted), value in zip(metrics, later, guess):
                each.update(y_true=wanted, y_pred=value)
        model.learn_one(y=y, x=x)
    return metrics


def data(count=200):
    x, y = rows(count)
    return [({"u": float(row[0]), "v": float(row[1])}, float(target)) for row, target in zip(x, y)]


def by_hand(model, dataset):
    errors = []
    for x, y in dataset:
        errors.append(abs(model.predict_one(x) - y))
        model.learn_one(x, y)
    return float(np.mean(errors))


def test_a_progressive_validation(river):
    score = progressive_val_score(data(), small(standardise=True), MAE(), river)
    assert score.get() == by_hand(small(standardise=True), data()) and len(score.errors) == 200
    states = list(iter_progressive_val_score(data(), small(), MAE(), river, step=50, measure_memory=True))
    assert [state["Step"] for state in states] == [50, 100, 150, 200]
    weights = sum(value.size for value in small().learn_one(*data(1)[0]).state_dict().values())
    assert {state["Memory"] for state in states} == {8 * weights + small().learn_one(*data(1)[0]).stream_memory_}
    assert small()._raw_memory_usage == 0


def test_a_delayed_progressive_validation(river):
    """Predictions look ahead of what is learned; so they are those of a model that has seen less."""
    score = progressive_val_score(data(), small(), MAE(), river, delay=5)
    model, errors, dataset = small(), [], data()
    for i, (x, y) in enumerate(dataset):
        if i > 5:
            model.learn_one(*dataset[i - 6])
        errors.append(abs(model.predict_one(x) - y))
    assert score.get() == pytest.approx(np.mean(errors))


def test_classes_by_label_and_by_probability(river):
    dataset = [(x, "high" if y > 0 else "low") for x, y in data(600)]
    for metric in (Accuracy(), LogLoss()):
        model = tt.Classifier(hidden=4, classes=["low", "high"], optimizer=tt.Adam(rate=0.02),
                              learner=tt.TBPTT(preset="original", truncation=3))
        progressive_val_score(dataset, model, metric, river)
        assert len(metric.errors) == 599, "nothing is said before anything was learned"
        early, late = np.mean(metric.errors[:100]), np.mean(metric.errors[-100:])
        assert late > early if metric.requires_labels else late < early


def test_rows_of_an_array_without_names(river):
    """Their columns are called by their numbers, and so are the outputs."""
    x, y = rows(50)
    numbered = [(dict(enumerate(row)), float(target)) for row, target in zip(x, y)]
    model = small()
    score = progressive_val_score(numbered, model, MAE(), river)
    assert score.get() == by_hand(small(), [({"u": row[0], "v": row[1]}, t) for (row, t) in numbered])
    assert list(model.feature_names_in_) == [0, 1]
    assert model.predict_one({1: 2.0, 0: 1.0}) == model.predict_one({0: 1.0, 1: 2.0}) == model.predict_one([1.0, 2.0])
    for other in ({0: 1.0, 2: 2.0}, {0: 1.0}, {"0": 1.0, "1": 2.0}, {0: 1.0, 1: 2.0, 2: 3.0}):
        with pytest.raises(ValueError, match="The feature names should match"):
            model.learn_one(other, 1.0)
    outputs = small().learn_one({0: 1.0}, {0: 1.0, 1: 2.0})
    assert set(outputs.predict_one({0: 1.0})) == {0, 1}
    fitted = small(epochs=1).fit(x, y)
    assert fitted.predict_one({1: 2.0, 0: 1.0}) == fitted.predict_one([1.0, 2.0])
    with pytest.raises(ValueError, match="a row has 2 numbers without names, got 2 with names"):
        fitted.learn_one({1: 1.0, 2: 2.0}, 1.0)
    pairs = small().learn_one({("a", 1): 1.0, ("b", 2): 2.0}, 1.0)
    assert pairs.predict_one({("b", 2): 2.0, ("a", 1): 1.0}) == pairs.predict_one([1.0, 2.0])


def test_a_model_that_is_older_than_river(monkeypatch):
    """Whoever asks a kind that was not there is told, also where it was asked before and said no."""
    regressor, classifier = small(), tt.Classifier(classes=[0, 1])
    base = types.ModuleType("river.base")
    base.Regressor, base.Classifier = abc.ABCMeta("Regressor", (), {}), abc.ABCMeta("Classifier", (), {})
    assert not isinstance(regressor, base.Regressor)
    monkeypatch.setitem(sys.modules, "river.base", base)
    assert isinstance(regressor, base.Regressor) and not isinstance(regressor, base.Classifier)
    assert isinstance(classifier, base.Classifier) and not isinstance(classifier, base.Regressor)
    assert regressor.__class__ is tt.Regressor and isinstance(copy.deepcopy(regressor), tt.Regressor)


def airline_passengers(count=60):
    """Like river's data set of that name: a date beside each value."""
    months = [datetime.datetime(1949 + i // 12, 1 + i % 12, 1) for i in range(count)]
    return [({"month": month}, int(100 + i + 20 * np.sin(i))) for i, month in enumerate(months)]


def forecaster(**more):
    return tt.Forecaster(hidden=4, learner=tt.TBPTT(preset="original", truncation=3), **more)


def test_an_evaluation_of_forecasts():
    series = airline_passengers()
    without = evaluate_series([(None, y) for _, y in series], forecaster(), MAE(), horizon=4)
    assert [len(each.errors) for each in without] == [52] * 4 and np.isfinite([each.get() for each in without]).all()
    empty = evaluate_series([({}, y) for _, y in series], forecaster(), MAE(), horizon=4)
    ignored = evaluate_series(series, forecaster(ignore=["month"]), MAE(), horizon=4)
    assert [each.get() for each in without] == [each.get() for each in empty] == [each.get() for each in ignored]
    numbers = evaluate_series([({"month": x["month"].month, "day": x["month"]}, y) for x, y in series],
                              forecaster(ignore=["day"]), MAE(), horizon=4)
    assert [each.get() for each in numbers] != [each.get() for each in without]
    line = r"\[forecaster\] x\['month'\] must be a number, got datetime.* leave it out: Forecaster\(ignore=\['month'\]\)"
    with pytest.raises(ValueError, match=line):
        evaluate_series(series, forecaster(), MAE(), horizon=4)


def test_forecasts_ask_for_as_many_rows_as_they_need():
    model = forecaster().learn_one(1.0, {"a": 2.0}).learn_one(2.0, {"a": 3.0}).learn_one(3.0, {"a": 1.0})
    xs = [{"a": 1.0}, {"a": 2.0}, {"a": 5.0}]
    assert model.forecast(3, xs=xs) == model.forecast(3, xs=xs[:2]) == model.forecast(3, xs=iter(xs))
    assert len(model.forecast(1)) == 1
    for wrong, line in ((xs + xs, "got 6"), (xs[:1], "got 1"), ([None] * 3, "x must have 1 numbers, got 0"),
                        ([{"a": 1.0}, {"a": 2.0}, {"a": "x"}], r"x\['a'\] must be a number, got 'x'"),
                        (7, "xs must be a list of rows, got 7")):
        with pytest.raises(ValueError, match=line):
            model.forecast(3, xs=wrong)
    plain = forecaster().learn_one(1.0).learn_one(2.0)
    assert plain.forecast(2, xs=[None, {}]) == plain.forecast(2) == plain.forecast(2, xs=[])
    for wrong in ([1.0, 2.0], [{"a": 1.0}, None]):
        with pytest.raises(ValueError, match="xs is for rows that have x beside their value; these have none"):
            plain.forecast(2, xs=wrong)
    for horizon in (2**32 + 1, 10**7):
        with pytest.raises(ValueError, match="horizon must be at most 1000000"):
            plain.forecast(horizon)


def test_a_refused_row_of_a_series_is_none():
    model = forecaster()
    for x in ({"a": "b"}, {"a": datetime.datetime(2000, 1, 1)}, {"a": np.datetime64("2000-01-01")}, {"a": np.nan}):
        with pytest.raises(ValueError, match=r"\[forecaster\]"):
            model.learn_one(1.0, x)
    model.learn_one(1.0, {"c": 1.0}).learn_one(2.0, {"c": 1.0})  # the names of a row that was refused are none
    before = model.forecast(2, xs=[{"c": 1.0}])
    for y, x in (("3", {"c": 1.0}), (None, {"c": 1.0}), (10**400, {"c": 1.0}), (1e300, {"c": 1.0}), (1.0, [1.0, 2.0]),
                 (1.0, [[1.0]]), (1.0, "5"), (1.0, {"c": 1.0, "d": 1.0})):
        with pytest.raises(ValueError, match=r"\[forecaster\]"):
            model.learn_one(y, x)
    assert model.forecast(2, xs=[{"c": 1.0}]) == before
    with pytest.raises(ValueError, match="x must have 1 numbers, got 2"):
        model.reset().learn_one(1.0, [1.0, 2.0])
    assert len(model.learn_one(1.0, [1.0]).forecast(2, xs=[{"c": 2.0}])) == 2


def test_what_a_forecaster_ignores_is_a_parameter():
    model = tt.Forecaster(ignore=["month"], hidden=3)
    assert repr(model) == "Forecaster(hidden=3, ignore=['month'])" and model.get_params()["ignore"] == ["month"]
    assert repr(tt.Forecaster(ignore=["a"])) == "Forecaster(ignore=['a'])"
    assert model.set_params(ignore=["a", "b"], hidden=4).ignore == ["a", "b"] and model.model.hidden == 4
    with pytest.raises(ValueError, match="ignore must be a list of names, got 'month'"):
        tt.Forecaster(ignore="month")
    with pytest.raises(ValueError, match="ignore must be a list of names, got 3"):
        model.set_params(ignore=3, hidden=5)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(ignore=["c"], hiden=5)
    assert model.ignore == ["a", "b"] and model.model.hidden == 4


def test_river_s_own_loops():
    river = pytest.importorskip("river", reason="river is not installed")
    from river import datasets, evaluate, metrics, stream, time_series

    assert evaluate.progressive_val_score(data(), small(standardise=True), metrics.MAE()).get() == pytest.approx(
        by_hand(small(standardise=True), data()))
    x, y = rows(100)
    steps = list(evaluate.iter_progressive_val_score(stream.iter_array(x, y), small(), metrics.MAE(), step=25,
                                                     measure_memory=True))
    assert [step["Step"] for step in steps] == [25, 50, 75, 100]
    metric = time_series.evaluate(datasets.AirlinePassengers(), forecaster(ignore=["month"]), metrics.MAE(), horizon=4)
    assert np.isfinite(metric.get()).all() and river
