import numpy as np
import pytest
import throughtime as tt

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone, is_classifier, is_regressor  # noqa: E402
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

try:  # from 1.6 on
    from sklearn.utils.estimator_checks import estimator_checks_generator as checks_of  # noqa: E402
except ImportError:
    from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

    def checks_of(estimator):
        return check_estimator(estimator, generate_only=True)

SMALL = dict(hidden=4, epochs=2, batch=2, window=20, threads=1)

THOROUGH = dict(SMALL, epochs=40, optimizer=tt.Adam(rate=0.05))  # a check wants every class among the answers

# Rows are a sequence, so what they mean depends on those before them.
ORDER = "rows are a sequence: an answer depends on the rows before it"
WEIGHTS = "a row without weight is no row less, a heavy one no two rows: the state goes through each row once"
NEWER = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 6)
EXPECTED = {
    "check_methods_subset_invariance": ORDER,
    "check_methods_sample_order_invariance": ORDER,
    "check_sample_weight_equivalence_on_dense_data" if NEWER else "check_sample_weights_invariance": WEIGHTS,
}


def failing_checks(estimator):
    failed = {}
    for instance, check in checks_of(estimator):
        name = getattr(check, "func", check).__name__
        try:
            check(instance)
        except Exception as error:  # SkipTest among them, which is none
            if type(error).__name__ not in ("SkipTest", "SkipTestWarning", "Skipped"):
                failed[name] = f"{type(error).__name__}: {str(error)[:200]}"
    return failed


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [tt.Regressor(**SMALL), tt.Classifier(**THOROUGH)], ids=["regressor", "classifier"])
def test_the_checks_of_scikit_learn(estimator):
    failed = failing_checks(estimator)
    unexpected = {name: line for name, line in failed.items() if name not in EXPECTED}
    assert not unexpected
    assert set(EXPECTED) <= set(failed), "a check of the list passes: take it off"


def test_kinds_and_clones(sine):
    assert is_regressor(tt.Regressor()) and is_classifier(tt.Classifier())
    model = tt.Regressor(learner=tt.FPTT(window_length=5), **SMALL).fit(*sine)
    other = clone(model)
    assert other.learner == model.learner and other.learner is not model.learner
    with pytest.raises(ValueError, match="not fitted yet"):
        other.predict(sine[0])
    forecaster = tt.Forecaster(hidden=3, ignore=["month"]).learn_one(1.0).learn_one(2.0)
    again = clone(forecaster)
    assert repr(again) == repr(forecaster) and not again.model._is_fitted()


def test_pipelines_and_searches(sine):
    x, y = sine
    pipeline = make_pipeline(StandardScaler(), tt.Regressor(**SMALL)).fit(x, y)
    assert pipeline.predict(x).shape == y.shape
    search = GridSearchCV(tt.Regressor(learner=tt.FPTT(window_length=5), **SMALL),
                          {"learner__alpha": [0.1, 0.5], "hidden": [2, 4]}, cv=TimeSeriesSplit(2), n_jobs=2)
    search.fit(x, y)
    assert len(search.cv_results_["params"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_joblib(sine, tmp_path):
    joblib = pytest.importorskip("joblib")
    model = tt.Regressor(**SMALL).fit(*sine)
    joblib.dump(model, tmp_path / "model.joblib")
    assert (joblib.load(tmp_path / "model.joblib").predict(sine[0]) == model.predict(sine[0])).all()
