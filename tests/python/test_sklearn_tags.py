"""What scikit-learn 1.6 and later ask instead of _estimator_type and _more_tags. Debian 12 has an older one: a stand-in has
the classes that estimators fill in, with the fields of those versions, and its readers ask what the real ones do."""

import dataclasses
import sys
import types
from typing import Any

import pytest
import throughtime as tt


def tags_class(name, *required, **defaults):
    fields = [(each, Any) for each in required] + [(each, Any, default) for each, default in defaults.items()]
    return dataclasses.make_dataclass(name, fields)


TargetTags = tags_class("TargetTags", "required", one_d_labels=False, two_d_labels=False, positive_only=False,
                        multi_output=False, single_output=True)
InputTags = tags_class("InputTags", two_d_array=True, three_d_array=False, sparse=False, pairwise=False, allow_nan=False)
ClassifierTags = tags_class("ClassifierTags", poor_score=False, multi_class=True, multi_label=False)
RegressorTags = tags_class("RegressorTags", poor_score=False)
Tags = tags_class("Tags", "estimator_type", "target_tags", transformer_tags=None, classifier_tags=None, regressor_tags=None,
                  array_api_support=False, no_validation=False, non_deterministic=False, requires_fit=True,
                  _skip_test=False, input_tags=dataclasses.field(default_factory=InputTags))


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
    # A handful of rows teaches a network little: no check may ask for a good score.
    assert (tags.regressor_tags or tags.classifier_tags).poor_score
    assert tags.input_tags.two_d_array and tags.input_tags.three_d_array
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
