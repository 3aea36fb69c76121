#!/usr/bin/env python3
"""Writes the golden files of this folder with PyTorch, in double precision and with fixed seeds.

One file per cell, number of layers and head: parameters under PyTorch's names, inputs, targets, initial states,
outputs, loss, gradients, and the losses around ten steps of Adam and of SGD. `fptt-CELL.json` is what the benchmark's
peer makes of two sequences in three windows each; `weight_drop-CELL.json` has masks on its recurrent weights;
`awd_lstm.json` is a language model with every mask, both penalties, and ten updates; `mixture.json` the same with a
mixture of softmaxes. Run it again only to change the tests, with names of files to make those alone:

    python3 tests/golden/make_golden.py
"""

import copy
import functools
import json
import pathlib
import sys

import torch

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent.parent / "bench" / "peers"))
import torch_peer  # noqa: E402

STEPS, BATCH, INPUTS, HIDDEN = 7, 3, 4, 5
OUTPUTS = {"softmax": 3, "regression": 2}
UPDATES = 10
RATES = {"adam": 0.01, "sgd": 0.1}
CELLS = {
    "lstm": lambda layers: torch.nn.LSTM(INPUTS, HIDDEN, layers),
    "gru": lambda layers: torch.nn.GRU(INPUTS, HIDDEN, layers),
    "rnn_tanh": lambda layers: torch.nn.RNN(INPUTS, HIDDEN, layers, nonlinearity="tanh"),
    "rnn_relu": lambda layers: torch.nn.RNN(INPUTS, HIDDEN, layers, nonlinearity="relu"),
}


class Network(torch.nn.Module):
    """Recurrent layers under `rnn`, one linear layer under `head`."""

    def __init__(self, cell, layers, head):
        super().__init__()
        self.rnn = CELLS[cell](layers)
        self.head = torch.nn.Linear(HIDDEN, OUTPUTS[head])

    def forward(self, inputs, state):
        output, final = self.rnn(inputs, state)
        return output, final, self.head(output)


def single_precision(*shape):
    """Normal numbers that survive a trip through float: the library's inputs and targets are floats."""
    return torch.randn(*shape, dtype=torch.float32).double()


def as_rnn_state(tensors):
    return tensors if len(tensors) == 2 else tensors[0]


def as_list_of_tensors(state):
    return list(state) if isinstance(state, tuple) else [state]


def mean_loss(head, z, target):
    if head == "softmax":
        return torch.nn.functional.cross_entropy(z.reshape(-1, z.shape[-1]), target.reshape(-1))
    return torch.nn.functional.mse_loss(z, target)


def losses_of_updates(name, network, head, inputs, target, state):
    """UPDATES + 1 losses: before the first update and after each."""
    network = copy.deepcopy(network)
    optimizer = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[name](network.parameters(), lr=RATES[name])
    losses = []
    for _ in range(UPDATES + 1):
        optimizer.zero_grad()
        loss = mean_loss(head, network(inputs, state)[2], target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def golden(cell, layers, head):
    torch.manual_seed(1000 * layers + 100 * list(OUTPUTS).index(head) + list(CELLS).index(cell))
    network = Network(cell, layers, head).double()
    inputs = single_precision(STEPS, BATCH, INPUTS)
    if head == "softmax":
        target = torch.randint(OUTPUTS[head], (STEPS, BATCH))
    else:
        target = single_precision(STEPS, BATCH, OUTPUTS[head])
    state_tensors = 2 if cell == "lstm" else 1
    initial = [(0.5 * torch.randn(layers, BATCH, HIDDEN).double()).requires_grad_() for _ in range(state_tensors)]

    output, final, z = network(inputs, as_rnn_state(initial))
    loss = mean_loss(head, z, target)
    loss.backward()

    frozen = as_rnn_state([tensor.detach() for tensor in initial])
    return {
        "cell": cell,
        "layers": layers,
        "head": head,
        "shape": {"steps": STEPS, "batch": BATCH, "inputs": INPUTS, "hidden": HIDDEN, "outputs": OUTPUTS[head]},
        "inputs": inputs,
        "target": target,
        "parameters": {name: parameter.detach() for name, parameter in network.named_parameters()},
        "initial_state": [tensor.detach() for tensor in initial],
        "output": output.detach(),
        "final_state": [tensor.detach() for tensor in as_list_of_tensors(final)],
        "prediction": (torch.softmax(z, -1) if head == "softmax" else z).detach(),
        "loss": loss.item(),
        "gradient": {name: parameter.grad for name, parameter in network.named_parameters()},
        "initial_state_gradient": [tensor.grad for tensor in initial],
        "updates": {
            name: {"rate": rate, "losses": losses_of_updates(name, network, head, inputs, target, frozen)}
            for name, rate in RATES.items()
        },
    }


def fptt_golden(cell):
    """Parameters, W-bar and lambda after each of two sequences, one target per row at the end, windows of 3, 3 and 2 steps."""
    torch.manual_seed(list(CELLS).index(cell))
    steps, windows, alpha, rate = 8, 3, 0.5, 0.02
    network = Network(cell, 1, "regression").double()
    learner = torch_peer.Fptt(torch, network.rnn, network.head, alpha, rate)
    names = [name for name, _ in network.named_parameters()]
    result = {
        "cell": cell,
        "layers": 1,
        "head": "regression",
        "shape": {"steps": steps, "batch": BATCH, "inputs": INPUTS, "hidden": HIDDEN, "outputs": OUTPUTS["regression"]},
        "window_length": 3,
        "alpha": alpha,
        "rate": rate,
        "parameters": {name: weight.clone() for name, weight in zip(names, learner.weights)},
        "inputs": single_precision(steps, BATCH, INPUTS),
        "target": single_precision(BATCH, OUTPUTS["regression"]),
        "after": [],
    }
    for _ in range(2):
        learner.learn(torch.tensor_split(result["inputs"], windows), result["target"])
        tensors = {"parameters": learner.weights, "average": learner.average, "multiplier": learner.multiplier}
        result["after"].append({key: {name: tensor.clone() for name, tensor in zip(names, value)}
                                for key, value in tensors.items()})
    return result


def philox(counter, key):
    """Philox 4x32 with ten rounds: the library's random numbers, written down once more."""
    counter, key = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [second >> 32 ^ counter[1] ^ key[0], second & 0xFFFFFFFF,
                   first >> 32 ^ counter[3] ^ key[1], first & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def mask_numbers(key, purpose, layer, share, count, step=0, row=0):
    """0 with probability `share`, else 1 / (1 - share) as a float: the mask of src/engine/dropout.h."""
    survivor = torch.tensor(1 / (1 - share), dtype=torch.float32).double().item()
    words = [word for block in range((count + 3) // 4)
             for word in philox((block, row, step, layer << 16 | purpose << 24), (key & 0xFFFFFFFF, key >> 32))]
    return [0.0 if word < round(share * 2**32) else survivor for word in words[:count]]


class WeightDropped(torch.nn.Module):
    """Layers of stock cells whose recurrent matrices are masked; the masks are given."""

    def __init__(self, cell, layers, masks):
        super().__init__()
        self.network = Network(cell, layers, "softmax").double()
        self.masks = masks  # per layer: [rows * HIDDEN, HIDDEN]

    def forward(self, inputs, state):
        # A recurrent module multiplies by this list, which holds its parameters in the order of their names.
        rnn = self.network.rnn
        rnn._flat_weights = [getattr(rnn, name) * self.masks[int(name[-1])] if "weight_hh" in name
                             else getattr(rnn, name) for name in rnn._flat_weights_names]
        return self.network(inputs, state)


def weight_drop_golden(cell, layers=2, share=0.5, key=0x1234567890ABCDEF):
    """Loss and every gradient of a net whose recurrent weights are dropped by the masks of one key."""
    torch.manual_seed(500 + list(CELLS).index(cell))
    purpose, rows = 10, {"lstm": 4, "gru": 3}.get(cell, 1) * HIDDEN
    masks = [torch.tensor(mask_numbers(key, purpose, layer, share, rows * HIDDEN)).double().reshape(rows, HIDDEN)
             for layer in range(layers)]
    model = WeightDropped(cell, layers, masks)
    inputs = single_precision(STEPS, BATCH, INPUTS)
    target = torch.randint(OUTPUTS["softmax"], (STEPS, BATCH))
    tensors = [torch.zeros(layers, BATCH, HIDDEN).double() for _ in range(2 if cell == "lstm" else 1)]
    loss = mean_loss("softmax", model(inputs, as_rnn_state(tensors))[2], target)
    loss.backward()
    return {
        "cell": cell,
        "layers": layers,
        "head": "softmax",
        "shape": {"steps": STEPS, "batch": BATCH, "inputs": INPUTS, "hidden": HIDDEN, "outputs": OUTPUTS["softmax"]},
        "share": share,
        "key": [key >> 32, key & 0xFFFFFFFF],
        "masks": masks,
        "inputs": inputs,
        "target": target,
        "parameters": {name: parameter.detach() for name, parameter in model.network.named_parameters()},
        "loss": loss.item(),
        "gradient": {name: parameter.grad for name, parameter in model.network.named_parameters()},
    }


class AwdLstm(torch.nn.Module):
    """Two stock LSTMs, the second as wide as the embedding unless it is told, whose matrix is the head's too. Masks are
    those of a key."""

    SHARES = {"embedding": 0.3, "input": 0.25, "between": 0.4, "output": 0.35, "recurrent": 0.5}

    def __init__(self, vocabulary, embedding, hidden, top=None):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, embedding)
        self.layers = torch.nn.ModuleList([torch.nn.LSTM(embedding, hidden), torch.nn.LSTM(hidden, top or embedding)])
        self.bias = torch.nn.Parameter(0.1 * torch.randn(vocabulary))

    def named(self):
        """Parameters under the library's names."""
        named = {"embedding.weight": self.embedding.weight}
        for index, layer in enumerate(self.layers):
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                named[f"rnn.{name}_l{index}"] = getattr(layer, name + "_l0")
        return named | {"head.bias": self.bias}

    def locked(self, values, key, purpose, layer, share):
        """One mask for each row, the same at all steps."""
        rows = [mask_numbers(key, purpose, layer, share, values.shape[-1], row=row) for row in range(values.shape[1])]
        return values * torch.tensor(rows).double()

    def forward(self, tokens, key):
        """Scores, outputs after dropout, outputs before it."""
        shares = self.SHARES
        words = torch.tensor(mask_numbers(key, 3, 1, shares["embedding"], self.embedding.num_embeddings)).double()
        x = torch.nn.functional.embedding(tokens, self.embedding.weight * words[:, None])
        x = self.locked(x, key, 3, 0, shares["input"])
        for index, layer in enumerate(self.layers):
            if index > 0:
                x = self.locked(x, key, 4, index, shares["between"])
            raw = layer.weight_hh_l0
            mask = torch.tensor(mask_numbers(key, 10, index, shares["recurrent"], raw.numel())).double()
            layer._flat_weights = [raw * mask.reshape(raw.shape) if "weight_hh" in name else getattr(layer, name)
                                   for name in layer._flat_weights_names]
            x, _ = layer(x)
        dropped = self.locked(x, key, 5, 0, shares["output"])
        return self.scores(dropped, key), dropped, x

    def scores(self, features, key):
        return torch.nn.functional.linear(features, self.embedding.weight, self.bias)


class Mixture(AwdLstm):
    """The same with a mixture of softmaxes, whose scores are the logarithms of its probabilities."""

    EXPERTS = 4
    SHARES = AwdLstm.SHARES | {"latent": 0.3}

    def __init__(self, vocabulary, embedding, hidden, top):
        super().__init__(vocabulary, embedding, hidden, top)
        self.prior = torch.nn.Linear(top, self.EXPERTS, bias=False)
        self.latent = torch.nn.Linear(top, self.EXPERTS * embedding)

    def named(self):
        return super().named() | {"head.prior.weight": self.prior.weight, "head.latent.weight": self.latent.weight,
                                  "head.latent.bias": self.latent.bias}

    def scores(self, features, key):
        latent = self.locked(torch.tanh(self.latent(features)), key, 5, 2, self.SHARES["latent"])
        latent = latent.reshape(*latent.shape[:-1], self.EXPERTS, -1)  # [steps, B, experts, embedding]
        experts = torch.log_softmax(super().scores(latent, key), -1)
        return torch.logsumexp(torch.log_softmax(self.prior(features), -1)[..., None] + experts, -2)


def language_model_golden(kind, vocabulary=9, embedding=5, hidden=6, top=None, steps=6, key=0x0123456789ABCDEF):
    """Losses, penalties and gradients of one window; then ten updates, of which the last six are averaged."""
    torch.manual_seed(900)
    penalties, rate, clip, decay, plain, updates = {"activation": 2.0, "slowness": 1.0}, 0.5, 0.25, 0.01, 4, 10
    model = kind(vocabulary, embedding, hidden, top).double()
    text = torch.randint(vocabulary, (steps + 1, BATCH))

    def losses(key):
        scores, dropped, outputs = model(text[:-1], key)
        return (mean_loss("softmax", scores, text[1:]), penalties["activation"] * dropped.pow(2).mean(),
                penalties["slowness"] * (outputs[1:] - outputs[:-1]).pow(2).mean())

    first = losses(key)
    sum(first).backward()
    named = model.named()
    result = {
        "shape": {"vocabulary": vocabulary, "embedding": embedding, "hidden": hidden, "steps": steps, "batch": BATCH}
        | ({"top": top, "experts": kind.EXPERTS} if top else {}),
        "key": [key >> 32, key & 0xFFFFFFFF],
        "shares": model.SHARES,
        "penalties": penalties,
        "text": text,
        "parameters": {name: parameter.detach().clone() for name, parameter in named.items()},
        "loss": first[0].item(),
        "activation": first[1].item(),
        "slowness": first[2].item(),
        "gradient": {name: parameter.grad.clone() for name, parameter in named.items()},
        "rate": rate, "clip": clip, "weight_decay": decay, "plain_updates": plain, "updates": updates,
    }
    parameters = list(named.values())
    optimizer = torch.optim.SGD(parameters, lr=rate, weight_decay=decay)
    iterates = []  # since the switch; PyTorch's own average multiplies by shares in single precision
    for update in range(updates):
        optimizer.zero_grad()
        sum(losses(key + 1 + update)).backward()
        torch.nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        if update >= plain:
            iterates.append({name: parameter.detach().clone() for name, parameter in named.items()})
    return result | {
        "after": {name: parameter.detach() for name, parameter in named.items()},
        "average": {name: sum(iterate[name] for iterate in iterates[1:]) / (len(iterates) - 1) for name in named},
    }


def write(value, indent=""):
    """JSON with one row of numbers per line, so that a difference shows where it is."""
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    inner = indent + " "
    if isinstance(value, dict):
        entries = [f"{inner}{json.dumps(key)}: {write(entry, inner)}" for key, entry in value.items()]
        return "{\n" + ",\n".join(entries) + "\n" + indent + "}"
    if isinstance(value, list) and isinstance(value[0], (dict, list, torch.Tensor)):
        return "[\n" + ",\n".join(inner + write(entry, inner) for entry in value) + "\n" + indent + "]"
    return json.dumps(value)


def main():
    torch.set_num_threads(1)
    makers = {f"{cell}-{layers}-{head}": functools.partial(golden, cell, layers, head)
              for cell in CELLS for layers in (1, 2) for head in OUTPUTS}
    makers |= {f"fptt-{cell}": functools.partial(fptt_golden, cell) for cell in ("lstm", "gru")}
    makers |= {f"weight_drop-{cell}": functools.partial(weight_drop_golden, cell) for cell in CELLS}
    makers["awd_lstm"] = functools.partial(language_model_golden, AwdLstm)
    makers["mixture"] = functools.partial(language_model_golden, Mixture, top=7)
    for name in sys.argv[1:] or makers:
        (FOLDER / f"{name}.json").write_text(write(makers[name]()) + "\n")


if __name__ == "__main__":
    main()
