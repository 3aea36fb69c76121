#!/usr/bin/env python3
"""Measures what calling throughtime from Python costs, for `throughtime bench --python`: an LSTM of 32 units, one thread.

    python_overheads.py --describe             the versions, or what is missing (exit code 3)
    python_overheads.py --calls                rows a second of learn_many, of observe, of predict_one with learn_one
    python_overheads.py --torch                of the same loop in PyTorch
    python_overheads.py --fit --command PATH   steps a second of fit, and of `throughtime train` on the same arrays, from
                                               the call to its return, and from the start of the process to its end;
                                               `later`: without what a run of one epoch takes
    python_overheads.py --import               milliseconds that the import takes beyond NumPy's

Each prints one line of JSON. Rows, steps and milliseconds are pairs: by the wall clock, and by the processor's, which stands
still while other programs run. The package is that of this clone, its library that of THROUGHTIME_LIBRARY or
build/release.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

FEATURES, HIDDEN, TRUNCATION = 4, 32, 10
FIT_STEPS, FIT_ROWS, FIT_TRUNCATION, FIT_WINDOW = 64000, 16, 20, 100
EXIT_MISSING = 3
PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE))


def rates(work, rows):
    """Rows a second by both clocks."""
    wall, cpu = time.perf_counter(), time.thread_time()
    work()
    return [rows / (time.perf_counter() - wall), rows / (time.thread_time() - cpu)]


def version_of_torch():
    """Without importing it, which takes seconds."""
    if importlib.util.find_spec("torch") is None:
        return None
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return "of an unknown version"


def describe():
    try:
        import numpy
    except ImportError:
        return {"missing": f"{sys.executable} has no NumPy; scripts/setup installs Debian's, for /usr/bin/python3"}
    try:
        import throughtime
    except ImportError as error:
        return {"missing": str(error)}
    return {"throughtime": throughtime.__version__, "numpy": numpy.__version__, "torch": version_of_torch()}


def calls(rows):
    import numpy as np
    import throughtime as tt

    def model():
        learner = tt.TBPTT(preset="original", truncation=TRUNCATION)
        return tt.Regressor(hidden=HIDDEN, learner=learner, threads=1)

    x = np.random.default_rng(0).normal(size=(rows, FEATURES)).astype(np.float32)
    y = [float(value) for value in x.sum(axis=1)]
    arrays, dicts = list(x), [dict(zip("abcd", map(float, row))) for row in x]
    many, observing, named = model(), model(), model()

    def observe(rows):
        for row, target in zip(arrays[:rows], y):
            observing.observe(row, target)

    def pair(rows):
        for row, target in zip(dicts[:rows], y):
            named.predict_one(row)
            named.learn_one(row, target)

    found = {}
    for name, work in (("learn_many", lambda n: many.learn_many(x[:n], y[:n])), ("observe", observe), ("pair", pair)):
        work(rows // 10)  # the first rows begin the stream and warm the caches
        found[name] = rates(lambda: work(rows), rows)
    return found


def torch_loop(rows):
    """The same by hand: a loss at the newest row, gradients through the last ten, Adam."""
    import torch

    torch.set_num_threads(1)
    rnn, head = torch.nn.LSTM(FEATURES, HIDDEN), torch.nn.Linear(HIDDEN, 1)
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
    x = torch.randn(rows + TRUNCATION, 1, FEATURES)

    def loop(rows):
        state = (torch.zeros(1, 1, HIDDEN), torch.zeros(1, 1, HIDDEN))
        for row in range(rows):
            out, _ = rnn(x[row:row + TRUNCATION], state)
            loss = (head(out[-1, 0]) - x[row + TRUNCATION - 1].sum()) ** 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                _, state = rnn(x[row:row + 1], state)

    loop(max(1, rows // 10))
    return {"torch": rates(lambda: loop(rows), rows)}


def fit(command, epochs):
    """Steps a second of a whole fit and of a whole process of the command, on the same recording with the same options: the
    checks of the arrays, the model, the handover and all that is told on the way are in the one; the start of a program,
    reading two files and writing a run in the other. `later` is what is left of each without a run of one epoch."""
    import numpy as np
    import throughtime as tt

    x = np.random.default_rng(0).normal(size=(FIT_STEPS, FEATURES)).astype(np.float32)
    y = x.sum(axis=1)

    def fitted(epochs):
        tt.Regressor(hidden=HIDDEN, learner=tt.TBPTT(preset="plain", truncation=FIT_TRUNCATION), batch=FIT_ROWS,
                     window=FIT_WINDOW, epochs=epochs, threads=1).fit(x, y)

    def trained(epochs):
        with tempfile.TemporaryDirectory() as folder:
            line = [command, "train", configuration_of(pathlib.Path(folder), x, y, epochs)]
            return seconds_of(lambda: subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
                              resource.RUSAGE_CHILDREN)

    fitted(1)  # loads the library, which a second fit has
    found = {}
    for name, seconds in (("fit", lambda n: seconds_of(lambda: fitted(n), resource.RUSAGE_SELF)), ("train", trained)):
        one, all_of_them = seconds(1), seconds(epochs)
        found[name] = [FIT_STEPS * epochs / each for each in all_of_them]
        found[name + "_later"] = [FIT_STEPS * (epochs - 1) / (each - first) for each, first in zip(all_of_them, one)]
    return found


def seconds_of(work, of_whom):
    """By the wall clock and by the processor's, threads included."""
    wall, before = time.perf_counter(), resource.getrusage(of_whom)
    work()
    wall, after = time.perf_counter() - wall, resource.getrusage(of_whom)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def configuration_of(folder, x, y, epochs):
    """The file for the command that trains as that fit does, the arrays beside it."""
    import numpy as np

    np.save(folder / "train_inputs.npy", x)
    np.save(folder / "train_targets.npy", y)
    every = max(1, FIT_STEPS // FIT_ROWS // FIT_WINDOW // 4)  # as often as fit tells how it goes
    (folder / "run.toml").write_text(
        f'[task]\nname = "arrays"\n[task.arrays]\npath = "{folder}"\nlength = {FIT_WINDOW}\n'
        f'[model]\nhidden = {HIDDEN}\n[learner]\nname = "tbptt"\n'
        f'[learner.tbptt]\npreset = "plain"\ntruncation = {FIT_TRUNCATION}\n'
        f"[train]\nepochs = {float(epochs)}\nbatch = {FIT_ROWS}\nreport_every = {every}\n"
        f'[run]\nthreads = 1\ndirectory = "{folder / "run"}"\n')
    return folder / "run.toml"


def imports(times):
    program = f"""
import sys, time, numpy
sys.path.insert(0, {str(PACKAGE)!r})
wall, cpu = time.perf_counter(), time.thread_time()
import throughtime
print(1e3 * (time.perf_counter() - wall), 1e3 * (time.thread_time() - cpu))
"""
    done = [subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
            for _ in range(times)]
    return {"import": [min(float(line[clock]) for line in done) for clock in (0, 1)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for action in ("--describe", "--calls", "--torch", "--fit", "--import"):
        parser.add_argument(action, action="store_true", dest=action[2:])
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--command", default="throughtime")
    chosen = vars(parser.parse_args())
    actions = {"describe": describe, "calls": lambda: calls(chosen["rows"]), "torch": lambda: torch_loop(chosen["rows"]),
               "fit": lambda: fit(chosen["command"], chosen["epochs"]), "import": lambda: imports(chosen["times"])}
    for name, action in actions.items():
        if chosen[name]:
            answer = action()
            print(json.dumps(answer), flush=True)
            if "missing" in answer:
                return EXIT_MISSING
    return 0


if __name__ == "__main__":
    sys.exit(main())
