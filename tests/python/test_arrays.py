import os
import threading

import numpy as np
import pytest
import throughtime as tt


def small(**more):
    return tt.Regressor(**{"hidden": 8, "epochs": 3, "batch": 4, "window": 25, "optimizer": tt.Adam(rate=0.01), "threads": 1,
                           **more})


def test_a_recording_is_learned(sine):
    x, y = sine
    model = small(epochs=30).fit(x, y)
    assert model.predict(x).shape == y.shape
    assert model.score(x, y) > 0.9
    losses = model.history_["train_loss"]
    assert losses[-1] < losses[0] / 5
    assert model.memory_ > 0 and model.n_features_in_ == 1
    assert model.fit(x, y, verbose=0) is model


def test_float32_is_never_copied(sine):
    from throughtime._arrays import inputs_of

    x = np.zeros((10, 3), np.float32)
    assert np.shares_memory(inputs_of(x, "t", 0).sequences[0], x)
    whole = np.zeros((4, 10, 3), np.float32)
    assert all(np.shares_memory(each, whole) for each in inputs_of(whole, "t", 0).sequences)
    assert not np.shares_memory(inputs_of(x.astype(float), "t", 0).sequences[0], x)


def test_same_bits_whatever_the_array_is(sine):
    x, y = sine
    wanted = small().fit(x, y).predict(x)
    read_only = x.copy()
    read_only.flags.writeable = False
    for other in (x.astype(float), np.asfortranarray(x), read_only, x.tolist(), np.repeat(x, 2, axis=1)[:, ::2]):
        assert (small().fit(other, y).predict(x) == wanted).all()


def test_same_bits_for_any_number_of_threads(sine):
    x, y = sine
    assert (small(threads=1).fit(x, y).predict(x) == small(threads=2).fit(x, y).predict(x)).all()


def test_multiple_targets_and_smallest_sizes():
    x = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    model = small(hidden=3).fit(x, x)
    assert model.predict(x).shape == (30, 2)
    assert small(hidden=1).fit(x[:1], x[:1, 0]).predict(x[:1]).shape == (1,)
    assert small(hidden=1).fit(x[None, :1], x[:1, :1]).predict(x[None, :1]).shape == (1, 1)


def test_equal_and_ragged_sequences_agree(sequences):
    x, _ = sequences
    y = x.mean(axis=(1, 2))
    equal = small().fit(x, y)
    ragged = small().fit(list(x), y)
    assert (equal.predict(x) == ragged.predict(list(x))).all()
    assert equal.predict(x).shape == (40,)


def test_lists_of_lists_are_recordings(sequences):
    x, y = [[[1, 2], [3, 4], [0, 1]], [[1, 2]]], [[1.0, 2.0, 3.0], [0.0]]
    arrays = [np.array(each, np.float32) for each in x]
    wanted = small(hidden=3).fit(arrays, [np.array(each) for each in y]).predict(arrays)
    found = small(hidden=3).fit(x, y).predict(x)
    assert all((a == b).all() for a, b in zip(found, wanted)) and [len(each) for each in found] == [3, 1]
    tokens = small(hidden=3, vocabulary=5).fit([[0, 1, 2], [4]], [1.0, 2.0])
    assert (tokens.predict([[0, 1, 2], [4]]) == tokens.predict([np.array([0, 1, 2]), np.array([4])])).all()


def test_dropout_of_a_single_layer_is_said_to_do_nothing(sine):
    with pytest.warns(UserWarning, match="dropout is between layers, so it does nothing for a single one") as seen:
        small(dropout=0.5, epochs=1).fit(*sine)
    assert len(seen) == 1 and seen[0].filename == __file__


def test_ragged_sequences_with_targets_at_every_step():
    random = np.random.default_rng(1)
    x = [random.normal(size=(n, 2)).astype(np.float32) for n in (1, 5, 9, 3)]
    y = [each.sum(axis=1) for each in x]
    model = small(epochs=60).fit(x, y)
    assert [each.shape for each in model.predict(x)] == [(1,), (5,), (9,), (3,)]
    assert model.score(x, y) > 0.5
    alone = model.predict([x[1]])[0]
    assert np.allclose(alone, model.predict(x)[1], atol=1e-6)


def test_per_step_and_per_sequence_targets(sequences):
    x, _ = sequences
    steps = small().fit(x, x[:, :, 0])
    assert steps.predict(x).shape == (40, 12)
    whole = small(targets="sequence").fit(x, x[:, :, 0])
    assert whole.predict(x).shape == (40, 12) and whole.n_outputs_ == 12
    with pytest.raises(ValueError, match="one target per sequence, X is one recording"):
        whole.predict(x[0])


def test_weights_of_zero_hide_steps(sine):
    x, y = sine
    wrong = y.copy()
    wrong[::2] = 50
    weight = np.ones(len(y))
    weight[::2] = 0
    a, b = small().fit(x, y, sample_weight=weight), small().fit(x, wrong, sample_weight=weight)
    assert (a.predict(x) == b.predict(x)).all()
    assert (a.predict(x) != small().fit(x, y).predict(x)).any()
    with pytest.raises(ValueError, match="every weight"):
        small().fit(x, y, sample_weight=np.zeros(len(y)))


def test_classes_may_be_any_labels(sequences):
    x, y = sequences
    model = tt.Classifier(hidden=8, epochs=30, batch=8, optimizer=tt.Adam(rate=0.01)).fit(x, y)
    assert list(model.classes_) == ["high", "low"]
    assert model.score(x, y) > 0.9
    shares = model.predict_proba(x)
    assert shares.shape == (40, 2) and np.allclose(shares.sum(axis=1), 1)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(x)).all()


def test_tokens():
    random = np.random.default_rng(5)
    x = random.integers(0, 5, size=400)
    model = tt.Classifier(vocabulary=5, hidden=12, epochs=40, batch=4, window=20, optimizer=tt.Adam(rate=0.01),
                          options={"model.embedding": 4}).fit(x[1:], x[:-1])
    assert model.score(x[1:], x[:-1]) > 0.8
    assert "embedding.weight" in model.state_dict()
    with pytest.raises(ValueError, match="a token must be between 0 and 4, got 5"):
        model.predict(np.array([5]))
    with pytest.raises(ValueError, match="tokens must be whole numbers"):
        model.predict(np.array([0.5]))


def test_validation_early_stopping_and_the_best_weights(sine):
    x, y = sine
    model = small(epochs=50, patience=2, optimizer=tt.Adam(rate=0.3)).fit(x[:400], y[:400], validation=(x[400:], y[400:]))
    losses = model.history_.curve("validation_loss")[1]
    assert len(losses) < 50
    best = np.mean((model.predict(x[400:]) - y[400:]) ** 2)
    assert best == pytest.approx(losses.min(), rel=1e-4)


def test_partial_fit_goes_on(sine):
    x, y = sine
    model = small()
    scores = [model.partial_fit(x, y).score(x, y) for _ in range(20)]
    assert scores[-1] > scores[0]
    assert model.n_iter_ > 0


def test_an_exception_in_a_callback_arrives_whole(sine):
    class Own(Exception):
        pass

    def fail(event):
        if event["event"] == "progress":
            raise Own("with its text")

    model = small()
    with pytest.raises(Own, match="with its text"):
        model.fit(*sine, callbacks=[fail])
    assert model.predict(sine[0]).shape == sine[1].shape  # what was learnt is kept


def test_ctrl_c_ends_after_the_iteration_and_keeps_what_was_learnt(sine):
    import signal

    def interrupt(event):
        if event["event"] == "progress":
            signal.raise_signal(signal.SIGINT)

    model = small(epochs=1000)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins without it
    with pytest.raises(KeyboardInterrupt):
        model.fit(*sine, callbacks=[interrupt])
    signal.signal(signal.SIGINT, before)
    assert 0 < model.n_iter_ < 1000


def test_another_thread_runs_during_fit_and_two_fits_are_as_one_after_the_other(sine):
    x, y = sine
    wanted = [small(seed=seed, epochs=20).fit(x, y).predict(x) for seed in (1, 2)]
    found = [None, None]

    def fit(i):
        found[i] = small(seed=i + 1, epochs=20).fit(x, y).predict(x)

    counted = 0
    for _ in range(50):  # both may be done before a busy machine lets this thread run
        threads = [threading.Thread(target=fit, args=(i,)) for i in (0, 1)]
        for each in threads:
            each.start()
        while any(each.is_alive() for each in threads):
            counted += 1
        assert all((a == b).all() for a, b in zip(found, wanted))
        if counted > 0:
            break
    assert counted > 0


def test_a_fork_after_fit_trains(sine):
    x, y = sine
    model = small(threads=2).fit(x, y)
    model.learn_one(x[0], float(y[0]))
    child = os.fork()
    if child == 0:
        try:
            ok = (small(threads=2).fit(x, y).predict(x) == small(threads=2).fit(x, y).predict(x)).all()
            model.learn_one(x[1], float(y[1]))
            os._exit(0 if ok else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_subnormal_numbers_are_as_before(sine):
    def halved():
        return np.float32(1e-38) / np.float32(16)

    assert halved() > 0
    model = small().fit(*sine)
    model.learn_one(sine[0][0], 0.5)
    assert halved() > 0


def test_diagnosis(sine):
    x, y = sine
    model = small().fit(x, y)
    before = model.predict(x)
    found = tt.diagnose(model, x, y, positions=8, lags=10)
    assert found.phi.shape == found.bias.shape == found.lengths.shape == (11,)
    assert (np.diff(found.bias[1:]) <= 1e-9).all()
    assert found.truncation(0.1) >= found.truncation(0.5) > 0 and found.truncation(0.0) is None
    assert (model.predict(x) == before).all()


@pytest.mark.parametrize("x, y, line", [
    (np.zeros(5), np.zeros(5), "X must be [steps, features] or [sequences, steps, features]"),
    (np.zeros((5, 0)), np.zeros(5), "0 feature(s)"),
    (np.zeros((0, 2)), np.zeros(0), "0 sample(s)"),
    (np.zeros((5, 2)), np.zeros(4), "X and y must have as many steps"),
    (np.zeros((5, 2)), None, "the target y is None"),
    (np.full((5, 2), np.nan), np.zeros(5), "X must be finite numbers"),
    (np.full((5, 2), 1e300), np.zeros(5), "too large for float32"),
    (np.zeros((5, 2)), np.full(5, np.inf), "y must be finite numbers"),
    (np.zeros((5, 2), complex), np.zeros(5), "Complex data not supported"),
    (np.zeros((3, 5, 2)), np.zeros(4), "X and y must have as many sequences"),
    ([np.zeros((3, 2)), np.zeros((3, 1))], np.zeros(2), "the same number of features"),
    (np.array([["a"]]), np.zeros(1), "X must be numbers"),
])
def test_bad_arrays_are_refused(x, y, line):
    model = small()
    with pytest.raises(ValueError) as error:
        model.fit(x, y)
    assert line in str(error.value) and str(error.value).startswith("[regressor]")
    with pytest.raises(ValueError, match="not fitted yet"):
        model.predict(np.zeros((5, 2)))


def test_bad_labels_and_parameters_are_refused(sequences):
    x, y = sequences
    with pytest.raises(ValueError, match="at least two classes"):
        tt.Classifier().fit(x, np.zeros(40))
    model = tt.Classifier(hidden=2, epochs=1).fit(x, y)
    with pytest.raises(ValueError, match="y holds the label 'other'"):
        model.partial_fit(x, np.full(40, "other"))
    with pytest.raises(ValueError, match="is expecting 2 features"):
        model.predict(x[:, :, :1])
    with pytest.raises(ValueError, match="learner must be a learner such as FPTT"):
        tt.Regressor(learner=tt.Adam()).fit(x, y == "low")
    with pytest.raises(ValueError, match=r"\[config\].*model.hidden"):
        tt.Regressor(hidden=0).fit(x, y == "low")
    with pytest.raises(ValueError, match="unknown option 'model.hiden'"):
        tt.Regressor(options={"model.hiden": 3}).fit(x, y == "low")


def test_a_run_that_fails_says_so(sine):
    x, y = sine
    with pytest.raises(RuntimeError, match="loss"):
        small(cell="rnn_relu", learner=tt.BPTT(), optimizer=tt.SGD(rate=1e18), epochs=50).fit(x, y)


def test_a_run_directory_must_be_one(tmp_path):
    with pytest.raises(ValueError, match="no config.toml"):
        tt.Run(tmp_path)
    with pytest.raises(ValueError, match="no such file"):
        tt.train(tmp_path / "none.toml")
