"""What tests of streams share."""

import numpy as np
import throughtime as tt


def small(**more):
    return tt.Regressor(**{"hidden": 4, "learner": tt.TBPTT(preset="original", truncation=3), **more})


def rows(count, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, 2)).astype(np.float32)
    return x, (x[:, 0] - x[:, 1]).astype(np.float32)


def weights_of(model):
    return np.concatenate([value.ravel() for value in model.state_dict().values()])
