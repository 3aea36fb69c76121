"""Runs of the command, read and evaluated; and that what the library learned to do of late is there."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
import throughtime as tt

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def command():
    path = pathlib.Path(os.environ.get("THROUGHTIME_COMMAND", ROOT / "build" / "release" / "throughtime"))
    if not path.exists():
        pytest.skip("the command is not built")
    return path


@pytest.fixture
def words(tmp_path):
    """A run that has learned a little of a text whose test part has other words."""
    known = "".join("the cat saw a dog\n" if i % 7 % 2 else "a dog saw the cat\n" for i in range(60))
    for name, text in (("train", known), ("valid", "dog dog cat saw the a\n" * 12), ("test", "dog dog cat saw the a\n" * 12)):
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "words.toml").write_text("""
[task]
name = "text"
[task.text]
length = 7
corpus = "files"
files = ["train.txt", "valid.txt", "test.txt"]
[model]
hidden = 6
embedding = 4
[train]
iterations = 30
batch = 4
evaluate_every = 10
""")
    return tt.train(tmp_path / "words.toml", run__directory=str(tmp_path / "run"))


def test_an_evaluation_is_the_command_s(words, command):
    for arguments, line in (({}, []), ({"split": "validation", "best": True}, ["--split", "validation", "--best"]),
                            ({"dynamic": {"rate": 0.01, "columns": 4}}, ["--dynamic", "--rate", "0.01", "--columns", "4"]),
                            ({"dynamic": {"tune": True, "rate": [0.01, 0.1], "decay": np.float32(0.5), "columns": 4}},
                             ["--dynamic", "--tune", "--rate", "0.01,0.1", "--decay", "0.5", "--columns", "4"])):
        done = subprocess.run([command, "evaluate", words.path, "--json", *line], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert words.evaluate(**arguments) == json.loads(done.stdout)


def test_an_evaluation_that_goes_on_learning_is_better(words):
    found = words.evaluate(dynamic={"rate": 0.01, "columns": 4})
    assert found["perplexity"] < found["static"]["perplexity"]
    assert found["static"]["perplexity"] == pytest.approx(words.evaluate()["perplexity"], rel=0.02)
    assert words.evaluate(dynamic=True)["dynamic"]["segment"] == 5


@pytest.mark.parametrize("arguments, line", [
    (dict(split="tests"), r"\[evaluate\] unknown split 'tests'; did you mean 'test'"),
    (dict(dynamic={"rates": 1}), r"\[evaluate\] there is no setting 'rates' of a dynamic evaluation; known: tune, rate"),
    (dict(dynamic={"rate": "a"}), r"\[evaluate\] the request cannot be read"),
    (dict(dynamic={"rate": [1.0, 2.0]}), r"\[evaluate\] --rate has 2 values; --tune chooses one"),
    (dict(dynamic={"scaling": "sums"}), r"\[evaluate\] unknown scaling 'sums'; did you mean 'sum'"),
    (dict(train__seed=2), r"train.seed cannot change"),
])
def test_an_evaluation_that_cannot_be_is_refused(words, arguments, line):
    with pytest.raises(ValueError, match=line):
        words.evaluate(**arguments)


def test_runs_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="no run directory"):
        tt.Run(tmp_path)
    (tmp_path / "config.toml").write_text("")
    assert tt.Run(tmp_path).result is None and len(tt.Run(tmp_path).metrics) == 0
    with pytest.raises(ValueError):
        tt.Run(tmp_path).evaluate()


def test_a_run_that_is_being_written_is_read_as_far_as_it_goes(tmp_path):
    (tmp_path / "config.toml").write_text("")
    whole = '{"iteration": 1, "train_loss": 2.0}\n{"iteration": 2, "train_loss": 1.0}\n'
    for rest in ("", "{", '{"iteration": 3, "tra', '{"iteration": 3, "train_loss": 0.5}', "{\u00e4".encode()[:2]):
        (tmp_path / "metrics.jsonl").write_bytes(whole.encode() + (rest if isinstance(rest, bytes) else rest.encode()))
        assert list(tt.Run(tmp_path).metrics["train_loss"]) == [2.0, 1.0]
    (tmp_path / "metrics.jsonl").write_text('{"itera')
    assert len(tt.Run(tmp_path).metrics) == 0
    (tmp_path / "metrics.jsonl").write_text(whole + "{\n" + whole)
    with pytest.raises(ValueError, match=r"\[run\] .*metrics.jsonl, line 3 cannot be read"):
        tt.Run(tmp_path).metrics


def test_values_that_no_file_could_have_are_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"^\[train\] train.seed: it must be a number, a text, True, False or a list of them"):
        tt.train(tmp_path / "none.toml", train__seed=None)
    (tmp_path / "config.toml").write_text("")
    with pytest.raises(ValueError, match=r"^\[evaluate\] task.series.path: it must be a number"):
        tt.Run(tmp_path).evaluate(task__series__path=tmp_path)


@pytest.mark.parametrize("parameters", [
    dict(optimizer=tt.Adam(average="always")),
    dict(optimizer=tt.SGD(rate=1.0, average="non_monotone", average_patience=1, average_test="after")),
    dict(options={"model.dropout_recurrent": 0.3}),
    dict(options={"model.activation_penalty": 0.5, "model.slowness_penalty": 0.5}),
    dict(options={"model.embedding": 4, "model.dropout_embedding": 0.3}),
    dict(options={"train.best_by": "mse"}),
    dict(options={"train.evaluate_epochs": 2}),
], ids=lambda each: str(each)[:60])
def test_what_is_new_is_there_and_changes_something(sine, parameters):
    tokens = "embedding" in str(parameters)
    x, y = (np.arange(600) % 7, np.arange(600) % 7 / 7.0) if tokens else sine
    shape = dict(hidden=4, epochs=20, batch=4, window=25, threads=1, keep_best=False, vocabulary=7 if tokens else 0)
    model = tt.Regressor(**{**shape, **parameters}).fit(x[:400], y[:400], validation=(x[400:], y[400:]))
    rule = parameters.get("optimizer")
    plain = {"optimizer": type(rule)(rate=rule.rate)} if rule is not None else {}
    if tokens:
        plain["options"] = {"model.embedding": 4}
    other = tt.Regressor(**{**shape, **plain}).fit(x[:400], y[:400], validation=(x[400:], y[400:]))
    same = (model.predict(x) == other.predict(x)).all()
    assert same == ("train." in str(parameters)), "what is looked at changes nothing of what is learned"
    if rule is not None and rule.average == "non_monotone":
        with pytest.raises(ValueError, match="waits for validations, which a stream does not have"):
            model.learn_one(x[0], y[0])
        model.set_params(optimizer__average="off")
    assert np.isfinite(model.learn_many(x[:50], y[:50]).predict(x)).all()


def test_a_stream_s_weights_go_back_to_the_first_ones(sine):
    x, y = sine
    ends = []
    for anchor in (0.0, 0.5, 1.0):
        model = tt.Regressor(hidden=4, epochs=1, options={"stream.anchor": anchor} if anchor else None).fit(x, y)
        first = model.state_dict()
        model.learn_many(x, y)
        ends.append(max(np.abs(value - first[name]).max() for name, value in model.state_dict().items()))
    assert ends[0] > ends[1] > ends[2] == 0


def test_what_is_best_by_another_metric_needs_a_validation(sine):
    with pytest.raises(ValueError, match=r"train.best_by"):
        tt.Regressor(hidden=2, epochs=1, options={"train.best_by": "mse"}).fit(*sine)
