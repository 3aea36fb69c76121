"""The oil temperature of a transformer one hour ahead, row by row (ETTh1.csv): this library, PyTorch, and the last value.

    PYTHONPATH=python python3 examples/python/etth1.py ETTh1.csv [--torch]

Each model reads the seven columns of an hour, scaled by running means, and predicts how the temperature changes. Every
prediction is made before its answer is learned from.
"""

import sys
import time

import numpy as np
import throughtime as tt

HIDDEN, TRUNCATION, RATE = 32, 10, 1e-3


def rows(path):
    table = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=range(1, 8), dtype=np.float32)
    return table[:-1], table[1:, -1] - table[:-1, -1]


def ours(x, change):
    model = tt.Regressor(hidden=HIDDEN, learner=tt.TBPTT(preset="original", truncation=TRUNCATION), standardise=True,
                         optimizer=tt.Adam(rate=RATE), threads=1)
    return np.array([model.observe(row, float(target)) for row, target in zip(x, change)])


def pytorch(x, change):
    """The same by hand: running scales, a window of the last ten rows, the state before it."""
    import torch

    torch.manual_seed(1)
    torch.set_num_threads(1)
    rnn, head = torch.nn.LSTM(x.shape[1], HIDDEN), torch.nn.Linear(HIDDEN, 1)
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=RATE)
    both = np.concatenate([x, change[:, None]], axis=1).astype(np.float64)
    count, mean, square = 0, np.zeros(both.shape[1]), np.zeros(both.shape[1])
    state, window, guesses = None, [], []
    now = (torch.zeros(1, 1, HIDDEN), torch.zeros(1, 1, HIDDEN))
    for row in both:
        deviation = np.sqrt(square / count) + 1e-9 if count > 1 else np.ones_like(mean)
        scaled = np.clip((row - mean) / deviation, -10, 10) if count > 1 else np.zeros_like(mean)
        with torch.no_grad():
            out, now = rnn(torch.tensor(scaled[:-1], dtype=torch.float32).view(1, 1, -1), now)
            guesses.append(float(head(out)[0, 0, 0]) * deviation[-1] + mean[-1])
        count += 1
        distance = row - mean
        mean += distance / count
        square += distance * (row - mean)
        window.append(scaled)
        if len(window) > TRUNCATION:
            with torch.no_grad():
                state = rnn(torch.tensor(window[0][:-1], dtype=torch.float32).view(1, 1, -1), state)[1]
            window.pop(0)
        steps = torch.tensor(np.array(window), dtype=torch.float32)
        out, _ = rnn(steps[:, None, :-1], state)
        loss = (head(out[-1, 0]) - steps[-1, -1]) ** 2
        optimizer.zero_grad()
        loss.sum().backward()
        optimizer.step()
    return np.array(guesses)


def main():
    x, change = rows(sys.argv[1])
    naive = np.mean(change**2)
    print(f"| {len(x)} rows | mean squared error | of the last value's | rows a second |\n| --- | --- | --- | --- |")
    print(f"| the last value | {naive:.4f} | 1 | |")
    for name, method in [("throughtime", ours), ("PyTorch", pytorch)][:2 if "--torch" in sys.argv else 1]:
        begin = time.perf_counter()
        error = np.mean((method(x, change) - change) ** 2)
        print(f"| {name} | {error:.4f} | {error / naive:.3f} | {len(x) / (time.perf_counter() - begin):,.0f} |", flush=True)


if __name__ == "__main__":
    main()
