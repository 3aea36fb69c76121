"""Several threads, and several objects, with one model."""

import copy
import os
import pickle
import signal
import threading

import numpy as np
import pytest
import throughtime as tt
from streams_support import rows, small, weights_of

THREADS = 4


def together(work):
    """Runs work(i) in threads that begin at once; what they raised."""
    errors, gate = [], threading.Barrier(THREADS)

    def run(i):
        gate.wait()
        try:
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return errors


def test_rows_of_several_threads_are_learned_one_after_the_other():
    """Each thread has a stream and learns a target of its own. A row that was mixed up would have another answer."""
    x, _ = rows(4000)
    model = small(streams=THREADS, hidden=64, optimizer=tt.SGD(rate=0.0))  # answers depend on the rows alone
    model.learn_one(x[0], 1.0, stream=0)
    model.reset(0)
    alone = pickle.loads(pickle.dumps(model))
    answers = {i: [] for i in range(THREADS)}

    def work(i):
        for row in x[i::THREADS]:
            looked = model.predict_one(row, stream=i)
            answers[i].append((looked, model.observe(row, 1.0, stream=i)))

    assert together(work) == []
    for i in range(THREADS):
        for row, pair in zip(x[i::THREADS], answers[i]):
            assert pair == (alone.predict_one(row, stream=i), alone.observe(row, 1.0, stream=i))


def test_the_first_rows_of_several_threads_make_one_model():
    x, y = rows(THREADS)
    for _ in range(20):
        model = small(streams=THREADS)
        assert together(lambda i: model.learn_one(x[i], y[i], stream=i)) == []
        assert model.updates_ == 1 and len(model._slots) == THREADS  # a round is a row of each stream


def test_other_calls_wait_for_a_fit():
    x, y = rows(400)
    model = small(epochs=30, threads=1).fit(x, y)
    wanted, once_more = weights_of(model), threading.Event()

    def begun(event):
        once_more.set()
        return False

    fit = threading.Thread(target=lambda: model.fit(x, y, callbacks=[begun]))
    fit.start()
    assert once_more.wait(60)
    assert (weights_of(pickle.loads(pickle.dumps(model))) == wanted).all() and model.predict(x).shape == y.shape
    fit.join()
    # In its own thread, from a callback, there is nothing to wait for.
    with pytest.raises(ValueError, match=r"^\[c\] this model is at work in another call"):
        model.fit(x, y, callbacks=[lambda event: model.predict(x)])
    assert np.isfinite(model.observe(x[0], y[0]))


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_does_not_wait_for_a_thread_that_it_has_not():
    x, y = rows(400)
    model, begun, forked = small(threads=1).fit(x, y), threading.Event(), threading.Event()

    def hold(event):
        begun.set()
        forked.wait(60)
        return True

    fit = threading.Thread(target=lambda: model.fit(x, y, callbacks=[hold]))
    fit.start()
    assert begun.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends it, where it waits
        try:
            model.predict(x)
        except ValueError as error:  # the model itself is at work, for ever; a line says so
            os._exit(0 if "at work in another call" in str(error) else 1)
        os._exit(2)
    forked.set()
    assert os.waitpid(child, 0)[1] == 0
    fit.join()
    assert model.predict(x).shape == y.shape


def test_a_copy_has_streams_of_its_own():
    x, y = rows(20)
    model = small(streams=2)
    for a, b in zip(x[:10], y):
        model.learn_one(a, b, stream="a")
    model.ask(x[10], stream="a")
    twin = pickle.loads(pickle.dumps(model))
    for other in (copy.copy(model), copy.deepcopy(model)):
        other.tell(1.0, stream="a").learn_one(x[1], y[1], stream="b")
        assert list(model._slots) == ["a"] and len(model._waiting["a"]) == 1
    assert model.tell(0.5, stream="a").observe(x[11], y[11], stream="a") == twin.tell(0.5, stream="a").observe(
        x[11], y[11], stream="a")
