"""What scikit-learn 1.6 and later ask instead of _estimator_type and _more_tags. Debian 12 has an older one: a stand-in has
the classes that estimators fill in, with the fields of those versions, and its readers ask what the real ones do."""

import dataclasses
import sys
import types
from typing import Any

import pytest
import throughtime as tt


@dataclasses.dataclass
class TargetTags:
    required: bool
    one_d_labels: bool = False
    two_d_labels: bool = False
    positive_only: bool = False
    multi_output: bool = False
    single_output: bool = True


@dataclasses.dataclass
class InputTags:
    two_d_array: bool = True
    sparse: bool = False
    pairwise: bool = False
    allow_nan: bool = False


@dataclasses.dataclass
class ClassifierTags:
    poor_score: bool = False
    multi_class: bool = True
    multi_label: bool = False


@dataclasses.dataclass
class RegressorTags:
    poor_score: bool = False


@dataclasses.dataclass
class Tags:
    estimator_type: Any
    target_tags: TargetTags
    transformer_tags: Any = None
    classifier_tags: Any = None
    regressor_tags: Any = None
    array_api_support: bool = False
    no_validation: bool = False
    non_deterministic: bool = False
    requires_fit: bool = True
    _skip_test: bool = False
    input_tags: InputTags = dataclasses.field(default_factory=InputTags)


@pytest.fixture(autouse=True)
def newer(monkeypatch):
    """In the place of scikit-learn, of which nothing else is there."""
    package, utils = types.ModuleType("sklearn"), types.ModuleType("sklearn.utils")
    package.utils = utils
    for each in (TargetTags, InputTags, ClassifierTags, RegressorTags, Tags):
        setattr(utils, each.__name__, each)
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", package)
    monkeypatch.setitem(sys.modules, "sklearn.utils", utils)


@pytest.mark.parametrize("kind, estimator", [("regressor", tt.Regressor()), ("classifier", tt.Classifier())])
def test_estimators_say_what_they_are(kind, estimator):
    tags = estimator.__sklearn_tags__()
    assert isinstance(tags, Tags) and tags.estimator_type == kind
    assert tags.target_tags.required and tags.target_tags.single_output  # fit without y is an error
    assert (tags.regressor_tags is not None) == (kind == "regressor")
    assert (tags.classifier_tags is not None) == (kind == "classifier")
    assert tags.requires_fit and not tags.no_validation and not tags._skip_test
    # Searches and pipelines cut rows by these, and refuse NaN and sparse matrices.
    assert not tags.input_tags.pairwise and not tags.input_tags.sparse and not tags.input_tags.allow_nan


def test_tags_are_as_what_estimators_can_do(sine):
    x, y = sine
    assert tt.Regressor().__sklearn_tags__().target_tags.multi_output
    small = dict(hidden=2, epochs=1, window=50, threads=1)
    assert tt.Regressor(**small).fit(x, y[:, None].repeat(2, axis=1)).predict(x).shape == (len(x), 2)
    tags = tt.Classifier().__sklearn_tags__()
    assert tags.classifier_tags.multi_class and not tags.classifier_tags.multi_label and not tags.target_tags.multi_output
    assert set(tt.Classifier(**small).fit(x, [i % 3 for i in range(len(x))]).classes_) == {0, 1, 2}
    assert tags is not tt.Classifier().__sklearn_tags__()  # readers may change what they get


def test_tags_are_those_of_a_fitted_one_too(sine):
    model = tt.Regressor(hidden=2, epochs=1, window=50).fit(*sine)
    assert model.__sklearn_tags__() == tt.Regressor().__sklearn_tags__()
    assert model.__sklearn_is_fitted__() and not tt.Regressor().__sklearn_is_fitted__()
