"""What score compares and weighs: against sums written out, for every shape that targets have."""

import numpy as np
import pytest
import throughtime as tt

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(6, 10, 2)).astype(np.float32)
STEPS = X[:, :, 0].copy()  # a target at each step
ENDS = X[:, 0, 0].copy()  # one for each sequence
WEIGHTS = RANDOM.uniform(0.1, 1.0, size=6)


def small(kind=tt.Regressor, **more):
    return kind(**{"hidden": 3, "epochs": 2, "batch": 2, "threads": 1, **more})


def r_squared(guess, truth, weight):
    weight, truth = np.float64(np.float32(weight)), np.float64(truth)  # as they are read
    mean = np.sum(weight * truth) / np.sum(weight)
    return 1 - np.sum(weight * (truth - guess) ** 2) / np.sum(weight * (truth - mean) ** 2)


def weights_of(model):
    return np.concatenate([value.ravel() for value in model.state_dict().values()])


def test_a_weight_of_a_sequence_is_that_of_each_of_its_steps():
    each = np.repeat(WEIGHTS[:, None], 10, axis=1)
    by_steps = small().fit(X, STEPS, sample_weight=each)
    for weight in (WEIGHTS, list(WEIGHTS), list(each), each.tolist()):
        assert (weights_of(small().fit(X, STEPS, sample_weight=weight)) == weights_of(by_steps)).all()
        assert by_steps.score(X, STEPS, weight) == pytest.approx(r_squared(by_steps.predict(X), STEPS, each))
    assert (weights_of(small().fit(X, STEPS)) != weights_of(by_steps)).any()


def test_weights_of_sequences_with_one_target():
    model = small().fit(X, ENDS, sample_weight=WEIGHTS)
    assert model.score(X, ENDS, WEIGHTS) == pytest.approx(r_squared(model.predict(X), ENDS, WEIGHTS))
    assert model.score(X, ENDS) == pytest.approx(r_squared(model.predict(X), ENDS, np.ones(6)))
    with pytest.raises(ValueError, match=r"^\[regressor\] sample_weight must have 6 numbers for 6 sequences, got shape \(5,\)"):
        model.score(X, ENDS, WEIGHTS[:5])


def test_sequences_of_any_lengths():
    parts = [X[0], X[1, :4], X[2, :1]]
    targets, weights = [part[:, 0] for part in parts], [np.arange(1.0, len(part) + 1) for part in parts]
    model = small().fit(parts, targets, sample_weight=weights)
    wanted = r_squared(*map(np.concatenate, (model.predict(parts), targets, weights)))
    listed = [each.tolist() for each in targets], [each.tolist() for each in weights]
    assert model.score(parts, targets, weights) == pytest.approx(wanted)
    assert model.score(parts, *listed) == pytest.approx(wanted)


@pytest.mark.parametrize("weight, line", [
    (np.ones(5), "sample_weight must have an entry for each of 6 sequences, got 5"),
    (-np.ones((6, 10)), "sample_weight must be at least 0, and above 0 somewhere"),
    (np.zeros(6), "sample_weight must be at least 0, and above 0 somewhere"),
    (np.full(6, np.nan), "sample_weight must be finite numbers"),
    (["a"] * 6, "sample_weight must be numbers, got texts"),
])
def test_weights_that_are_none(weight, line):
    for model, y in ((small().fit(X, STEPS), STEPS), (small(tt.Classifier).fit(X, STEPS > 0), STEPS > 0)):
        with pytest.raises(ValueError, match=rf"^\[{model._speaker}\] {line}"):
            model.score(X, y, weight)


def test_truth_has_the_shape_of_the_answers():
    pair = small().fit(X[0], X[0])
    assert np.isfinite(pair.score(X[0], X[0]))
    column = small().fit(X[0], STEPS[0])
    assert column.score(X[0], STEPS[0][:, None]) == column.score(X[0], STEPS[0])
    for model, x, y in ((pair, X[0], X[0].T), (column, X[0], STEPS[0][None]), (small().fit(X, STEPS), X, STEPS.ravel())):
        with pytest.raises(ValueError, match=r"^\[regressor\] y must have the shape of the answers"):
            model.score(x, y)
    with pytest.raises(ValueError, match=r"^\[regressor\] y must be finite numbers"):
        column.score(X[0], np.full(10, np.nan))


def test_labels_of_another_kind_are_no_wrong_answers():
    numbers, texts = (STEPS > 0).astype(int), np.where(STEPS > 0, "up", "down")
    for known, other in ((numbers, texts), (texts, numbers)):
        model = small(tt.Classifier).fit(X, known)
        share = np.mean(model.predict(X) == known)
        assert model.score(X, known) == pytest.approx(share)
        with pytest.raises(ValueError, match=r"^\[classifier\] y holds the label .*; known: \["):
            model.score(X, other)
    assert small(tt.Classifier).fit(X, numbers).score(X, numbers + 5) == 0  # other numbers are answers that are wrong


def test_arrays_of_arrays_are_recordings():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    parts, targets = [X[0], X[1, :4]], [STEPS[0], STEPS[1, :4]]
    wanted = weights_of(small().fit(parts, targets))
    packed = []
    for each in (parts, targets):
        packed.append(np.empty(2, dtype=object))
        packed[-1][:] = each
    for x, y in ((packed[0], packed[1]), (pandas.Series(parts), pandas.Series(targets))):
        model = small().fit(x, y)
        assert (weights_of(model) == wanted).all() and model.score(x, y) == model.score(parts, targets)
        assert [len(each) for each in model.predict(x)] == [10, 4]
