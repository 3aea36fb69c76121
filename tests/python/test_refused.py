"""What is refused, or fails, leaves everything as it was: the model, its stream, its scales and its parameters."""

import numpy as np
import pytest
import throughtime as tt
from streams_support import rows, small, weights_of

X, Y = rows(60)
WILD = dict(cell="rnn_relu", learner=tt.BPTT(), optimizer=tt.SGD(rate=1e18))  # its loss is no number soon


def fitted(**more):
    return small(**{"epochs": 1, "standardise": True, **more}).fit(X, Y)


def state_of(model):
    """All that can be seen of a model: answers, weights, scales by their answers, what its stream says next."""
    return [model.predict(X), weights_of(model), model.predict_one(X[0]), model.history_.events, model.n_iter_, model.memory_,
            model.n_features_in_, [model.updates_]]


def same(a, b):
    return all(np.array_equal(one, other) for one, other in zip(a, b))


FAILURES = {
    "weights below 0": (ValueError, lambda model, fit: fit(X * 100, Y, sample_weight=-np.ones(60))),
    "no numbers": (ValueError, lambda model, fit: fit(np.full((60, 2), np.nan), Y)),
    "no inputs": (ValueError, lambda model, fit: fit(X[:0], Y[:0])),
    "too few targets": (ValueError, lambda model, fit: fit(X * 100, Y[:3])),
    "no function": (ValueError, lambda model, fit: fit(X * 100, Y, callbacks=[3])),
    "one function": (ValueError, lambda model, fit: fit(X * 100, Y, callbacks=print)),
    "no option": (ValueError, lambda model, fit: fit(X, model.set_params(options={"model.hiden": 1}) and Y)),
    "no method": (ValueError, lambda model, fit: fit(X, model.set_params(learner=3) and Y)),
    "diverges": (RuntimeError, lambda model, fit: fit(np.full((60, 2), 1e30), np.full(60, 1e38))),
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("more", [False, True], ids=["fit", "partial_fit"])
def test_a_training_that_fails_leaves_model_and_stream_as_they_were(name, more):
    kind, work = FAILURES[name]
    model = fitted(standardise=name != "diverges").learn_many(X[:20], Y[:20])
    before, parameters = state_of(model), model.get_params()
    with pytest.raises(kind):
        work(model, model.partial_fit if more else model.fit)
    model.set_params(**{key: parameters[key] for key in ("options", "learner")})
    assert same(state_of(model), before)
    twin = fitted(standardise=name != "diverges").learn_many(X[:20], Y[:20])
    assert model.observe(X[20], Y[20]) == twin.observe(X[20], Y[20]), "the stream goes on"


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("more", [False, True], ids=["fit", "partial_fit"])
def test_a_first_training_that_fails_leaves_no_model(name, more):
    kind, work = FAILURES[name]
    model = small(epochs=5, **WILD) if name == "diverges" else small(epochs=5)
    with pytest.raises(kind):
        work(model, model.partial_fit if more else model.fit)
    with pytest.raises(ValueError, match="not fitted yet"):
        model.predict(X)
    assert not [each for each in vars(model) if each.endswith("_")]
    assert model.predict_one(X[0]) == 0.0


def test_classes_of_a_first_call_that_was_refused_are_none():
    labels = (Y > 0).astype(int)
    model = tt.Classifier(hidden=2, epochs=1)
    for wrong in (dict(batch=0), dict(batch=4)):
        with pytest.raises(ValueError):
            model.set_params(**wrong).partial_fit(X * np.nan, labels, classes=[0, 1, 2])
    assert list(model.partial_fit(X, labels + 5, classes=[5, 6]).classes_) == [5, 6]


def test_what_a_callback_throws_keeps_what_was_learnt():
    def fail(event):
        raise KeyError(event["event"])

    model = small(epochs=3)
    with pytest.raises(KeyError, match="start"):
        model.fit(X, Y, callbacks=[fail])
    assert model.n_iter_ >= 1 and model.predict(X).shape == (60,)


@pytest.mark.parametrize("x, y", [([np.nan, 1.0], 1.0), ([1.0, 2.0], np.inf), ([1.0, 2.0], "a"), ([1.0, "a"], 1.0), ([], 1.0),
                                  ({"a": None}, 1.0), ([10**400], 1.0), ([1.0], 10**400), ([1.0], None), ([1.0], {})])
def test_a_first_row_that_is_refused_is_none(x, y):
    for standardise in (False, True):
        model = small(standardise=standardise)
        with pytest.raises(ValueError):
            model.learn_one(x, y)
        with pytest.raises((ValueError, TypeError)):  # what holds no numbers at all is a TypeError for scikit-learn
            model.learn_many([x], [y])
        assert model.predict_one([1.0, 2.0, 3.0]) == 0.0 and not hasattr(model, "n_features_in_")
        assert model.learn_one([1.0, 2.0, 3.0], 1.0).n_features_in_ == 3


def test_a_row_that_is_refused_takes_no_place():
    for standardise in (False, True):
        model = small(streams=2, standardise=standardise)
        for i in range(20):
            model.learn_one(X[i], Y[i], stream=i % 2)
        before = [model.predict_one(X[0], stream=name) for name in (0, 1)]
        for x, y in (([np.nan, 0.0], 1.0), (X[0], np.inf), (X[0], [1.0, 2.0]), ([1.0], 1.0)):
            with pytest.raises(ValueError):
                model.learn_one(x, y, stream="new")
        with pytest.raises(ValueError):
            model.ask([np.nan, 0.0], stream="new")
        assert [model.predict_one(X[0], stream=name) for name in (0, 1)] == before and set(model._slots) == {0, 1}


def test_parameters_that_a_stream_cannot_take_up_leave_it_alone():
    model = small().learn_many(X[:20], Y[:20])
    before, method = model.predict_one(X[20]), model.learner
    for wrong in (dict(learner=tt.BPTT()), dict(hidden=9), dict(options={"model.step": 0.5}), dict(standardise=True)):
        undo = {name: model.get_params()[name] for name in wrong}
        model.set_params(**wrong)
        for work in (lambda: model.learn_one(X[20], Y[20]), lambda: model.predict_one(X[20]), lambda: model.ask(X[20]),
                     lambda: model.learn_many(X[20:], Y[20:])):
            with pytest.raises(ValueError):
                work()
        assert model.set_params(**undo).predict_one(X[20]) == before, wrong
    assert model.learner is method


def test_many_rows_are_learned_or_none():
    model = tt.Regressor(vocabulary=3, hidden=2, learner=tt.TBPTT(preset="original", truncation=3)).learn_one(1, 1.0)
    for wrong in ([0, 1, 3], [0, -1, 1], [0, 1, 2**32]):
        with pytest.raises(ValueError, match="token"):
            model.learn_many(np.array(wrong), np.zeros(3))
    assert model.updates_ == 1
    with pytest.raises(ValueError, match="a token must be between 0 and 2, got -1"):
        model.predict_one(-1, stream="other")
    for wrong in (2**32 + 1, -2**40):
        with pytest.raises(ValueError, match="a token must be at "):
            model.learn_one(wrong, 1.0)
    assert model.updates_ == 1


def test_parameters_are_set_together_or_not_at_all():
    model = tt.Regressor(hidden=2, learner=tt.FPTT(alpha=0.5), optimizer=tt.Adam(rate=0.1))
    before = model.get_params()
    for wrong in (dict(hidden=5, bogus=1), dict(hidden=5, learner__bogus=1), dict(hidden=5, learner__alpha=-1),
                  dict(learner__alpha=0.1, optimizer__rate=-1), dict(learner=tt.FPTT(), hidden__a=1), dict(epochs__x=1),
                  dict(learner=None, learner__alpha=0.1)):
        with pytest.raises(ValueError):
            model.set_params(**wrong)
        assert model.get_params() == before
    with pytest.raises(ValueError, match=r"\[fptt\] alpha must be at least 0"):
        model.learner.set_params(windows=3, alpha=-1)
    with pytest.raises(ValueError, match=r"\[fptt\] there is no option"):
        model.learner.set_params(windows=3, bogus=1)
    assert model.get_params() == before
    model.set_params(learner=tt.FPTT(window_length=3), learner__alpha=0.25)
    assert model.learner == tt.FPTT(window_length=3, alpha=0.25)


# ---------------------------------------------------------------- rows that wait


def test_rows_of_a_stream_that_lost_its_place_wait_no_more():
    model = small(streams=1).learn_one(X[0], Y[0], stream="a")
    model.ask(X[1], stream="a")
    model.learn_one(X[2], Y[2], stream="b")  # in the place of the other one
    before = model.predict_one(X[3], stream="b")
    with pytest.raises(ValueError, match="no row waits for its answer"):
        model.tell(1.0, stream="a")
    assert model.predict_one(X[3], stream="b") == before and set(model._slots) == {"b"} and not model._waiting


def test_rows_that_wait_are_bounded():
    model = small(hidden=1).learn_one(X[0], Y[0])
    for _ in range(10_000):
        model.ask(X[1])
    with pytest.raises(ValueError, match="10000 rows of the stream wait for their answers, and no more can"):
        model.ask(X[1])
    model.tell(None).ask(X[1])
    with pytest.raises(ValueError, match="no more can"):
        model.ask(X[1])
    model.reset()
    with pytest.raises(ValueError, match="no row waits"):
        model.tell(1.0)


def test_rows_are_learned_in_their_order():
    model, prompt = small(streams=2).learn_one(X[0], Y[0]), small().learn_one(X[0], Y[0])
    model.ask(X[1])
    model.ask(X[2])
    for work in (lambda: model.learn_one(X[3], Y[3]), lambda: model.observe(X[3], Y[3]),
                 lambda: model.learn_many(X[3:5], Y[3:5])):
        with pytest.raises(ValueError, match="2 rows of the stream must be answered before the next one is learned"):
            work()
    model.tell(Y[1]).tell(None).learn_one(X[3], Y[3])
    prompt.learn_one(X[1], Y[1]).learn_one(X[2], None).learn_one(X[3], Y[3])
    assert np.allclose(weights_of(model), weights_of(prompt), atol=1e-6)
    model.ask(X[4])
    assert model.learn_one(X[5], Y[5], stream="other").tell(Y[4])  # each stream has an order of its own
    with pytest.raises(ValueError, match="stream must be a number, a text or None"):
        model.ask(X[1], stream=[1])
    with pytest.raises(ValueError, match="stream must be a number, a text or None"):
        model.tell(1.0, stream=[1])
    with pytest.raises(ValueError, match="no row waits"):
        small().tell(1.0)


# ---------------------------------------------------------------- nothing is passed over


@pytest.mark.parametrize("parameters, line", [
    (dict(options={"train.iterations": 3}), "options: nothing here reads train.iterations; the parameter epochs says"),
    (dict(options={"train.evaluate_batches": 3}), "options: nothing here reads train.evaluate_batches; a validation is"),
    (dict(options={"run.directory": "x"}), "options: nothing here reads run.directory; fit has the argument directory"),
    (dict(options={"run.name": "x"}), "options: nothing here reads run.name; a run is called as its directory"),
    (dict(options={"run.rank_timeout": 1.0}), "options: nothing here reads run.rank_timeout; one process trains"),
    (dict(options={"stream.scaling": "forgetting"}), "options: stream.scaling is about the scales of standardise=True"),
    (dict(options={"model.step": 0.5}), "options: model.step is an option of the cell antisymmetric"),
    (dict(options={"model.experts": 3}), "options: model.experts is an option of the head"),
    (dict(options={"model.initialise_range": 0.5}), "options: model.initialise_range is an option of the initialise uniform"),
    (dict(vocabulary=2.5), "vocabulary must be a whole number, got 2.5"),
    (dict(vocabulary=2**32 + 5), "vocabulary must be at most 2147483647, got 4294967301"),
])
def test_parameters_that_nothing_reads_are_refused(parameters, line):
    for work in (lambda model: model.fit(X, Y), lambda model: model.partial_fit(X, Y),
                 lambda model: model.learn_one(X[0], Y[0])):
        with pytest.raises(ValueError) as error:
            work(small(**parameters))
        assert line in str(error.value), str(error.value)


def test_parameters_that_need_an_argument_are_refused_without_it(tmp_path):
    with pytest.raises(ValueError, match="patience waits for validations: give fit validation"):
        small(patience=3).fit(X, Y)
    model = small(patience=3, epochs=1).fit(X, Y, validation=(X, Y))
    model.partial_fit(X, Y).learn_one(X[0], Y[0])  # they have no validation, and go on
    every = small(epochs=1, options={"run.checkpoint_every": 1})
    with pytest.raises(ValueError, match="run.checkpoint_every is for a run directory: give fit directory="):
        every.fit(X, Y)
    assert every.fit(X, Y, directory=tmp_path / "run").learn_one(X[0], Y[0])
    scaled = {"stream.scaling": "forgetting", "stream.scale_memory": 100}
    assert small(epochs=1, standardise=True, options=scaled).fit(X, Y)


def test_predictions_are_made_as_the_parameters_say_now():
    """And the stream is left alone until its next row."""
    model = small(epochs=1).fit(X, Y).learn_many(X[:20], Y[:20])
    before, looked = model.predict(X), model.predict_one(X[20])
    model.set_params(engine="reference")
    exact = model.predict(X)
    assert (exact != before).any() and np.allclose(exact, before, atol=1e-5)
    assert model._live and (model.predict(X) == exact).all()
    model.set_params(engine="none")
    with pytest.raises(ValueError, match="unknown run.engine 'none'"):
        model.predict(X)
    with pytest.raises(ValueError, match="unknown run.engine 'none'"):
        tt.diagnose(model, X, Y)
    model.set_params(engine="cpu")
    assert (model.predict(X) == before).all() and model.predict_one(X[20]) == looked
    model.set_params(hidden=9)  # is for the next fit
    assert (model.predict(X) == before).all()
    assert model.fit(X, Y).state_dict()["rnn.weight_hh_l0"].shape == (36, 9)


def test_a_diagnosis_is_made_as_the_parameters_say_now():
    model = small(epochs=1, learner=tt.AdaptiveTBPTT(burn_in=5, lags=10)).fit(X, Y).learn_many(X[:20], Y[:20])
    before = model.predict_one(X[20])
    assert tt.diagnose(model, X, Y).document["burn_in"] == 5
    model.set_params(learner__burn_in=3, learner__lags=12)
    found = tt.diagnose(model, X, Y, positions=4)
    assert (found.document["burn_in"], found.document["lags"], found.document["positions"]) == (3, 12, 4)
    model.set_params(learner__burn_in=5, learner__lags=10)
    assert model.predict_one(X[20]) == before
    with pytest.raises(ValueError, match="these options describe another model"):
        tt.diagnose(model.set_params(hidden=9), X, Y)


def test_short_sequences_are_diagnosed_with_a_shorter_burn_in():
    x = X.reshape(6, 10, 2)
    model = small(epochs=1).fit(x, x[:, :, 0])
    with pytest.raises(ValueError, match="lower lags or burn_in"):
        tt.diagnose(model, x, x[:, :, 0], lags=4)
    found = tt.diagnose(model, x, x[:, :, 0], lags=4, burn_in=3)
    assert (found.document["burn_in"], len(found.lengths)) == (3, 5)
    assert tt.diagnose(model, x, x[:, :, 0], burn_in=0).document["lags"] == 10
    three = tt.diagnose(model, x[:, :3], x[:, :3, 0], burn_in=0)
    assert three.document["lags"] == 3 and np.isfinite(three.phi).all()
    for wrong, line in ((dict(burn_in=-2), "burn_in must be at least -1"), (dict(lags=2.5), "lags must be a whole number"),
                        (dict(positions=2**32 + 4), "positions must be at most"), (dict(lags=1), "lags must be at least 2")):
        with pytest.raises(ValueError, match=line):
            tt.diagnose(model, x, x[:, :, 0], **wrong)
    with pytest.raises(ValueError, match=r"\[diagnose\] the model must be a Regressor or a Classifier, got a Forecaster"):
        tt.diagnose(tt.Forecaster(), x, x[:, :, 0])


# ---------------------------------------------------------------- arrays that are not what they seem


def test_shapes_that_differ_between_sequences_are_refused():
    """The library reads as many numbers as the first one has."""
    x = [X[:20], X[20:25]]
    for y in ([np.zeros((20, 2)), np.zeros((5, 1))], [np.zeros((20, 1)), np.zeros((5, 3))]):
        with pytest.raises(ValueError, match="all targets of y must have as many numbers, got 1, [23]|got 1, 2"):
            small(epochs=1).fit(x, y)
        with pytest.raises(ValueError, match=r"\[window\] all sequences of y must have as many numbers for a target"):
            tt.Window(x, y, 2, [0, 0], [0, 1])
    with pytest.raises(ValueError, match="all targets of y must have as many numbers, got 2, 4"):
        small(epochs=1, targets="sequence").fit(x, [np.zeros(2), np.zeros(4)])
    with pytest.raises(ValueError, match=r"\[window\] all sequences of X must have as many features, got 1, 2"):
        tt.Window([X[:20], X[20:25, :1]], [Y[:20], Y[20:25]], 2, [0, 0], [0, 1])
    with pytest.raises(ValueError, match=r"\[window\] y must have one label for each step"):
        tt.Window([X], [np.zeros((60, 2), int)], 2, [0], classes=2)
    with pytest.raises(ValueError, match=r"\[window\] X and y must have as many sequences, and these as many steps"):
        tt.Window([X], [3.0], 2, [0])


@pytest.mark.parametrize("work, line", [
    (lambda: tt.Window([X], [Y], 2, [0.5]), "[window] start must be whole numbers, got float64"),
    (lambda: tt.Window([X], [Y], 2, [0], [0.5]), "[window] sequence must be whole numbers, got float64"),
    (lambda: tt.Window([X], [Y], 2, [0], [2**32]), "[window] sequence must be between -2147483648 and 2147483647, got"),
    (lambda: tt.Window([X], [Y], 2.5, [0]), "[window] steps must be a whole number, got 2.5"),
    (lambda: tt.Window([X], [Y], 2**32 + 2, [0]), "[window] steps must be at most 2147483647, got 4294967298"),
    (lambda: tt.Window([X], [Y], 2, [0], classes=2), "[window] y must be whole numbers, got float32"),
    (lambda: tt.Model(2**32 + 1, 1), "[model] features must be at most 2147483647, got 4294967297"),
    (lambda: tt.Model(1, 1.5), "[model] outputs must be a whole number, got 1.5"),
    (lambda: tt.Engine(tt.Model(1, 1, hidden=2)).buffer(2, 1.5), "[engine] a side of a buffer must be a whole number"),
    (lambda: tt.Engine(tt.Model(1, 1, hidden=2)).buffer(2**33, 2**33), "[engine] the numbers of a buffer must be at most"),
    (lambda: small(vocabulary=5).fit(np.full(50, 2**32), np.zeros(50)), "[regressor] tokens must be between"),
])
def test_numbers_that_would_become_others_are_refused(work, line):
    with pytest.raises(ValueError) as error:
        work()
    assert str(error.value).startswith(line), str(error.value)


def test_a_buffer_belongs_to_its_engine():
    model = tt.Model(features=2, outputs=1, hidden=2)
    one, other = tt.Engine(model), tt.Engine(model)
    window = tt.Window([X], [Y], 2, [0])
    with pytest.raises(ValueError, match=r"\[engine\] <Buffer 2: \[1\]> belongs to another engine"):
        one.unroll(window, loss_sum=other.buffer(1))
    one.unroll(window)
    for work in (lambda: one.pull_back(other.gradient), lambda: one.apply_update(0.1, gradient=other.gradient)):
        with pytest.raises(ValueError, match="belongs to another engine"):
            work()
