"""The promises of scikit-learn's estimators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import fiedler

# What does not apply, and why.
NOT_FOR_GRAPHS = {
    "check_methods_subset_invariance": "some rows of an adjacency matrix are no graph; the check does not know transformers of pairs",
    "check_methods_sample_order_invariance": "nodes in another order are another matrix in rows and columns, and the check reorders rows only",
    "check_fit_idempotent": "the check divides rows alone, and hands over matrices that are not square",
    "check_n_features_in_after_fitting": "another graph may have more nodes, or fewer: the encoder is applied to it",
}


def checks():
    embedder = fiedler.Embedder("hops", dimensions=5)
    for estimator, check in estimator_checks_generator(embedder):
        name = getattr(check, "func", check).__name__
        reason = NOT_FOR_GRAPHS.get(name)
        marks = [] if reason is None else [pytest.mark.xfail(strict=True, reason=reason)]
        yield pytest.param(estimator, check, id=name, marks=marks)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_checks_of_scikit_learn(estimator, check) -> None:
    check(clone(estimator))


def test_parameters_and_clones() -> None:
    embedder = fiedler.Embedder("span", epochs=3, settings={"training.patience": 2})
    again = clone(embedder).set_params(epochs=5)
    assert again.get_params()["epochs"] == 5 and embedder.epochs == 3
    assert again.get_params()["settings"] == {"training.patience": 2}


def test_in_a_pipeline(two_cliques) -> None:
    found = make_pipeline(fiedler.Embedder("spectral", dimensions=2), KMeans(2, n_init=3, random_state=0)).fit_predict(two_cliques)
    assert len(set(found[:6])) == len(set(found[6:])) == 1 and found[0] != found[-1]


def test_names_of_columns(two_cliques) -> None:
    embedder = fiedler.Embedder("spectral", dimensions=2).fit(two_cliques)
    assert embedder.get_feature_names_out().tolist() == ["embedder0", "embedder1"]


def test_another_graph(karate) -> None:
    embedder = fiedler.Embedder("span", epochs=2).fit(karate)
    other = embedder.transform(np.array([[0, 1, 2], [1, 2, 0]]))
    assert other.shape == (3, embedder.embedding_.shape[1])


def test_a_seed_of_any_kind(karate) -> None:
    for seed in (None, np.random.RandomState(3), np.int64(4)):
        assert fiedler.Embedder("hops", dimensions=5, random_state=seed).fit_transform(karate).shape[0] == 34


def test_labels_are_for_methods_that_learn_from_them() -> None:
    citation = fiedler.read("sbm:nodes=200,classes=2")
    bare = fiedler.read(citation.adjacency(), features=citation.features)
    with pytest.raises(fiedler.DataError, match="no labels"):
        fiedler.Embedder("supervised", epochs=2).fit(bare)
    predicted = fiedler.Embedder("supervised", epochs=2).fit(bare, citation.labels).embedding_
    assert predicted.shape == (200, 2)
    unlabelled = fiedler.Embedder("span", epochs=1).fit(bare, np.arange(200)).embedding_
    assert np.array_equal(unlabelled, fiedler.Embedder("span", epochs=1).fit_transform(bare))
