"""What comes in from PyTorch: tensors of every kind."""

import numpy as np
import pytest
import throughtime as tt
from torch_support import torch


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
