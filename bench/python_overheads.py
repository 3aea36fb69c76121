"""What calling from Python costs: LSTM 32, truncation 10, one thread, beside the same loop in PyTorch where it is installed.

    PYTHONPATH=python python3 bench/python_overheads.py            a table in Markdown; the best of some rounds each
"""

import sys
import time

import numpy as np
import throughtime as tt

ROWS, FEATURES, HIDDEN, TRUNCATION, ROUNDS = 20000, 4, 32, 10, 5


def rate(work, rows):
    """Rows a second, the best of some rounds."""
    best = 0.0
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        best = max(best, rows / (time.perf_counter() - begin))
    return best


def model():
    return tt.Regressor(hidden=HIDDEN, learner=tt.TBPTT(preset="original", truncation=TRUNCATION), threads=1)


def streams():
    x = np.random.default_rng(0).normal(size=(ROWS, FEATURES)).astype(np.float32)
    y = [float(value) for value in x.sum(axis=1)]
    rows, dicts = list(x), [dict(zip("abcd", map(float, row))) for row in x]
    many, arrays, named = model(), model(), model()
    many.learn_many(x[:100], y[:100])
    arrays.observe(rows[0], y[0])
    named.learn_one(dicts[0], y[0])

    def observe():
        for row, target in zip(rows, y):
            arrays.observe(row, target)

    def pair():
        for row, target in zip(dicts, y):
            named.predict_one(row)
            named.learn_one(row, target)

    yield "`learn_many`, all rows in one call", rate(lambda: many.learn_many(x, y), ROWS)
    yield "`observe` with arrays", rate(observe, ROWS)
    yield "`predict_one` and `learn_one` with dicts", rate(pair, ROWS)


def torch_loop(rows=200):
    """The same in PyTorch: a loss at the newest row, gradients through the last ten, Adam."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
    rnn, head = torch.nn.LSTM(FEATURES, HIDDEN), torch.nn.Linear(HIDDEN, 1)
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
    x = torch.randn(rows + TRUNCATION, 1, FEATURES)

    def loop():
        state = (torch.zeros(1, 1, HIDDEN), torch.zeros(1, 1, HIDDEN))
        for row in range(rows):
            out, _ = rnn(x[row:row + TRUNCATION], state)
            loss = (head(out[-1, 0]) - x[row + TRUNCATION - 1].sum()) ** 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                _, state = rnn(x[row:row + 1], state)

    yield "the same loop in PyTorch", rate(loop, rows)


def main():
    print("| call | rows a second |\n| --- | --- |")
    for part in (streams, torch_loop):
        for name, value in part():
            print(f"| {name} | {value:,.0f} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
