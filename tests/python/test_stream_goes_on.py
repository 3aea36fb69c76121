"""What a stream takes over: from a fit, from other parameters, from the scales."""

import pickle

import numpy as np
import pytest
import throughtime as tt
from streams_support import rows, small, weights_of
from throughtime import _library


def test_other_parameters_are_taken_up_with_the_next_row():
    """The weights go on, and so does what the optimizer remembers, where it is the same one; states begin with zero."""
    x, y = rows(40)
    changed, alone = small(), small()
    for a, b in zip(x[:20], y[:20]):
        changed.learn_one(a, b)
        alone.learn_one(a, b)
    state = changed.predict_one(x[20])
    assert changed.set_params(epochs=3).predict_one(x[20]) == state  # nothing that a stream reads
    changed.set_params(learner__truncation=1, streams=2)
    assert changed.predict_one(x[20]) == pytest.approx(changed.predict(x[20:21])[0], abs=1e-6) != state
    alone.reset()
    for a, b in zip(x[20:], y[20:]):
        changed.learn_one(a, b)
        alone.learn_one(a, b)
    assert (weights_of(changed) != weights_of(alone)).any()
    changed.learn_one(x[0], y[0], stream="second")
    assert len(changed._slots) == 2
    with pytest.raises(ValueError, match="these options describe another model than the one that has the weights"):
        changed.set_params(hidden=7).learn_one(x[0], y[0])
    assert changed.set_params(hidden=4).learn_one(x[0], y[0]).updates_ > 20


def test_rows_that_wait_end_with_their_stream():
    x, y = rows(30)
    model = small()
    for end in (lambda: model.partial_fit(x, y), lambda: model.load_state_dict(model.state_dict()),
                lambda: model.set_params(learner__truncation=model.learner.truncation + 1)):
        model.learn_one(x[0], y[0]).ask(x[1])
        end()
        with pytest.raises(ValueError, match="no row waits for its answer"):
            model.tell(1.0)


def test_tokens_have_targets_that_are_scaled():
    tokens, y = np.arange(60) % 3, 1000.0 + 5.0 * (np.arange(60) % 3)
    model = tt.Regressor(hidden=4, vocabulary=3, standardise=True, epochs=60, optimizer=tt.Adam(rate=0.05)).fit(tokens, y)
    assert np.abs(model.predict(tokens) - y).mean() < 2
    assert model.predict_one(1) == pytest.approx(model.predict(tokens[1:2])[0], abs=1e-3)
    assert model.learn_one(2, 1010.0).predict_one(0) > 900


def test_scales_are_the_same_for_arrays_and_streams():
    """Also for a column that never changed: nothing is known about what its change would mean."""
    x, y = rows(50)
    x[:, 1] = 3.0
    for target in (y, np.full(50, 7.0, np.float32)):
        model = small(standardise=True, epochs=2).fit(x, target)
        for row in (x[0], np.array([0.5, 4.0], np.float32)):
            assert model.predict(row[None])[0] == pytest.approx(model.predict_one(row), abs=1e-5)
    with pytest.raises(ValueError, match="standardise was True when the weights were learned; fit begins anew"):
        model.set_params(standardise=False).learn_one(row, 1.0)
    with pytest.raises(ValueError, match="standardise was True"):
        model.predict(x)
    assert model.set_params(standardise=True).learn_one(row, 1.0)
    whole = small(standardise=True, epochs=2).fit(x.reshape(5, 10, 2), np.arange(5.0))
    means, deviations = np.empty(3), np.empty(3)
    library = _library.library()
    _library.check(library.tt_scales_get(whole._model.number, means.ctypes.data, deviations.ctypes.data, 3))
    assert means[0] == pytest.approx(x[:, 0].mean(), abs=1e-3) and means[2] == pytest.approx(2.0, abs=1e-3)


STREAMED = [tt.TBPTT(preset="original", truncation=3), tt.FPTT(window_length=1, alpha=0.5)]


@pytest.mark.parametrize("learner", STREAMED, ids=["tbptt", "fptt"])
@pytest.mark.parametrize("way", ["goes on", "pickled", "partial_fit"])
def test_a_stream_goes_on_where_training_ended(learner, way):
    """A recording that a fit of one row and windows of one step goes through is a stream: with the optimizer, W-bar and
    lambda of a first half, the second ends with the weights of a stream that has had both."""
    x, y = rows(40)
    shape = dict(hidden=4, learner=learner, optimizer=tt.Adam(rate=0.01, clip=1.0), epochs=1, batch=1, window=1000, threads=1)
    stream = tt.Regressor(**shape).learn_many(x, y)
    fitted = tt.Regressor(**shape).fit(x[:20], y[:20])
    half = tt.Regressor(**shape).learn_many(x[:20], y[:20])
    assert (weights_of(fitted) == weights_of(half)).all()
    if way == "pickled":
        fitted = pickle.loads(pickle.dumps(fitted))
    if way == "partial_fit":  # and a stream's memory goes on in a fit
        fitted = half
    # The state at the end of the first half is not carried over: both second halves begin with the zero state.
    wanted = stream_from_zero(shape, x, y)
    if way == "partial_fit":
        fitted.partial_fit(x[20:], y[20:])
    else:
        fitted.learn_many(x[20:], y[20:])
        assert fitted.updates_ == 40
    assert (weights_of(fitted) == wanted).all()
    fresh = tt.Regressor(**shape).fit(x[:20], y[:20])
    fresh.load_state_dict(fresh.state_dict())  # other weights, as far as it knows: nothing is remembered about them
    assert (weights_of(fresh.learn_many(x[20:], y[20:])) != wanted).any()
    assert (weights_of(stream) != wanted).any()


def stream_from_zero(shape, x, y):
    model = tt.Regressor(**shape).learn_many(x[:20], y[:20])
    return weights_of(model.reset().learn_many(x[20:], y[20:]))


def test_another_optimizer_or_method_begins_anew():
    x, y = rows(40)
    shape = dict(hidden=4, epochs=1, batch=1, window=1000, threads=1)
    answers = []
    for first in (tt.Adam(rate=0.01), tt.SGD(rate=0.01)):
        model = tt.Regressor(learner=tt.FPTT(window_length=1), optimizer=first, **shape).fit(x, y)
        weights = model.state_dict()
        model.set_params(optimizer=tt.Momentum(rate=0.01), learner=tt.FPTT(window_length=1, alpha=0.9))
        model.learn_many(x, y)
        alone = tt.Regressor(learner=tt.FPTT(window_length=1, alpha=0.9), optimizer=tt.Momentum(rate=0.01), **shape)
        alone.fit(x, y).load_state_dict(weights).learn_many(x, y)
        assert (weights_of(model) == weights_of(alone)).all()
        answers.append(weights_of(model))
    assert (answers[0] != answers[1]).any()
