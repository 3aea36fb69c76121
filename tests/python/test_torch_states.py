"""Outputs at every step and the states after the last, against the modules themselves."""

import numpy as np
import pytest
import throughtime as tt
from torch_support import KINDS, modules, torch

CELLS = {"LSTM": "lstm", "GRU": "gru", "RNN": "rnn_tanh", "RNN_relu": "rnn_relu"}
# features, hidden, outputs, steps, rows: the smallest, such as fill registers, such as do not, and random ones
SIZES = [(1, 1, 1, 1, 1), (1, 1, 1, 7, 1), (1, 2, 1, 1, 3), (3, 16, 2, 9, 1), (5, 17, 3, 12, 33), (9, 33, 2, 5, 4)]
SIZES += [tuple(np.random.default_rng(seed).integers(1, 24, size=5).tolist()) for seed in range(4)]


def engine_of(rnn, head, kind, engine):
    """An engine of ours with the weights of the modules."""
    model = tt.Model(features=rnn.input_size, outputs=head.out_features, cell=CELLS[kind], hidden=rnn.hidden_size,
                     layers=rnn.num_layers, engine=engine)
    weights = {**{f"rnn.{name}": value for name, value in rnn.state_dict().items()},
               **{f"head.{name}": value for name, value in head.state_dict().items()}}
    assert [block["name"] for block in model.blocks] == list(weights)
    ours = tt.Engine(model)
    ours.parameters.value = np.concatenate([value.numpy().ravel() for value in weights.values()])
    return ours


def flat(state):
    """h_n and c_n [layers, rows, hidden] as the library has them: of each row layer after layer, h before c."""
    tensors = state if isinstance(state, tuple) else (state,)
    rows = tensors[0].shape[1]
    return torch.stack(tensors, dim=1).permute(2, 0, 1, 3).reshape(rows, -1).numpy()


@pytest.mark.parametrize("engine, kind_of_numbers, close", [("reference", "double", 1e-12), ("cpu", "float", 3e-6)])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_outputs_and_final_states_are_those_of_the_modules(kind, layers, engine, kind_of_numbers, close):
    for seed, (features, hidden, outputs, steps, rows) in enumerate(SIZES):
        rnn, head = (getattr(each, kind_of_numbers)() for each in modules(kind, layers, features, hidden, outputs, seed))
        x = np.random.default_rng(seed).normal(size=(rows, steps, features)).astype(np.float32)
        with torch.no_grad():
            out, state = rnn(getattr(torch.from_numpy(x), kind_of_numbers)())
            wanted, states = head(out).numpy(), flat(state)
        ours = engine_of(rnn, head, kind, engine)
        final, predictions = ours.buffer(rows, ours.model.state), ours.buffer(steps, rows, outputs)
        window = tt.Window(x, np.zeros((rows, steps, outputs)), steps, start=[0] * rows, sequence=range(rows))
        ours.unroll(window, final_state=final, predictions=predictions)
        size = (features, hidden, outputs, steps, rows)
        assert final.shape == states.shape, size
        assert np.allclose(final.value, states, rtol=close, atol=close), size
        assert np.allclose(predictions.value.transpose(1, 0, 2), wanted, rtol=close, atol=close), size


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_state_of_the_modules_goes_on_here(kind, layers):
    for seed in range(3):
        features, hidden, steps, rows = np.random.default_rng(seed).integers(1, 20, size=4).tolist()
        rnn, head = (each.double() for each in modules(kind, layers, features, hidden, 1, seed))
        x = np.random.default_rng(seed).normal(size=(rows, 2 * steps, features)).astype(np.float32)
        with torch.no_grad():
            first = rnn(torch.from_numpy(x[:, :steps]).double())[1]
            wanted = flat(rnn(torch.from_numpy(x).double())[1])
        ours = engine_of(rnn, head, kind, "reference")
        initial, final = (ours.buffer(rows, ours.model.state) for _ in range(2))
        initial.value = flat(first)
        window = tt.Window(x, np.zeros((rows, 2 * steps)), steps, start=[steps] * rows, sequence=range(rows))
        ours.unroll(window, initial_state=initial, final_state=final)
        assert np.allclose(final.value, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_an_estimator_answers_as_the_modules(kind, layers, size):
    features, hidden, outputs, steps, rows = size
    rnn, head = modules(kind, layers, features, hidden, outputs, seed=steps)
    x = np.random.default_rng(rows).normal(size=(rows, steps, features)).astype(np.float32)
    with torch.no_grad():
        wanted = head(rnn(torch.from_numpy(x))[0]).numpy()
    found = tt.from_torch(rnn, head=head, targets="step").predict(x)
    assert np.allclose(found.reshape(wanted.shape), wanted, rtol=3e-6, atol=3e-6)
    last = tt.from_torch(rnn, head=head, targets="sequence").predict(x)
    assert np.allclose(last.reshape(rows, outputs), wanted[:, -1], rtol=3e-6, atol=3e-6)
