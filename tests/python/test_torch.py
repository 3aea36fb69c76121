import copy
import importlib.util
import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import throughtime as tt
from torch_support import KINDS, modules, of_words, torch, words

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_outputs_are_those_of_the_modules(kind, layers):
    random = np.random.default_rng(layers)
    features, hidden, outputs, steps, rows = (int(random.integers(1, 12)) for _ in range(5))
    rnn, head = modules(kind, layers, features, hidden, outputs)
    model = tt.from_torch(rnn, head=head, targets="step")
    x = random.normal(size=(rows, steps, features)).astype(np.float32)
    with torch.no_grad():
        wanted = head(rnn(torch.from_numpy(x))[0]).numpy()
    found = model.predict(x)
    assert np.allclose(found.reshape(wanted.shape), wanted, atol=2e-6)
    stream = tt.from_torch(rnn, head=head, targets="step", streams=rows)
    for row in range(rows):  # the final state too: what a stream answers after all but the last step
        for step in range(steps - 1):
            stream.ask(x[row, step], stream=row)
        answer = np.atleast_1d(stream.predict_one(x[row, -1], stream=row))
        assert np.allclose(answer, wanted[row, -1], atol=2e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_gradient_of_bptt_is_that_of_autograd(kind, layers):
    random = np.random.default_rng(7 + layers)
    features, hidden, outputs, steps, rows = (int(random.integers(1, 9)) for _ in range(5))
    rnn, head = modules(kind, layers, features, hidden, outputs)
    x = random.normal(size=(rows, steps, features)).astype(np.float32)
    y = random.normal(size=(rows, steps, outputs)).astype(np.float32)
    # One step of plain descent with rate 1 moves the weights by the gradient of the mean loss.
    model = tt.from_torch(rnn, head=head, targets="step", learner=tt.BPTT(), optimizer=tt.SGD(rate=1.0), batch=rows)
    before = model.state_dict()
    model.partial_fit(x, y)
    after = model.state_dict()
    loss = ((head(rnn(torch.from_numpy(x))[0]) - torch.from_numpy(y)) ** 2).mean()
    loss.backward()
    wanted = {f"rnn.{name}": value.grad.numpy() for name, value in rnn.named_parameters()}
    wanted.update({f"head.{name}": value.grad.numpy() for name, value in head.named_parameters()})
    for name, gradient in wanted.items():
        assert np.allclose(before[name] - after[name], gradient, atol=3e-6), name


@pytest.mark.parametrize("vocabulary, width, steps, rows", [(2, 1, 1, 1), (7, 4, 9, 3), (19, 17, 5, 33)])
@pytest.mark.parametrize("tied", [False, True])
def test_the_gradient_of_tokens_is_that_of_autograd(tied, vocabulary, width, steps, rows):
    net = words(tied, vocabulary=vocabulary, width=width)
    x, y = np.random.default_rng(vocabulary).integers(vocabulary, size=(2, rows, steps))
    model = of_words(net, learner=tt.BPTT(), optimizer=tt.SGD(rate=1.0), batch=rows)
    before = model.state_dict()
    model.partial_fit(x, y)
    after = model.state_dict()
    torch.nn.functional.cross_entropy(net(torch.from_numpy(x)).flatten(0, 1), torch.from_numpy(y).flatten()).backward()
    wanted = {name: value.grad.numpy() for name, value in net.named_parameters()}
    assert len(wanted) == len(before)
    for name, value in before.items():
        assert np.allclose(value - after[name], wanted["head.weight" if name not in wanted else name], atol=3e-6), name


def test_twenty_updates_of_truncated_bptt_with_adam():
    random = np.random.default_rng(2)
    rnn, head = modules("LSTM", 1, 2, 6, 1)
    x = random.normal(size=(1, 100, 2)).astype(np.float32)
    y = x.sum(axis=2, keepdims=True)
    model = tt.from_torch(rnn, head=head, targets="step", learner=tt.TBPTT(preset="plain", truncation=5),
                          optimizer=tt.Adam(rate=0.01), batch=1).partial_fit(x, y)
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=0.01)
    state = None
    for step in range(0, 100, 5):
        out, state = rnn(torch.from_numpy(x[:, step:step + 5]), state)
        state = tuple(each.detach() for each in state)
        optimizer.zero_grad()
        ((head(out) - torch.from_numpy(y[:, step:step + 5])) ** 2).mean().backward()
        optimizer.step()
    for name, value in model.state_dict().items():
        module, key = (rnn, name[4:]) if name.startswith("rnn.") else (head, name[5:])
        assert np.allclose(value, module.state_dict()[key].numpy(), atol=2e-4), name


@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back_bit_for_bit(kind):
    rnn, head = modules(kind, 2, 3, 4, 2, dropout=0.25)
    before = {name: value.clone() for name, value in rnn.state_dict().items()}
    other_rnn, other_head = modules(kind, 2, 3, 4, 2, seed=9)
    model = tt.from_torch(rnn, head=head)
    assert model.dropout == 0.25
    model.to_torch(other_rnn, head=other_head)
    assert all(torch.equal(before[name], value) for name, value in other_rnn.state_dict().items())
    assert torch.equal(head.weight, other_head.weight)
    with pytest.raises(ValueError, match="has the shape"):
        model.to_torch(*modules(kind, 2, 3, 5, 2))


def test_fit_begins_with_the_weights_of_the_modules():
    """And does so again; the modules themselves may change in between."""
    rnn, head = modules("LSTM", 1, 1, 8, 1)
    t = np.arange(200)
    x, y = np.sin(0.2 * t)[:, None].astype(np.float32), np.sin(0.2 * (t + 1)).astype(np.float32)
    model = tt.from_torch(rnn, head=head, learner=tt.FPTT(windows=4), epochs=1, threads=1)
    before = model.predict(x)
    model.partial_fit(x, y)
    wanted = model.predict(x)
    assert (wanted != before).any()
    with torch.no_grad():
        head.bias += 1
    for each in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert (each.fit(x, y).predict(x) == wanted).all()
    model.set_params(seed=9)
    assert (model.fit(x, y).predict(x) == wanted).all()  # the seed draws no weights here
    classifier = tt.from_torch(rnn, head=torch.nn.Linear(8, 3), loss="classification", classes=["a", "b", "c"], epochs=1)
    assert classifier.fit(x, np.where(y > 0, "a", "b")).predict_proba(x).shape == (200, 3)
    with pytest.raises(ValueError, match="the weights are for 3 classes, got 2"):
        tt.from_torch(rnn, head=torch.nn.Linear(8, 3), loss="classification", classes=["a", "b"])
    with pytest.raises(ValueError, match="classes are for loss='classification'"):
        tt.from_torch(rnn, head=head, classes=["a", "b"])


def test_a_clone_has_the_weights_of_the_modules():
    base = pytest.importorskip("sklearn.base")
    rnn, head = modules("GRU", 1, 1, 4, 1)
    model = tt.from_torch(rnn, head=head, epochs=1, optimizer=tt.SGD(rate=0.0))
    x = np.ones((20, 1), np.float32)
    assert (base.clone(model).fit(x, x[:, 0]).predict(x) == model.predict(x)).all()


def test_tokens_an_embedding_and_a_tied_head():
    x = np.random.default_rng(0).integers(0, 7, size=(3, 10))
    for tied in (False, True):
        net = words(tied)
        model = of_words(net)
        with torch.no_grad():
            wanted = torch.softmax(net(torch.from_numpy(x)), dim=-1).numpy()
        assert np.allclose(model.predict_proba(x), wanted, atol=2e-6)
        assert ("head.weight" in model.state_dict()) is not tied


def test_a_cell_that_is_another_one_in_pytorch_is_refused():
    """PyTorch's GRU resets after its product; ours has both forms, and only the same one goes back."""
    rnn, head = modules("GRU", 1, 2, 3, 1)
    x = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    model = tt.Regressor(cell="gru_reset_before", hidden=3, epochs=1).fit(x, x[:, 0])
    with pytest.raises(ValueError, match="the model's cell is gru_reset_before, the module is a GRU"):
        model.to_torch(rnn, head=head)
    tt.Regressor(cell="gru", hidden=3, epochs=1).fit(x, x[:, 0]).to_torch(rnn, head=head)


def test_it_trains_and_comes_back_better():
    rnn, head = modules("LSTM", 1, 1, 8, 1)
    t = np.arange(400)
    x, y = np.sin(0.2 * t)[:, None].astype(np.float32), np.sin(0.2 * (t + 1)).astype(np.float32)
    model = tt.from_torch(rnn, head=head, loss="regression")
    before = model.score(x, y)
    model.set_params(learner=tt.FPTT(window_length=10, alpha=0.5), epochs=1, optimizer=tt.Adam(rate=0.01), window=50)
    for _ in range(20):
        model.partial_fit(x, y)
    assert model.score(x, y) > before
    model.to_torch(rnn, head=head)
    with torch.no_grad():
        answers = head(rnn(torch.from_numpy(x[None]))[0])[0, :, 0].numpy()
    assert np.allclose(answers, model.predict(x), atol=1e-5)


@pytest.mark.parametrize("order", ["torch, throughtime", "throughtime, torch"])
def test_torch_may_be_imported_first_or_second(order):
    program = (f"import {order}; import numpy as np, throughtime as tt; x = np.ones((30, 1)); "
               "m = tt.Regressor(hidden=2, epochs=1, threads=2).fit(x, x[:, 0]); torch.nn.LSTM(2, 3)(torch.ones(4, 2)); "
               "print(m.predict(x).shape)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).resolve().parents[2] / "python")})
    assert done.stdout == "(30,)\n", done.stderr


def program(*place):
    """A program of this tree as a module."""
    spec = importlib.util.spec_from_file_location(place[-1], ROOT.joinpath(*place).with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_twenty_updates_of_fptt_are_those_of_the_peer(kind, layers, seed):
    random = np.random.default_rng(100 * layers + seed)
    features, hidden, rows, length = (int(random.integers(1, 7)) for _ in range(4))
    steps = 20 * length
    x = random.normal(size=(rows, steps, features)).astype(np.float32)
    y = random.normal(size=rows).astype(np.float32)
    rnn, head = modules(kind, layers, features, hidden, 1, seed)
    # In double, and without batch_first, as the peer reads its windows.
    other_rnn = getattr(torch.nn, kind)(features, hidden, layers).double()
    other_head = torch.nn.Linear(hidden, 1).double()
    other_rnn.load_state_dict(rnn.state_dict())
    other_head.load_state_dict(head.state_dict())
    fptt = program("bench", "peers", "torch_peer").Fptt(torch, other_rnn, other_head, alpha=0.1, rate=1e-2)
    pieces = torch.tensor_split(torch.from_numpy(x).double().transpose(0, 1).contiguous(), 20)
    fptt.learn(pieces, torch.from_numpy(y).double()[:, None])

    model = tt.from_torch(rnn, head=head, targets="sequence", learner=tt.FPTT(windows=20, alpha=0.1), batch=rows,
                          optimizer=tt.Adam(rate=1e-2, clip=1.0), engine="reference").partial_fit(x, y)
    first = {**{f"rnn.{name}": value for name, value in rnn.state_dict().items()},
             **{f"head.{name}": value for name, value in head.state_dict().items()}}
    for name, value in model.state_dict().items():
        module, key = (other_rnn, name[4:]) if name.startswith("rnn.") else (other_head, name[5:])
        wanted = module.state_dict()[key].numpy()
        assert np.allclose(value, wanted, atol=1e-5), name
        assert np.abs(wanted - first[name].numpy()).max() > 1e-3, name


AT_A_GLANCE = """
import throughtime as tt

model = tt.Regressor(cell="lstm", hidden=32, learner=tt.FPTT(window_length=20, alpha=0.1),
                     optimizer=tt.Adam(rate=1e-3, clip=1.0), epochs=5, batch=16, seed=1)
model.fit(X, y, validation=(Xv, yv))   # X [steps, features], [sequences, steps, features] or a list of recordings
model.history_.plot()

for x, target in sensor:               # goes on where fit ended, for ever, in constant memory
    guess = model.predict_one(x)       # x: dict, array or number; changes nothing
    model.learn_one(x, target)

mine = tt.from_torch(net.lstm, head=net.out, loss="regression")   # torch.nn modules, trained elsewhere
mine.set_params(learner=tt.FPTT(windows=20, alpha=0.5), epochs=3).fit(X, y)
mine.to_torch(net.lstm, head=net.out)                             # and back into them

found = tt.diagnose(model, X, y)       # how far back gradients reach
found.truncation(bias=0.1); found.plot()
"""


def test_all_of_it_at_a_glance(pyplot):
    t = np.arange(600)
    X, y = np.sin(0.1 * t)[:, None].astype(np.float32), np.sin(0.1 * (t + 1)).astype(np.float32)
    net = torch.nn.Module()
    net.lstm, net.out = modules("LSTM", 1, 1, 16, 1)
    names = {"X": X[:500], "y": y[:500], "Xv": X[500:], "yv": y[500:], "sensor": list(zip(X[500:], y[500:])), "net": net}

    def error():
        with torch.no_grad():
            return float(((net.out(net.lstm(torch.from_numpy(X[None]))[0])[0, :, 0] - torch.from_numpy(y)) ** 2).mean())

    before = error()
    exec(AT_A_GLANCE, names)
    assert error() < before and names["found"].truncation(bias=0.1) > 0 and abs(names["guess"]) < 2


@pytest.mark.parametrize("task", ["add", "etth1"])
def test_the_example_of_before_and_after(task, tmp_path, monkeypatch, capsys):
    """On as little as it can do; what it does in earnest is in docs/python.md."""
    example = program("examples", "python", "torch_then_fptt")
    monkeypatch.setattr(example, "PATIENCE", 1)
    for each, values in ((example.Add, {"steps": 40, "rows": 4, "batches_between_looks": 1, "further_batches": 2}),
                         (example.Etth1, {"further_batches": 1})):
        for name, value in values.items():
            monkeypatch.setattr(each, name, value)
    lines = np.random.default_rng(0).normal(size=(14401, 7)) if task == "etth1" else []
    (tmp_path / "rows.csv").write_text("\n".join(["date,a,b,c,d,e,f,OT"] + ["," + ",".join(map("{:.3f}".format, row))
                                                                            for row in lines]))
    monkeypatch.setattr("sys.argv", ["torch_then_fptt.py", task, "1", "2", "--data", str(tmp_path / "rows.csv")])
    example.main()
    printed = capsys.readouterr().out
    assert "| mean ± deviation | " in printed and "FPTT against as many updates: " in printed
    assert len(re.findall(r"^\| [12] \|( [0-9.]+ \|){4}", printed, flags=re.M)) == 2
