#!/usr/bin/env python3
"""Times the cases of `throughtime bench` in PyTorch (float32), written as a competent user would.

    torch_peer.py --describe
    torch_peer.py --case bptt-lstm-b128-h128-t200 --threads 2 [--tuned] [--device cuda] [--time cpu]

The first prints {"torch": version, "blas": name, "reference_blas": whether it is the slow one}; the second
prints one JSON object per line and case: {"case", "threads", "tuned", "milliseconds" (median), "repeats"}.
Case names are parsed, so any size can be asked for:

    bptt-CELL-bB-hH-tT          forward, loss on the last step, backward
    windows-CELL-bB-hH-tT-kK    K windows with the state carried and detached; loss at each end, clipping, Adam
    fptt-CELL-bB-hH-tT-kK       the same windows trained by FPTT: loss times t / T, regulariser, W-bar and lambda
    lm-CELL-bB-hH-tT-vV         embedding, softmax over V words at every step, backward
    awd-char-bB-hH-tT           AWD-LSTM on 50 characters: three LSTMs (H, H, H / 5), tied, all masks, clipping, Adam
    mos-bB-hH-eE-vV-tT          three LSTMs, E softmaxes over V words, all masks, both penalties, clipping, SGD

The first and the last three may end with -lL (L layers of H units), the last two with -kK (K windows trained by FPTT).

As it comes, only PyTorch's own thread count is set. Tuned, denormals are flushed and the thread counts of the
libraries below PyTorch are held to the same number. On a GPU the products are in full single precision (no TF32);
tuned, a whole iteration is captured once and replayed as a CUDA graph.
"""

import argparse
import ctypes
import json
import math
import os
import re
import statistics
import sys
import time

INPUTS = 2  # a value and a marker, as in the Add task
EXIT_NO_TORCH = 3
DEVICE_SAMPLE_SECONDS = 0.05  # as bench/measure.h has it
LIBRARY_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--describe", action="store_true", help="name the versions and measure nothing")
    action.add_argument("--case", action="append", default=[], help="may be given several times")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tuned", action="store_true")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--time", choices=("wall", "cpu"), default="wall", help="cpu: that of this process")
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=8.0, help="no new repeat after this time, once three are done")
    return parser.parse_args()


def parse_case(name):
    """`bptt-lstm-b128-h128-t200` -> {"kind": "bptt", "cell": "lstm", "b": 128, "h": 128, "t": 200}."""
    kind, *sizes = name.split("-")
    case = {"kind": kind, "cell": "lstm" if kind == "mos" else sizes.pop(0) if sizes else ""}
    for size in sizes:
        match = re.fullmatch(r"([a-z])([1-9][0-9]*)", size)
        if not match:
            raise ValueError(f"[torch_peer] {name}: {size} is not a letter and a size, such as b128")
        case[match[1]] = int(match[2])
    needed = {"bptt": "bht", "windows": "bhtk", "fptt": "bhtk", "lm": "bhtv", "awd": "bht", "mos": "bhevt"}.get(kind)
    if needed is None or any(letter not in case for letter in needed):
        raise ValueError(f"[torch_peer] {name}: expected bptt-, windows-, fptt-, lm-, awd- or mos- with the sizes listed "
                         "under --help")
    return case


def library_at(address):
    """The file in memory that holds the address."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            begin, end = (int(bound, 16) for bound in line.split()[0].split("-"))
            if begin <= address < end:
                return line.split()[-1]
    return ""


def file_of_products():
    """The library whose sgemm PyTorch calls; its own where it contains one."""
    with open("/proc/self/maps") as maps:
        torch_library = next((line.split()[-1] for line in maps if "/libtorch_cpu" in line), None)
    try:
        function = ctypes.CDLL(torch_library).sgemm_
    except (AttributeError, OSError):
        return ""
    return library_at(ctypes.cast(function, ctypes.c_void_p).value)


def blas_of(configuration, file):
    """The name of PyTorch's BLAS; `reference` is the slow one.

    Debian's PyTorch is built for any BLAS and takes the one that libblas.so.3 leads to. Others contain theirs.
    """
    for word, name in (("openblas", "OpenBLAS"), ("mkl", "MKL"), ("blis", "BLIS"), ("atlas", "ATLAS")):
        if word in file:
            return name
    if "/libblas." in file:
        return "reference"
    built_for = re.search(r"BLAS_INFO=(\w+)", configuration)
    return built_for[1] if built_for else "unknown"


def describe(torch):
    blas = blas_of(torch.__config__.show(), file_of_products())
    return {"torch": torch.__version__, "blas": blas, "reference_blas": blas == "reference"}


def antisymmetric(torch):
    """h + epsilon tanh(A h + V x + b), A = M - M^T - gamma I; input products once, then one step at a time."""

    class Antisymmetric(torch.nn.Module):
        def __init__(self, inputs, hidden, epsilon=0.01, gamma=0.01):
            super().__init__()
            self.input = torch.nn.Linear(inputs, hidden)
            self.raw = torch.nn.Parameter(torch.randn(hidden, hidden) / hidden**0.5)
            self.register_buffer("diffusion", gamma * torch.eye(hidden))
            self.epsilon = epsilon

        def forward(self, x, h=None):
            if h is None:
                h = x.new_zeros(x.shape[1], self.raw.shape[0])
            upper = torch.triu(self.raw, 1)
            transposed = (upper - upper.t() - self.diffusion).t()
            outputs = []
            for step in self.input(x).unbind(0):
                h = h + self.epsilon * torch.tanh(torch.addmm(step, h, transposed))
                outputs.append(h)
            return torch.stack(outputs), h

    return Antisymmetric


def recurrent_layers(torch, case, inputs):
    cell, hidden, layers = case["cell"], case["h"], case.get("l", 1)
    known = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN, "antisymmetric": antisymmetric(torch)}
    if cell not in known:
        raise ValueError(f"[torch_peer] the cell must be one of {', '.join(known)}, got {cell}")
    if layers == 1:
        return known[cell](inputs, hidden)
    if cell == "antisymmetric":
        raise ValueError(f"[torch_peer] the antisymmetric cell has one layer here, got {layers}")
    return known[cell](inputs, hidden, num_layers=layers)


def detach(state):
    return tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()


def zero_gradients(*modules):
    for module in modules:
        for parameter in module.parameters():
            parameter.grad = None


def adam(torch, parameters, rate):
    """One pass over all tensors; on a GPU it counts its steps there, so that a graph may hold it."""
    on_device = parameters[0].is_cuda
    return torch.optim.Adam(parameters, lr=rate, foreach=True, **({"capturable": True} if on_device else {}))


def add_task_inputs(torch, case):
    """x [T, B, 2]: uniform numbers and two marks per row; y [B, 1]: the sum of the marked numbers."""
    steps, batch = case["t"], case["b"]
    values = torch.rand(steps, batch)
    marks = torch.zeros(steps, batch)
    marks[torch.randint(steps // 2, (batch,)), torch.arange(batch)] = 1
    marks[steps // 2 + torch.randint(steps - steps // 2, (batch,)), torch.arange(batch)] = 1
    return torch.stack((values, marks), dim=-1), (values * marks).sum(0).unsqueeze(-1)


def bptt_step(torch, case):
    rnn = recurrent_layers(torch, case, INPUTS)
    head = torch.nn.Linear(case["h"], 1)
    x, y = add_task_inputs(torch, case)

    def run():
        zero_gradients(rnn, head)
        output, _ = rnn(x)
        torch.nn.functional.mse_loss(head(output[-1]), y).backward()

    return run


def windows_step(torch, case):
    rnn = recurrent_layers(torch, case, INPUTS)
    head = torch.nn.Linear(case["h"], 1)
    parameters = [*rnn.parameters(), *head.parameters()]
    optimizer = adam(torch, parameters, 1e-3)
    x, y = add_task_inputs(torch, case)
    pieces = torch.tensor_split(x, case["k"])

    def run():
        state = None
        for piece in pieces:
            optimizer.zero_grad(set_to_none=True)
            output, state = rnn(piece, state)
            torch.nn.functional.mse_loss(head(output[-1]), y).backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            state = detach(state)

    return run


class Fptt:
    """Forward propagation through time, lambda form with b = 1/2: all tensors of an operation in one foreach call."""

    def __init__(self, torch, rnn, head, alpha=0.1, rate=1e-3):
        self.rnn, self.head = rnn, head
        parameters = [*rnn.parameters(), *head.parameters()]
        self.begin(torch, parameters, adam(torch, parameters, rate), alpha)

    def begin(self, torch, parameters, optimizer, alpha, penalty=1.0, clip=1.0):
        self.torch, self.alpha, self.penalty, self.clip = torch, alpha, penalty, clip
        self.parameters, self.optimizer = parameters, optimizer
        self.weights = [parameter.detach() for parameter in self.parameters]  # the same memory, without autograd
        self.average = [weight.clone() for weight in self.weights]
        self.multiplier = [torch.zeros_like(weight) for weight in self.weights]

    def learn(self, pieces, y):
        """One sequence: pieces are the windows' x [omega, B, D], y [B, 1] the target at its end."""
        steps = sum(len(piece) for piece in pieces)
        state, seen = None, 0
        for piece in pieces:
            seen += len(piece)
            self.optimizer.zero_grad(set_to_none=True)
            output, state = self.rnn(piece, state)
            (seen / steps * self.torch.nn.functional.mse_loss(self.head(output[-1]), y)).backward()
            self.update()
            state = detach(state)

    def update(self):
        torch, alpha = self.torch, self.alpha
        gradients = [parameter.grad for parameter in self.parameters]
        torch._foreach_add_(gradients, torch._foreach_sub(self.weights, self.average), alpha=self.penalty * alpha)
        torch._foreach_sub_(gradients, self.multiplier)
        torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        distance = torch._foreach_sub(self.weights, self.average)
        torch._foreach_sub_(self.multiplier, distance, alpha=alpha)
        torch._foreach_add_(self.average, distance, alpha=0.5)
        torch._foreach_sub_(self.average, self.multiplier, alpha=0.5 / alpha)


def fptt_step(torch, case):
    learner = Fptt(torch, recurrent_layers(torch, case, INPUTS), torch.nn.Linear(case["h"], 1))
    x, y = add_task_inputs(torch, case)
    pieces = torch.tensor_split(x, case["k"])
    return lambda: learner.learn(pieces, y)


def language_model_step(torch, case):
    vocabulary, hidden = case["v"], case["h"]
    embedding = torch.nn.Embedding(vocabulary, hidden)
    rnn = recurrent_layers(torch, case, hidden)
    head = torch.nn.Linear(hidden, vocabulary)
    words = torch.randint(vocabulary, (case["t"] + 1, case["b"]))

    def run():
        zero_gradients(embedding, rnn, head)
        output, _ = rnn(embedding(words[:-1]))
        torch.nn.functional.cross_entropy(head(output).flatten(0, 1), words[1:].flatten()).backward()

    return run


def recipe_model(torch, case):
    """The models of FPTT's Table 5: stock LSTMs, weight drop on what they multiply by, masks that hold for a sequence."""
    functional, words = torch.nn.functional, case["kind"] == "mos"
    shares = ({"input": 0.4, "between": 0.225, "output": 0.4, "embedding": 0.1, "latent": 0.29} if words else
              {"input": 0.1, "between": 0.25, "output": 0.1, "embedding": 0.0}) | {"recurrent": 0.2}
    vocabulary = case["v"] if words else 50
    widths = [case["h"]] * 3 if words else [case["h"], case["h"], max(1, case["h"] // 5)]
    embedding = 280 if words else widths[-1]

    def locked(x, share):
        return x * torch.empty(1, *x.shape[1:]).bernoulli_(1 - share).div_(1 - share)

    class Recipe(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(torch.empty(vocabulary, embedding).uniform_(-0.1, 0.1))
            self.bias = torch.nn.Parameter(torch.zeros(vocabulary))
            self.layers = torch.nn.ModuleList([torch.nn.LSTM(inputs, units)
                                               for inputs, units in zip([embedding, *widths], widths)])
            if words:
                self.prior = torch.nn.Linear(widths[-1], case["e"], bias=False)
                self.latent = torch.nn.Linear(widths[-1], case["e"] * embedding)

        def read(self, tokens):
            if shares["embedding"] == 0:
                return functional.embedding(tokens, self.table)
            rows = torch.empty(vocabulary, 1).bernoulli_(1 - shares["embedding"]).div_(1 - shares["embedding"])
            return functional.embedding(tokens, self.table * rows)

        def forward(self, tokens, targets, states):
            """The loss with its penalties, and the states of the layers."""
            x, after = locked(self.read(tokens), shares["input"]), []
            for layer, state in zip(self.layers, states):
                if after:
                    x = locked(x, shares["between"])
                layer._flat_weights = [functional.dropout(getattr(layer, name), shares["recurrent"])
                                       if "weight_hh" in name else getattr(layer, name)
                                       for name in layer._flat_weights_names]
                x, state = layer(x, state)
                after.append(detach(state))
            dropped = locked(x, shares["output"])
            loss = self.loss(dropped, targets.flatten())
            if words:
                loss = loss + 2 * dropped.pow(2).mean() + (x[1:] - x[:-1]).pow(2).mean()
            return loss, after

        def loss(self, features, targets):
            if not words:
                return functional.cross_entropy(functional.linear(features, self.table, self.bias).flatten(0, 1), targets)
            latent = locked(torch.tanh(self.latent(features)), shares["latent"]).reshape(-1, embedding)
            experts = torch.softmax(functional.linear(latent, self.table, self.bias), -1)
            experts = experts.reshape(len(targets), case["e"], vocabulary)
            prior = torch.softmax(self.prior(features).flatten(0, 1), -1)
            mixed = torch.bmm(prior.unsqueeze(1), experts).squeeze(1)
            return functional.nll_loss(torch.log(mixed + 1e-8), targets)

    return Recipe(), vocabulary


def recipe_step(torch, case):
    model, vocabulary = recipe_model(torch, case)
    parameters, windows = list(model.parameters()), case.get("k", 1)
    optimizer = (adam(torch, parameters, 1e-3) if case["kind"] == "awd"
                 else torch.optim.SGD(parameters, lr=1e-3, weight_decay=1.2e-6, foreach=True))
    fptt = Fptt.__new__(Fptt)
    fptt.begin(torch, parameters, optimizer, alpha=0.2, penalty=2.0, clip=0.25)
    text = torch.randint(vocabulary, (case["t"] + 1, case["b"]))
    pieces = list(zip(torch.tensor_split(text[:-1], windows), torch.tensor_split(text[1:], windows)))

    def run():
        states = [None] * 3
        for tokens, targets in pieces:
            optimizer.zero_grad(set_to_none=True)
            loss, states = model(tokens, targets, states)
            loss.backward()
            if windows > 1:
                fptt.update()
            else:
                torch.nn.utils.clip_grad_norm_(parameters, 0.25)
                optimizer.step()

    return run


def graphed(torch, run):
    """The same work, recorded once: what is left of Python, launches and allocations is one call."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def measure(run, repeats, seconds, wait=lambda: None, sample_seconds=0.0, clock=time.perf_counter):
    """Milliseconds of each repeat after a warm-up; slow cases stop early, but not before three. A repeat is as many
    runs as take about `sample_seconds`; `wait` returns when nothing of them is under way any more."""

    def seconds_of(runs):
        wait()
        start = clock()
        for _ in range(runs):
            run()
        wait()
        return clock() - start

    if seconds_of(1) < 0.5:
        seconds_of(2)
    runs = max(1, math.ceil(sample_seconds / seconds_of(1))) if sample_seconds else 1
    times = []
    begin = time.perf_counter()
    while len(times) < repeats and (len(times) < 3 or time.perf_counter() - begin < seconds):
        times.append(1e3 * seconds_of(runs) / runs)
    return times


def main():
    arguments = parse_arguments()
    cases = [parse_case(name) for name in arguments.case]
    if arguments.tuned:
        os.environ.update({name: str(arguments.threads) for name in LIBRARY_THREADS})
    try:
        import torch
    except ImportError:
        print("[torch_peer] this Python has no torch", file=sys.stderr)
        return EXIT_NO_TORCH
    if arguments.describe:
        print(json.dumps(describe(torch)))
        return 0
    if arguments.tuned:
        torch.set_flush_denormal(True)  # before the first worker thread, which inherits it
    torch.set_num_threads(arguments.threads)
    on_device = arguments.device == "cuda"
    if on_device:
        torch.set_default_device("cuda")
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    steps = {"bptt": bptt_step, "windows": windows_step, "fptt": fptt_step, "lm": language_model_step,
             "awd": recipe_step, "mos": recipe_step}
    for name, case in zip(arguments.case, cases):
        torch.manual_seed(1)
        run = steps[case["kind"]](torch, case)
        if on_device:
            run = graphed(torch, run) if arguments.tuned else run
            times = measure(run, arguments.repeats, arguments.seconds, torch.cuda.synchronize, DEVICE_SAMPLE_SECONDS)
        else:
            clock = time.process_time if arguments.time == "cpu" else time.perf_counter
            times = measure(run, arguments.repeats, arguments.seconds, clock=clock)
        print(json.dumps({"case": name, "threads": arguments.threads, "tuned": arguments.tuned,
                          "milliseconds": statistics.median(times), "repeats": len(times)}), flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ValueError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
