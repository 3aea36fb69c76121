"""An LSTM that PyTorch has trained by truncated back-propagation until it gets no better: what FPTT makes of it, and what
PyTorch makes of it in as many further batches and in as many further updates.

    PYTHONPATH=python python3 examples/python/torch_then_fptt.py add [SEEDS]
    PYTHONPATH=python python3 examples/python/torch_then_fptt.py etth1 [SEEDS] --data ETTh1.csv

add: the sum of two marked numbers of 200, asked for at the end. etth1: how the oil temperature changes within an hour,
asked for at each hour. SEEDS are numbers such as 1 2 3. All errors are mean squares on a test part, computed in PyTorch;
each part of a run keeps the weights that were best on validation data.
"""

import argparse
import copy
import pathlib

import numpy as np
import throughtime as tt
import torch

HIDDEN, TRUNCATION, CLIP = 32, 20, 1.0
PATIENCE = 10  # looks at the validation without an error that is 1 % smaller: it gets no better


class Add:
    """Numbers between 0 and 1 with two marks; fresh sequences for each batch."""

    targets, features, steps, rows, rate = "sequence", 2, 200, 64, 3e-3
    batches_between_looks, further_batches = 100, 1500
    updates_of_a_batch = 1  # by truncated back-propagation: the loss is in the last window

    def __init__(self, seed, _):
        self.random = np.random.default_rng(seed)
        fixed = np.random.default_rng(1000)
        self.validation, self.test = self.draw(fixed, 1000), self.draw(fixed, 2000)

    def draw(self, random, rows):
        x = np.zeros((rows, self.steps, 2), np.float32)
        x[:, :, 0] = random.random((rows, self.steps))
        half = self.steps // 2
        for first in (0, half):
            x[np.arange(rows), first + random.integers(half, size=rows), 1] = 1
        return x, x.prod(axis=2).sum(axis=1)

    def batch(self):
        return self.draw(self.random, self.rows)


class Etth1:
    """A year of hours in 16 rows, four months to choose by and four to test; every batch is the whole year."""

    targets, features, steps, rows, rate = "step", 7, 540, 16, 1e-3
    batches_between_looks, further_batches = 1, 60
    updates_of_a_batch = steps // TRUNCATION

    def __init__(self, _, path):
        table = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=range(1, 8), dtype=np.float32)[:14401]
        change = table[1:, -1] - table[:-1, -1]
        x, year = table[:-1], slice(0, self.rows * self.steps)
        x = (x - x[year].mean(axis=0)) / x[year].std(axis=0)
        y = (change - change[year].mean()) / change[year].std()
        self.year = x[year].reshape(self.rows, self.steps, 7), y[year].reshape(self.rows, self.steps)
        self.validation, self.test = ((x[None, part], y[None, part]) for part in (slice(8640, 11520), slice(11520, 14400)))

    def batch(self):
        return self.year


class Net:
    """The modules, and their training in PyTorch."""

    def __init__(self, task, seed):
        torch.manual_seed(seed)
        self.task = task
        self.rnn, self.head = torch.nn.LSTM(task.features, HIDDEN, batch_first=True), torch.nn.Linear(HIDDEN, 1)
        self.parameters = [*self.rnn.parameters(), *self.head.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, lr=task.rate)

    def answers(self, outputs):
        return self.head(outputs[:, -1] if self.task.targets == "sequence" else outputs)[..., 0]

    def error(self, part):
        with torch.no_grad():
            return float(((self.answers(self.rnn(torch.from_numpy(part[0]))[0]) - torch.from_numpy(part[1])) ** 2).mean())

    def learn(self, x, y):
        """Truncated back-propagation over a batch: windows whose first state is the last one before, as a constant."""
        x, y, state = torch.from_numpy(x), torch.from_numpy(y), None
        first = 0
        if self.task.targets == "sequence":  # no loss before the last window, so no gradient either
            first = x.shape[1] - TRUNCATION
            with torch.no_grad():
                _, state = self.rnn(x[:, :first])
        for begin in range(first, x.shape[1], TRUNCATION):
            window = slice(begin, begin + TRUNCATION)
            outputs, state = self.rnn(x[:, window], state)
            state = tuple(each.detach() for each in state)
            wanted = y if self.task.targets == "sequence" else y[:, window]
            self.optimizer.zero_grad(set_to_none=True)
            ((self.answers(outputs) - wanted) ** 2).mean().backward()
            torch.nn.utils.clip_grad_norm_(self.parameters, CLIP)
            self.optimizer.step()


class Best:
    """The weights with the smallest validation error so far."""

    def __init__(self, net):
        self.net, self.looks, self.mark = net, 0, np.inf
        self.lowest = np.inf
        self.look()

    def look(self):
        error = self.net.error(self.net.task.validation)
        self.looks += 1
        if error < 0.99 * self.mark:
            self.looks, self.mark = 0, error
        if error < self.lowest:
            self.lowest = error
            self.weights = copy.deepcopy((self.net.rnn.state_dict(), self.net.head.state_dict()))

    def take(self):
        """Puts them into the modules."""
        self.net.rnn.load_state_dict(self.weights[0])
        self.net.head.load_state_dict(self.weights[1])

    def error(self):
        other = copy.deepcopy(self)
        other.take()
        return other.net.error(self.net.task.test)


def until_it_gets_no_better(net):
    """The test error, and the updates that it took."""
    best, batches = Best(net), 0
    while best.looks < PATIENCE:
        for _ in range(net.task.batches_between_looks):
            net.learn(*net.task.batch())
        batches += net.task.batches_between_looks
        best.look()
    best.take()
    return best.error(), batches * net.task.updates_of_a_batch


def further_in_pytorch(net, updates):
    """Test errors after as many batches as FPTT has seen, and after as many updates as it has made."""
    task, best, errors = net.task, Best(net), []
    more = updates // task.updates_of_a_batch
    for first, last, between in ((0, task.further_batches, task.batches_between_looks),
                                 (task.further_batches, more, task.batches_between_looks * more // task.further_batches)):
        for batch in range(first, last):
            net.learn(*task.batch())
            if (batch + 1) % between == 0:
                best.look()
        errors.append(best.error())
    return errors


def further_by_fptt(net):
    """The test error, and the updates that were made."""
    task, best = net.task, Best(net)
    model = tt.from_torch(net.rnn, head=net.head, targets=task.targets, batch=task.rows, threads=1,
                          learner=tt.FPTT(window_length=TRUNCATION, alpha=0.01),
                          optimizer=tt.Adam(rate=task.rate, clip=CLIP))
    for batch in range(1, task.further_batches + 1):
        model.partial_fit(*task.batch())
        if batch % task.batches_between_looks == 0:
            model.to_torch(net.rnn, head=net.head)
            best.look()
    return best.error(), task.further_batches * (task.steps // TRUNCATION)


def one_seed(make, seed, data):
    """Test errors: before, further in PyTorch (as many batches, as many updates), by FPTT. Updates: before, further."""
    net = Net(make(seed, data), seed)
    before, updates = until_it_gets_no_better(net)
    other = copy.deepcopy(net)  # the task's random numbers, too
    other.optimizer = torch.optim.Adam(other.parameters, lr=other.task.rate)  # both parts begin with a fresh one
    fptt, further = further_by_fptt(net)
    return [before, *further_in_pytorch(other, further), fptt], (updates, further)


def p_of_pairs(a, b):
    """Of a paired t test, two-sided."""
    try:
        from scipy import stats
    except ImportError:
        return "no t test, SciPy is not installed"
    return f"p = {stats.ttest_rel(a, b).pvalue:.2g}" if a != b else "the same errors"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["add", "etth1"])
    parser.add_argument("seeds", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--data", type=pathlib.Path, help="ETTh1.csv")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    make, errors = {"add": Add, "etth1": Etth1}[arguments.task], []
    print(f"The variance of the test's targets is {np.var(make(1, arguments.data).test[1]):.4f}: a constant has that error.")
    print("| seed | PyTorch until it gets no better | as many further batches in PyTorch | as many further updates in PyTorch "
          "| further by FPTT | updates before, further |\n| --- | --- | --- | --- | --- | --- |")
    for seed in arguments.seeds:
        found, updates = one_seed(make, seed, arguments.data)
        errors.append(found)
        print(f"| {seed} | " + " | ".join(f"{error:.4f}" for error in found) + " | {:,}, {:,} |".format(*updates), flush=True)
    if len(errors) > 1:
        summary = [f"{np.mean(column):.4f} ± {np.std(column, ddof=1):.4f}" for column in zip(*errors)]
        print("| mean ± deviation | " + " | ".join(summary) + " | |")
        before, batches, updates, fptt = zip(*errors)
        for name, other in (("before", before), ("as many batches", batches), ("as many updates", updates)):
            print(f"FPTT against {name}: {p_of_pairs(fptt, other)}")


if __name__ == "__main__":
    main()
