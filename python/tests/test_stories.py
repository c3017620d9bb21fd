"""The five things that users come for, as they would write them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from conftest import needs

import fiedler


def test_embed_a_matrix_with_features() -> None:
    citation = fiedler.read("citation")
    adjacency, words = citation.adjacency(), citation.features
    z = fiedler.Embedder(recipe="citation", epochs=3).fit_transform(adjacency, features=words)
    assert z.shape[0] == adjacency.shape[0] and z.dtype == np.float32 and np.isfinite(z).all()


@needs("cora")
def test_evaluate_by_the_public_split() -> None:
    z = fiedler.Embedder("hops").fit_transform("cora")
    score = fiedler.evaluate(z, "cora", protocol="public")
    assert score.metric == "accuracy" and len(score.splits) == 1 and score.mean > 0.75


@needs("cora")
def test_read_a_known_dataset() -> None:
    cora = fiedler.read("cora")
    assert (cora.nodes, cora.edges) == (2708, 5278)
    assert isinstance(cora.features, scipy.sparse.csr_array) and cora.features.shape == (2708, 1433)
    assert set(cora.splits["public"]) == {"train", "validation", "test"}
    assert len(cora.splits["public"]["train"]) == 140


def test_embedding_of_a_changed_graph() -> None:
    karate = fiedler.read("karate")
    view = fiedler.Augmentation("uniform-flipping").fit(karate).sample()
    z = fiedler.Embedder("spectral", dimensions=8).fit_transform(view.adjacency())
    assert z.shape == (34, 8)


def test_embedding_of_a_poisoned_graph() -> None:
    poisoned = fiedler.attack("karate", "dice", budget=0.1)
    assert poisoned.attack["flips"] == poisoned.attack["budget"] == 7
    before, after = (fiedler.read(graph).adjacency() for graph in ("karate", poisoned))
    assert (before != after).nnz == 2 * 7
    assert fiedler.Embedder("spectral", dimensions=8).fit_transform(poisoned).shape == (34, 8)


def test_an_attack_on_training_labels_needs_a_split() -> None:
    with pytest.raises(fiedler.FiedlerError, match="split"):
        fiedler.attack("citation:nodes=120", "mettack")
    poisoned = fiedler.attack("citation:nodes=120", "mettack", budget=0.02, split="random", settings={"objective": "meta-train"})
    assert poisoned.attack["flips"] == poisoned.attack["budget"] > 0
    with pytest.raises(fiedler.SettingError):
        fiedler.attack("karate", "dice", budget=-1.0)
    with pytest.raises(fiedler.FiedlerError, match="mettack"):
        fiedler.attack("karate", "mettak")


def test_read_an_edge_list(tmp_path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target\na,b\nb,c\n")
    dataset = fiedler.read(path)
    assert (dataset.nodes, dataset.edges) == (3, 2)
    assert dataset.node_names.tolist() == ["a", "b", "c"]


def test_the_views_of_a_pyg_loop() -> None:
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    import fiedler.pyg

    data = fiedler.pyg.to_data(fiedler.read("karate"))
    augmentation = fiedler.pyg.SpectralAugmentation(ratio=0.3).fit(data)
    first, second = augmentation.pair(data)
    assert first.num_nodes == second.num_nodes == data.num_nodes
    assert not np.array_equal(first.edge_index.numpy(), second.edge_index.numpy())
