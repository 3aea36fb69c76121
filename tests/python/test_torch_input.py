"""What comes in from PyTorch: tensors of every kind, and modules of those kinds that are known."""

import numpy as np
import pytest
import throughtime as tt
from torch_support import KINDS, modules, torch


def lstm(**more):
    return torch.nn.LSTM(2, 3, **more)


def linear(**more):
    return torch.nn.Linear(3, 1, **more)


# ---------------------------------------------------------------- tensors


def test_tensors_come_in_by_dlpack():
    x = torch.zeros(20, 2)
    from throughtime._arrays import inputs_of

    assert inputs_of(x, "t", 0).sequences[0].ctypes.data == x.data_ptr()
    model = tt.Regressor(hidden=2, epochs=1).fit(x, torch.zeros(20, requires_grad=True))
    assert model.predict(x).shape == (20,)


@pytest.mark.parametrize("change", [
    lambda x: x.double(), lambda x: x.half().float().half(), lambda x: x.bfloat16(), lambda x: x.clone().requires_grad_(),
    lambda x: x.t().contiguous().t(), lambda x: torch.stack([x, x], dim=-1)[..., 1], lambda x: x.repeat(2, 1)[:len(x)],
    lambda x: x.to(torch.int64), lambda x: torch.nn.Parameter(x), lambda x: torch.flip(x, [0]).flip([0]),
    lambda x: x[0].expand(20, 2), lambda x: x.conj(), lambda x: x.to(torch.uint8)])
def test_tensors_of_every_kind_are_what_numpy_makes_of_them(change):
    x = torch.arange(40).reshape(20, 2) % 7 * 1.0
    tensor = change(x)
    array = tensor.detach().double().numpy().copy()
    y = np.arange(20.0)
    wanted = tt.Regressor(hidden=2, epochs=1, threads=1).fit(array, y)
    found = tt.Regressor(hidden=2, epochs=1, threads=1).fit(tensor, torch.from_numpy(y))
    assert (found.predict(tensor) == wanted.predict(array)).all()
    assert found.observe(tensor[3], torch.tensor(1.0)) == wanted.observe(array[3], 1.0)
    assert found.predict_one(tensor[4]) == wanted.predict_one(array[4])


def test_labels_of_streams_may_be_tensors():
    x = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    ours, wanted = (tt.Classifier(hidden=2, classes=[3, 5]) for _ in range(2))
    for i in range(30):
        ours.learn_one(torch.from_numpy(x[i]), torch.tensor(3 + 2 * (i % 2)))
        wanted.learn_one(x[i], 3 + 2 * (i % 2))
    assert ours.predict_proba_one(x[0]) == wanted.predict_proba_one(x[0])
    for wrong in (torch.tensor(4), torch.tensor([3]), torch.tensor([3, 5])):
        with pytest.raises(ValueError, match="there is no label"):
            ours.learn_one(x[0], wrong)
    regressor = tt.Regressor(hidden=2).learn_one(x[0], torch.tensor([1.0, 2.0], requires_grad=True))
    assert regressor.n_outputs_ == 2 and regressor.predict_one(x[0]).shape == (2,)
    with pytest.raises(ValueError, match="a target has 2 numbers, got 1"):
        regressor.learn_one(x[0], torch.tensor(1.0))


def test_truth_values_come_in_and_what_has_no_numbers_is_refused():
    x = torch.zeros(20, 2)
    labels = torch.arange(20) % 2 == 0
    assert list(tt.Classifier(hidden=2, epochs=1).fit(x, labels).classes_) == [False, True]
    for wrong in (x.to_sparse(), x.to("meta")):
        with pytest.raises(ValueError, match=r"\[regressor\] X must be an array of numbers: "):
            tt.Regressor(hidden=2).fit(wrong, x[:, 0])
    with pytest.raises(ValueError, match="Complex data not supported"):
        tt.Regressor(hidden=2).fit(x.to(torch.complex64), x[:, 0])
    with pytest.raises(ValueError, match="X must be finite numbers"):
        tt.Regressor(hidden=2).fit(x / 0, x[:, 0])


# ---------------------------------------------------------------- modules


def renamed(module, name="weight"):
    return torch.nn.utils.weight_norm(module, name)


def pruned(module):
    from torch.nn.utils import prune

    return prune.l1_unstructured(module, "weight_hh_l0", amount=1)


def with_shared_layers():
    rnn = torch.nn.LSTM(3, 3, 2)
    rnn.weight_hh_l1 = rnn.weight_hh_l0
    return rnn


class Own(torch.nn.LSTM):
    """May compute anything."""


class LSTM:
    """Has the name alone."""


@pytest.mark.filterwarnings("ignore:Lazy modules")
@pytest.mark.parametrize("make, line", [
    (lambda: (lstm(bidirectional=True), torch.nn.Linear(6, 1)), "bidirectional must be False"),
    (lambda: (lstm(proj_size=2), torch.nn.Linear(2, 1)), r"\(proj_size=2\); it must be 0"),
    (lambda: (lstm(bias=False), linear()), "without biases .* with bias=True and zeros for them it computes the same"),
    (lambda: (torch.nn.Linear(2, 3), linear()), "must be an LSTM, a GRU or an RNN, got a Linear"),
    (lambda: (torch.nn.LSTMCell(2, 3), linear()), "must be an LSTM, a GRU or an RNN, got a LSTMCell"),
    (lambda: (Own(2, 3), linear()), "must be an LSTM, a GRU or an RNN, got a test_torch_input.Own"),
    (lambda: (LSTM(), linear()), "must be an LSTM, a GRU or an RNN, got a test_torch_input.LSTM"),
    (lambda: (None, linear()), "must be an LSTM, a GRU or an RNN, got a builtins.NoneType"),
    (lambda: (lstm(), linear(bias=False)), "head without a bias .* with bias=True and zeros for it"),
    (lambda: (lstm(), torch.nn.Linear(4, 1)), "the head must read 3 numbers, it reads 4"),
    (lambda: (lstm(), torch.nn.ReLU()), "the head must be a Linear module, got a ReLU"),
    (lambda: (lstm(), None), "the head must be a Linear module, got a builtins.NoneType"),
    (lambda: (lstm(), torch.nn.LazyLinear(1)), "the head must be a Linear module, got a LazyLinear"),
    (lambda: (renamed(lstm(), "weight_hh_l0"), linear()), "the parameters of 'rnn' must be .*weight_hh_l0_g.*; take weight norm"),
    (lambda: (pruned(lstm()), linear()), "the parameters of 'rnn' must be .*weight_hh_l0_mask"),
    (lambda: (lstm(), renamed(linear())), "the parameters of 'head' must be weight, bias, they are .*weight_g"),
    (lambda: (with_shared_layers(), linear()), "'rnn.weight_hh_l0' and 'rnn.weight_hh_l1' are one tensor"),
    (lambda: (lstm(device="meta"), linear()), "'rnn.weight_ih_l0' is on the device meta, .* to_empty"),
    (lambda: (lstm(), linear(dtype=torch.complex64)), "'head.weight' must be an array of numbers: it holds complex numbers"),
])
def test_what_is_not_known_is_refused_both_ways(make, line):
    rnn, head = make()
    with pytest.raises(ValueError, match=line):
        tt.from_torch(rnn, head=head)
    with pytest.raises(ValueError, match="loss must be one of"):
        tt.from_torch(rnn, head=head, loss="ranking")
    model = tt.from_torch(*modules("LSTM", 1, 2, 3, 1))
    with pytest.raises(ValueError):
        model.to_torch(rnn, head=head)


@pytest.mark.parametrize("make, line", [
    (lambda: torch.nn.Embedding(5, 4), "the recurrent module reads 3 numbers, the embedding has 4"),
    (lambda: torch.nn.Embedding(5, 3, max_norm=1.0), "they must be None and False"),
    (lambda: torch.nn.Embedding(5, 3, scale_grad_by_freq=True), "they must be None and False"),
    (lambda: torch.nn.Embedding(5, 3, padding_idx=0), r"\(padding_idx=0\); it must be None"),
    (lambda: torch.nn.EmbeddingBag(5, 3), "the embedding must be an Embedding module, got a EmbeddingBag"),
    (lambda: torch.nn.Embedding(5, 3, dtype=torch.complex64), "'embedding.weight' must be an array of numbers"),
    (lambda: torch.nn.Embedding(5, 3, device="meta"), "'embedding.weight' is on the device meta"),
])
def test_embeddings_that_are_not_known_are_refused(make, line):
    with pytest.raises(ValueError, match=line):
        tt.from_torch(torch.nn.LSTM(3, 3), head=torch.nn.Linear(3, 5), embedding=make(), loss="classification")


@pytest.mark.parametrize("more, line", [
    ({"cell": "gru"}, "cell is said by the modules"), ({"hidden": 3}, "hidden is said by the modules"),
    ({"layers": 1}, "layers is said by the modules"), ({"dropout": 0.5}, "dropout is said by the modules"),
    ({"weights": {}}, "weights is said by the modules"),
    ({"vocabulary": 3}, "vocabulary must be 2, got 3"),
    ({"options": {"model.embedding": 4}}, "options: model.embedding is said by the module"),
    ({"options": {"model.head_hidden": 4}}, "missing: head.inner_weight|missing: head"),
    ({"standardise": True}, "standardise must be False"),
    ({"targets": "end"}, "targets must be one of"),
    ({"loss": "classification"}, "the head must have an output for each of two or more classes, it has 1"),
    ({"classes": ["a"]}, "classes are for loss='classification'"),
])
def test_what_the_modules_say_is_said_once(more, line):
    with pytest.raises(ValueError, match=line):
        tt.from_torch(lstm(), head=linear(), **more)


def test_an_embedding_says_the_vocabulary():
    with pytest.raises(ValueError, match="vocabulary is said by the modules"):
        tt.from_torch(torch.nn.LSTM(3, 3), head=torch.nn.Linear(3, 5), embedding=torch.nn.Embedding(5, 3),
                      loss="classification", vocabulary=5)


@pytest.mark.parametrize("kind", KINDS)
def test_without_an_embedding_tokens_are_one_hot(kind):
    rnn, head = modules(kind, 1, 5, 4, 3)
    model = tt.from_torch(rnn, head=head, vocabulary=5, loss="classification")
    x = np.random.default_rng(0).integers(5, size=(2, 9))
    with torch.no_grad():
        ones = torch.nn.functional.one_hot(torch.from_numpy(x), 5).float()
        wanted = torch.softmax(head(rnn(ones)[0]), dim=-1).numpy()
    assert np.allclose(model.predict_proba(x), wanted, atol=2e-6)


def test_modules_that_share_memory_are_tied():
    """Also where their parameters are two objects."""
    embedding, rnn, head = torch.nn.Embedding(5, 3), torch.nn.LSTM(3, 3), torch.nn.Linear(3, 5)
    head.weight.data = embedding.weight.data
    model = tt.from_torch(rnn, head=head, embedding=embedding, loss="classification")
    assert "head.weight" not in model.state_dict()
