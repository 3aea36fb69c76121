"""Weights on their way from modules and back: by modules, by state_dict, by files, in every kind of number."""

import re
import warnings

import numpy as np
import pytest
import throughtime as tt
from torch_support import (KINDS, Net, modules, numbers_of, of_words, read_tensors, same_numbers, torch, words,
                           write_tensors)


def tokens(rows=3, steps=10, vocabulary=7):
    return np.random.default_rng(0).integers(0, vocabulary, size=(rows, steps))


def probabilities(net, x):
    with torch.no_grad():
        return torch.softmax(net(torch.from_numpy(x)), dim=-1).numpy()


# ---------------------------------------------------------------- modules


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("into_tied", [False, True])
def test_an_embedding_and_a_tied_head_go_back(tied, into_tied):
    net, other, x = words(tied), words(into_tied, seed=5), tokens()
    model = of_words(net, optimizer=tt.Adam(rate=0.05)).partial_fit(x, np.roll(x, -1, axis=1))
    before = numbers_of(other)
    assert np.abs(model.state_dict()["embedding.weight"] - net.embedding.weight.detach().numpy()).max() > 0.01
    if into_tied and not tied:
        with pytest.raises(ValueError, match="the modules share one weight, the model has one for its head and one for"):
            model.to_torch(other.rnn, head=other.head, embedding=other.embedding)
        assert same_numbers(other, before)
        return
    model.to_torch(other.rnn, head=other.head, embedding=other.embedding)
    assert np.allclose(probabilities(other, x), model.predict_proba(x), atol=2e-6)
    for name, value in model.state_dict().items():
        assert (other.state_dict()[name].numpy() == value).all(), name
    assert (other.head.weight is other.embedding.weight) == into_tied


@pytest.mark.parametrize("make, line", [
    (lambda: (*modules("LSTM", 1, 3, 4, 2), None), "the model has 'rnn.weight_ih_l1', .* which the modules have not; "
     "to_torch needs all modules of the model"),
    (lambda: (*modules("LSTM", 3, 3, 4, 2), None), r"'rnn.weight_ih_l2' of the module has the shape \[16, 4\], the model's is not there"),
    (lambda: (modules("LSTM", 2, 3, 4, 2)[0], None, None), "to_torch needs the module of the head, too"),
    (lambda: (*modules("LSTM", 2, 3, 5, 2), None), "'rnn.weight_ih_l0' of the module has the shape"),
    (lambda: (*modules("LSTM", 2, 2, 4, 2), None), "'rnn.weight_ih_l0' of the module has the shape"),
    (lambda: (*modules("LSTM", 2, 3, 4, 1), None), r"'head.weight' of the module has the shape \[1, 4\], the model's \[2, 4\]"),
    (lambda: (*modules("LSTM", 2, 3, 4, 2), torch.nn.Embedding(5, 3)), "'embedding.weight' of the module has the shape"),
    (lambda: (modules("GRU", 2, 3, 4, 2)[0], torch.nn.Linear(4, 2), None), "the model's cell is lstm, the module is a GRU"),
    (lambda: (modules("LSTM", 2, 3, 4, 2)[0], torch.nn.Linear(4, 2).half(), None),
     r"'head.weight' of the module is torch.float16, which would round the weights; make it float\(\) first"),
    (lambda: (modules("LSTM", 2, 3, 4, 2)[0].bfloat16(), torch.nn.Linear(4, 2), None), "is torch.bfloat16"),
    (lambda: (modules("LSTM", 2, 3, 4, 2)[0], torch.nn.Linear(4, 2, device="meta"), None),
     "'head.weight' is on the device meta, which has no numbers"),
    (lambda: (modules("LSTM", 2, 3, 4, 2)[0], expanded(torch.nn.Linear(4, 2)), None), "several numbers in one place"),
    (lambda: (modules("LSTM", 2, 3, 4, 2)[0], of_inference(torch.nn.Linear, 4, 2), None),
     "'head.weight' of the module was made in inference mode"),
])
def test_all_of_a_model_is_written_or_nothing(make, line):
    model = tt.from_torch(*modules("LSTM", 2, 3, 4, 2, seed=8))
    rnn, head, embedding = make()
    given = [module for module in (rnn, head, embedding) if module is not None]
    before = [numbers_of(module) for module in given]
    with pytest.raises(ValueError, match=line):
        model.to_torch(rnn, head=head, embedding=embedding)
    for module, numbers in zip(given, before):
        if next(module.parameters()).device.type != "meta":
            assert same_numbers(module, numbers)


def of_inference(make, *sizes):
    with torch.inference_mode():
        return make(*sizes)


def expanded(head):
    head.weight = torch.nn.Parameter(torch.ones(1, 4).expand(2, 4))
    return head


def test_a_relu_net_does_not_go_into_a_tanh_net():
    with pytest.raises(ValueError, match=r"the model's cell is rnn_relu, the module is a RNN \(tanh\)"):
        tt.from_torch(*modules("RNN_relu", 1, 2, 3, 1)).to_torch(*modules("RNN", 1, 2, 3, 1))


def test_one_cell_for_each_layer_goes_back_where_all_are_the_same():
    x = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    rnn, head = modules("GRU", 2, 3, 4, 1)
    model = tt.Regressor(cell=["gru", "gru"], hidden=[4, 4], layers=2, epochs=1).fit(x, x[:, 0])
    model.to_torch(rnn, head=head)
    with torch.no_grad():
        assert np.allclose(head(rnn(torch.from_numpy(x))[0])[:, 0].numpy(), model.predict(x), atol=2e-6)
    other = tt.Regressor(cell=["gru", "lstm"], hidden=4, layers=2, epochs=1).fit(x, x[:, 0])
    with pytest.raises(ValueError, match="the model's cell is gru, lstm, the module is a GRU"):
        other.to_torch(rnn, head=head)


def test_scales_have_no_place_in_modules():
    rnn, head = modules("LSTM", 1, 1, 3, 1)
    x = np.arange(20, dtype=np.float32)[:, None]
    model = tt.Regressor(hidden=3, epochs=1, standardise=True).fit(x, x[:, 0])
    with pytest.raises(ValueError, match="the model sees scaled numbers"):
        model.to_torch(rnn, head=head)
    with pytest.raises(ValueError, match="standardise must be False"):
        tt.from_torch(rnn, head=head, standardise=True)
    with pytest.raises(ValueError, match="not fitted yet"):
        tt.Regressor().to_torch(rnn, head=head)


def test_double_modules_keep_their_numbers():
    """Both ways bit for bit; answers are computed in the engine's numbers."""
    rnn, head = (each.double() for each in modules("GRU", 2, 3, 4, 2))
    for each in (*rnn.parameters(), *head.parameters()):
        each.data += 1e-12 * torch.rand_like(each)
    x = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    model = tt.from_torch(rnn, head=head, engine="reference")
    with torch.no_grad():
        assert np.allclose(model.predict(x), head(rnn(torch.from_numpy(x).double())[0]).numpy(), rtol=0, atol=1e-13)
    for engine in ("reference", "cpu"):
        other = [each.double() for each in modules("GRU", 2, 3, 4, 2, seed=4)]
        tt.from_torch(rnn, head=head, engine=engine).to_torch(*other)
        assert same_numbers(other[0], numbers_of(rnn)) and same_numbers(other[1], numbers_of(head))
    narrow = modules("GRU", 2, 3, 4, 2, seed=4)
    model.to_torch(*narrow)  # rounded to float32, the numbers that all training here has
    assert same_numbers(narrow[0], numbers_of(rnn.float()))


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
def test_small_numbers_come_in_as_they_are(kind):
    rnn, head = (getattr(each, kind)() for each in modules("LSTM", 1, 2, 3, 1))
    model = tt.from_torch(rnn, head=head)
    for name, value in model.state_dict().items():
        assert value.dtype == np.float32
        module, key = (rnn, name[4:]) if name.startswith("rnn.") else (head, name[5:])
        assert torch.equal(torch.from_numpy(value), module.state_dict()[key].float()), name
    rnn.float(), head.float()
    model.to_torch(rnn, head=head)
    getattr(rnn, kind)(), getattr(head, kind)()
    x = torch.arange(8).reshape(4, 2) / 4  # the rows of X may be of that kind as well
    assert (model.predict(getattr(x, kind)()) == model.predict(x)).all()


def test_batch_first_and_training_mode_do_not_matter():
    """X is [sequences, steps, features] here, whatever the module wants."""
    rnn, head = modules("LSTM", 2, 3, 4, 1, dropout=0.5)
    other = torch.nn.LSTM(3, 4, 2, dropout=0.5)
    other.load_state_dict(rnn.state_dict())
    x = np.random.default_rng(0).normal(size=(2, 6, 3)).astype(np.float32)
    with torch.no_grad():
        wanted = head(rnn.eval()(torch.from_numpy(x))[0])[..., 0].numpy()
    for module in (rnn.train(), rnn.eval(), other.train(), other.eval()):
        model = tt.from_torch(module, head=head)
        assert model.dropout == 0.5
        assert np.allclose(model.predict(x), wanted, atol=2e-6)


def test_parameters_need_not_be_contiguous():
    rnn, head = modules("LSTM", 1, 3, 3, 2)
    wanted = tt.from_torch(rnn, head=head).state_dict()
    rnn.weight_hh_l0 = torch.nn.Parameter(rnn.weight_hh_l0.detach().t().contiguous().t())
    head.weight = torch.nn.Parameter(torch.stack([head.weight.detach()] * 2, dim=-1)[..., 0])
    assert not rnn.weight_hh_l0.is_contiguous() and not head.weight.is_contiguous()
    model = tt.from_torch(rnn, head=head)
    assert all((wanted[name] == value).all() for name, value in model.state_dict().items())
    with torch.no_grad():
        head.weight.zero_(), rnn.weight_hh_l0.zero_()
    model.to_torch(rnn, head=head)
    assert (head.weight.detach().numpy() == wanted["head.weight"]).all()
    assert (rnn.weight_hh_l0.detach().numpy() == wanted["rnn.weight_hh_l0"]).all()
    assert rnn.weight_hh_l0.requires_grad and not rnn.weight_hh_l0.is_contiguous()


# ---------------------------------------------------------------- classes


@pytest.mark.parametrize("classes", [["c", "a", "b"], [2, 0, 1], ["a", "b", "c"], [30, 20, 10], (True, False)])
def test_rows_of_the_head_are_the_classes_as_they_are_listed(classes):
    rnn, head = modules("LSTM", 1, 2, 4, len(classes))
    x = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    with torch.no_grad():
        head.bias -= head(rnn(torch.from_numpy(x))[0]).mean(dim=0)  # so that every class is answered

    def answers(head):
        with torch.no_grad():
            out = head(rnn(torch.from_numpy(x))[0])
        return [classes[row] for row in out.argmax(dim=-1)], torch.softmax(out, dim=-1).numpy()

    model = tt.from_torch(rnn, head=head, loss="classification", classes=classes, optimizer=tt.Adam(rate=0.05), epochs=2)
    labels, shares = answers(head)
    assert len(set(labels)) > 1
    assert model.predict(x).tolist() == labels
    assert model.classes_.tolist() == sorted(classes)
    columns = [classes.index(label) for label in model.classes_.tolist()]
    assert np.allclose(model.predict_proba(x), shares[:, columns], atol=2e-6)
    assert model.predict_one(x[0]) == labels[0]

    other_rnn, other_head = modules("LSTM", 1, 2, 4, len(classes), seed=3)
    model.to_torch(other_rnn, head=other_head)
    assert same_numbers(other_head, numbers_of(head)) and same_numbers(other_rnn, numbers_of(rnn))
    model.fit(x, np.asarray(classes)[np.arange(60) % len(classes)])  # from these weights, to others
    model.to_torch(rnn, head=head)
    assert not same_numbers(other_head, numbers_of(head))
    assert answers(head)[0] == model.predict(x).tolist()
    with pytest.raises(ValueError, match="classes was changed to"):
        model.set_params(classes=["x", "y", "z"]).to_torch(rnn, head=head)


def test_classes_that_were_found_are_in_ascending_order():
    x = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    y = np.array(["c", "a", "b"])[np.arange(60) % 3]
    rnn, head = modules("LSTM", 1, 2, 4, 3)
    for classes in (None, ["b", "c", "a"]):
        model = tt.Classifier(hidden=4, epochs=1, classes=classes).fit(x, y)
        model.to_torch(rnn, head=head)
        with torch.no_grad():
            rows = head(rnn(torch.from_numpy(x))[0]).argmax(dim=-1)
        assert [(classes or ["a", "b", "c"])[row] for row in rows] == model.predict(x).tolist()


def test_a_tied_head_has_a_row_for_each_token():
    net = words(tied=True)
    with pytest.raises(ValueError, match="classes must be in ascending order"):
        of_words(net, classes=[1, 0, 2, 3, 4, 5, 6])
    model = of_words(net, classes=list("abcdefg"))
    model.to_torch(net.rnn, head=net.head, embedding=net.embedding)
    model.set_params(classes=list("bacdefg"))
    with pytest.raises(ValueError, match="classes must be in ascending order"):
        model.to_torch(net.rnn, head=net.head, embedding=net.embedding)


# ---------------------------------------------------------------- state_dict


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_dict_of_pytorch_comes_in_and_goes_back(kind):
    net, other = Net(*modules(kind, 2, 3, 4, 2)), Net(*modules(kind, 2, 3, 4, 2, seed=6))
    model = tt.from_torch(other.rnn, head=other.head)
    model.load_state_dict(net.state_dict())
    x = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    with torch.no_grad():
        assert np.allclose(model.predict(x), net(torch.from_numpy(x)).numpy(), atol=2e-6)
    other.load_state_dict({name: torch.from_numpy(value) for name, value in model.state_dict().items()})  # strict
    assert same_numbers(other, numbers_of(net))
    for small in ("half", "bfloat16", "double"):
        getattr(net, small)()
        model.load_state_dict(net.state_dict())
        assert all((model.state_dict()[name] == value.double().numpy()).all() for name, value in net.state_dict().items())


@pytest.mark.parametrize("tied", [False, True])
def test_a_state_dict_names_a_tied_weight_twice(tied):
    net, other, x = words(tied), words(tied, seed=4), tokens()
    model = of_words(other).load_state_dict(net.state_dict())
    assert np.allclose(model.predict_proba(x), probabilities(net, x), atol=2e-6)
    state = numbers_of(net)
    state["head.weight"][0, 0] += 1
    if tied:
        with pytest.raises(ValueError, match="the model's head is tied: 'head.weight' must have the numbers of"):
            model.load_state_dict(state)
    else:
        assert model.load_state_dict(state).state_dict()["head.weight"][0, 0] == float(state["head.weight"][0, 0])
    with pytest.raises(ValueError, match="missing: embedding.weight"):
        model.load_state_dict({name: value for name, value in state.items() if name != "embedding.weight"})


@pytest.mark.parametrize("wrong, line", [
    (["a"], "'head.bias' must be an array of numbers: could not convert"),
    (np.array([1j]), "'head.bias' must be an array of numbers: it holds complex numbers"),
    (torch.ones(1, dtype=torch.complex64), "it holds complex numbers"),
    (torch.ones(1, device="meta"), "'head.bias' must be an array of numbers: "),
    (torch.ones(1).to_sparse(), "'head.bias' must be an array of numbers: "),
    ([[1], [2, 3]], "'head.bias' must be an array of numbers: "),
    ([np.nan], "weights must be finite numbers"),
    ([1, 2], r"'head.bias' must have the shape \[1\], got \[2\]"),
])
def test_what_is_no_weight_is_refused_and_changes_nothing(wrong, line):
    model = tt.from_torch(*modules("LSTM", 1, 2, 3, 1))
    before = model.state_dict()
    with pytest.raises(ValueError, match=line):
        model.load_state_dict({**before, "rnn.bias_ih_l0": np.ones(12), "head.bias": wrong})
    assert all((before[name] == value).all() for name, value in model.state_dict().items())


def test_a_state_must_be_a_dict_by_names():
    model = tt.from_torch(*modules("LSTM", 1, 2, 3, 1))
    with pytest.raises(ValueError, match="the weights must be a dict of arrays, got a list"):
        model.load_state_dict([])
    with pytest.raises(ValueError, match="unknown: 1"):
        model.load_state_dict({1: 2})


# ---------------------------------------------------------------- files


def test_a_file_of_ours_is_read_by_others(tmp_path):
    net, other = Net(*modules("LSTM", 2, 3, 4, 2)), Net(*modules("LSTM", 2, 3, 4, 2, seed=6))
    x = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    model = tt.from_torch(net.rnn, head=net.head).partial_fit(x, x[:, :2])
    model.save(tmp_path / "model.safetensors")
    tensors = read_tensors(tmp_path / "model.safetensors")
    beside = [name for name in tensors if name.startswith("throughtime.")]
    assert beside  # the optimizer's moments among others
    other.load_state_dict({name: value for name, value in tensors.items() if name not in beside})
    with torch.no_grad():
        assert np.allclose(other(torch.from_numpy(x)).numpy(), model.predict(x), atol=2e-6)
    weights = tt.read_safetensors(tmp_path / "model.safetensors")
    assert weights.keys() == other.state_dict().keys()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # PyTorch warns of arrays that cannot be written to
        net.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    assert same_numbers(net, numbers_of(other))
    fresh = tt.from_torch(*modules("LSTM", 2, 3, 4, 2, seed=7))
    for state in (weights, tensors):  # with what is beside the weights, and without
        assert (fresh.load_state_dict(state).predict(x) == model.predict(x)).all()
    begun = tt.Regressor(hidden=4, layers=2, weights=weights, epochs=1, optimizer=tt.SGD(rate=0.0)).fit(x, x[:, :2])
    assert (begun.predict(x) == model.predict(x)).all()


@pytest.mark.parametrize("kind", ["float", "double", "half", "bfloat16"])
def test_a_file_of_others_is_read_here(kind, tmp_path):
    net = getattr(Net(*modules("GRU", 1, 3, 4, 2)), kind)()
    write_tensors(tmp_path / "net.safetensors", net.state_dict())
    weights = tt.read_safetensors(tmp_path / "net.safetensors")
    assert weights.keys() == net.state_dict().keys()
    assert all((value == net.state_dict()[name].double().numpy()).all() for name, value in weights.items())
    model = tt.from_torch(*modules("GRU", 1, 3, 4, 2, seed=5)).load_state_dict(weights)
    other = Net(*(each.double() for each in modules("GRU", 1, 3, 4, 2, seed=5)))
    model.to_torch(other.rnn, head=other.head)
    assert same_numbers(other, numbers_of(net.double()))
    assert same_numbers(other, {name: value.double() for name, value in read_tensors(tmp_path / "net.safetensors").items()})


def test_a_tied_net_goes_through_a_file(tmp_path):
    net, x = words(tied=True), tokens()
    write_tensors(tmp_path / "net.safetensors", net.state_dict())
    model = of_words(words(tied=True, seed=3)).load_state_dict(tt.read_safetensors(tmp_path / "net.safetensors"))
    assert np.allclose(model.predict_proba(x), probabilities(net, x), atol=2e-6)
    model.save(tmp_path / "model.safetensors")
    assert read_tensors(tmp_path / "model.safetensors")["embedding.weight"].equal(net.embedding.weight.detach())


def file(header, data=b""):
    return len(header).to_bytes(8, "little") + header + data


@pytest.mark.parametrize("content, line", [
    (file(b'{"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}', b"1"), "'a' has the dtype 'F8_E4M3'; known: F64, F32"),
    (file(b'{"a":{"dtype":["F32"],"shape":[1],"data_offsets":[0,4]}}', b"1234"), r"'a' has the dtype \['F32'\]; known: "),
    (file(b'{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}', b"1"), "'a' needs dtype, shape and data_offsets"),
    (file(b'{"a":{"dtype":"U8","shape":[true],"data_offsets":[0,1]}}', b"1"), "'a' needs dtype, shape and data_offsets"),
    (file(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0.0,1]}}', b"1"), "'a' needs dtype, shape and data_offsets"),
    (file(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}}', b"1"), "'a' lies at bytes"),
    (file(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}}', b"1"), "'a' lies at bytes"),
    (file(b'{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}', b"1"), r"'a' lies at bytes \[0, 2\], the data has 1"),
    (file(b'{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"a":[]}', b"1"), "a name occurs twice"),
    (file(b'{"a":7}'), "'a' needs dtype"),
    (file(b"[" * 100000), "cannot be read: "),
    ((1 << 62).to_bytes(8, "little") + b"{}", "its header claims 4611686018427387904 bytes, the file has 10 in all"),
], ids=lambda value: value if isinstance(value, str) else "file")
def test_a_broken_file_is_refused(content, line, tmp_path):
    (tmp_path / "broken").write_bytes(content)
    with pytest.raises(ValueError, match=r"\[safetensors\] .*broken cannot be read: ") as error:
        tt.read_safetensors(tmp_path / "broken")
    assert re.search(line, str(error.value))


def test_the_smallest_files(tmp_path):
    (tmp_path / "empty").write_bytes(file(b"{}"))
    assert tt.read_safetensors(tmp_path / "empty") == {}
    write_tensors(tmp_path / "small", {"one": torch.tensor(2.5, dtype=torch.bfloat16).reshape(1)[0], "none": torch.ones(0, 3)})
    found = tt.read_safetensors(tmp_path / "small")
    assert found["one"].shape == () and found["one"] == 2.5 and found["none"].shape == (0, 3)
    special = torch.tensor([float("inf"), -float("inf"), -0.0, 1e-40, 3e38], dtype=torch.bfloat16)
    write_tensors(tmp_path / "special", {"a": special})
    assert tt.read_safetensors(tmp_path / "special")["a"].tobytes() == special.float().numpy().tobytes()
