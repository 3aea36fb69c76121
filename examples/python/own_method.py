"""A training method of one's own: truncated back-propagation through time, over a state that is carried on."""

import numpy as np
import throughtime as tt


class Truncated:
    """Windows of `length` steps. Each begins with the state that the one before it ended with."""

    def __init__(self, engine, rows, length, rate):
        self.engine, self.length, self.rate = engine, length, rate
        self.state = engine.buffer(rows, engine.model.state)
        self.loss = engine.buffer(1)

    def learn(self, X, y):
        """One pass over [rows, steps, features]; returns the mean loss."""
        rows, steps = X.shape[:2]
        self.state.value = 0
        self.loss.value = 0
        for first in range(0, steps, self.length):
            window = tt.Window(X, y, min(self.length, steps - first), start=[first] * rows, sequence=range(rows))
            self.engine.unroll(window, initial_state=self.state, final_state=self.state, loss_sum=self.loss)
            self.engine.pull_back()
            self.engine.apply_update(self.rate, scale=1 / (rows * window.steps))
        return self.loss.value[0] / (rows * steps)


def train(passes=30, rows=4, steps=100):
    t = np.arange(steps)[None] + 25 * np.arange(rows)[:, None]
    X, y = np.sin(0.2 * t)[..., None].astype(np.float32), np.sin(0.2 * (t + 1))[..., None].astype(np.float32)
    model = tt.Model(features=1, outputs=1, cell="lstm", hidden=16, optimizer=tt.Adam(clip=1.0))
    method = Truncated(tt.Engine(model), rows, length=20, rate=0.01)
    losses = [method.learn(X, y) for _ in range(passes)]
    return X, y, method, losses


if __name__ == "__main__":
    losses = train()[-1]
    print(f"mean squared error of the first pass {losses[0]:.4f}, of the last {losses[-1]:.4f}")
