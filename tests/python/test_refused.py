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


# ---------------------------------------------------------------- nothing is passed over


# ---------------------------------------------------------------- arrays that are not what they seem


