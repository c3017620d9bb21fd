"""Everything that holds a graph, and that nothing is changed or copied needlessly on the way."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import fiedler

EDGES = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


def path_of_four() -> fiedler.Dataset:
    return fiedler.read(EDGES)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint32, np.uint8, np.int16])
def test_an_edge_index_of_any_whole_numbers(dtype) -> None:
    dataset = fiedler.read(EDGES.astype(dtype))
    assert (dataset.nodes, dataset.edges) == (4, 3)
    assert np.array_equal(dataset.edge_index(), EDGES)
    assert dataset.edge_index().dtype == np.int64


def test_each_edge_once_or_pairs_in_rows() -> None:
    once = EDGES[:, ::2]
    for source in (once, once[::-1], once.T, once.T.tolist(), once.tolist()):
        assert fiedler.read(source).fingerprint == path_of_four().fingerprint
    assert fiedler.read(EDGES, num_nodes=6).nodes == 6


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_scipy_matrices_and_arrays(form) -> None:
    matrix = scipy.sparse.coo_array((np.ones(6), (EDGES[0], EDGES[1])), shape=(4, 4))
    for kind in (matrix, scipy.sparse.coo_matrix(matrix)):
        assert fiedler.read(kind.asformat(form)).fingerprint == path_of_four().fingerprint


def test_a_matrix_with_64_bit_indices_and_stored_zeros() -> None:
    matrix = scipy.sparse.csr_array((np.array([1.0, 1.0, 0.0]), np.array([1, 0, 2]), np.array([0, 1, 3, 3])), shape=(3, 3))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    assert fiedler.read(matrix).edges == 1
    assert matrix.nnz == 3, "what is the user's stays as it is"


def test_dense_matrices(two_cliques) -> None:
    for source in (two_cliques, two_cliques.astype(bool), two_cliques.astype(int), two_cliques.tolist()):
        assert fiedler.read(np.asarray(source)).edges == 31


def test_weights_are_kept_and_ones_are_none() -> None:
    matrix = scipy.sparse.csr_array(np.array([[0, 2.5], [2.5, 0]]))
    assert fiedler.read(matrix).adjacency().toarray().tolist() == [[0, 2.5], [2.5, 0]]
    assert fiedler.read(matrix != 0).adjacency().toarray().tolist() == [[0, 1], [1, 0]]


def test_what_is_not_symmetric_is_said() -> None:
    with pytest.warns(fiedler.DataWarning, match="not symmetric: 1 of its 1 edges"):
        assert fiedler.read(scipy.sparse.csr_array(np.array([[0, 1], [0, 0]]))).edges == 1
    with pytest.warns(fiedler.DataWarning, match="1 self-loop was dropped"):
        assert fiedler.read(np.array([[0, 1, 1], [1, 0, 1]])).edges == 1
    with pytest.warns(fiedler.DataWarning, match="more than once"):
        assert fiedler.read(np.array([[0, 0], [1, 1]])).edges == 1


def test_networkx_keeps_names_and_weights() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("a", "b"), ("b", "c")])
    dataset = fiedler.read(graph)
    assert dataset.node_names.tolist() == ["a", "b", "c"]
    assert set(dataset.to_networkx().edges) == {("a", "b"), ("b", "c")}
    graph.add_edge("a", "c", weight=2.0)
    assert fiedler.read(graph).adjacency().toarray()[0].tolist() == [0, 1, 2]
    with pytest.warns(fiedler.DataWarning, match="directed"):
        assert fiedler.read(networkx.DiGraph([(0, 1), (1, 0), (1, 2)])).edges == 2
    assert fiedler.read(networkx.karate_club_graph()).nodes == 34


def test_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    dataset = fiedler.read(igraph.Graph(n=4, edges=[(0, 1), (1, 2), (2, 3)]))
    assert dataset.fingerprint == path_of_four().fingerprint


def test_pandas_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"target": ["b", "c"], "source": ["a", "b"], "weight": [1.0, 3.0]})
    dataset = fiedler.read(frame)
    assert dataset.node_names.tolist() == ["a", "b", "c"] and dataset.adjacency()[1, 2] == 3
    features = pandas.DataFrame({"x": [1, 2, 3], "y": [0.5, 0.5, 0.5]})
    dataset = fiedler.read(frame, features=features, labels=pandas.Series(["u", "v", "u"]))
    assert dataset.feature_names == ["x", "y"] and dataset.class_names == ["u", "v"]


def test_lists_of_graphs(karate) -> None:
    both = fiedler.read([karate, EDGES, scipy.sparse.csr_array(np.array([[0, 1], [1, 0]]))][1:])
    assert (len(both), both.nodes, both.edges) == (2, 6, 4)
    assert both[0].fingerprint == path_of_four().fingerprint and both[-1].nodes == 2
    labelled = fiedler.read([EDGES, EDGES], labels=[1, 0])
    assert labelled.labels.tolist() == [1, 0]
    with pytest.raises(IndexError):
        both[2]


def test_features_of_any_kind() -> None:
    for features in (np.eye(4), np.eye(4, dtype=np.float32), np.eye(4, dtype=bool), np.eye(4, dtype=int), np.eye(4).tolist()):
        found = fiedler.read(EDGES, features=np.asarray(features)).features
        assert found.dtype == np.float32 and np.array_equal(found, np.eye(4))
    sparse = fiedler.read(EDGES, features=scipy.sparse.eye_array(4, format="coo")).features
    assert isinstance(sparse, scipy.sparse.csr_array) and np.array_equal(sparse.toarray(), np.eye(4))


def test_labels_of_any_kind() -> None:
    def labels(given) -> fiedler.Dataset:
        return fiedler.read(EDGES, labels=given)

    assert labels([3, 1, 3, 1]).labels.tolist() == [1, 0, 1, 0] and labels([3, 1, 3, 1]).class_names == ["1", "3"]
    assert labels(np.array([10, 9, 10, 9])).class_names == ["9", "10"]
    assert labels(["b", "a", "b", "a"]).labels.tolist() == [1, 0, 1, 0]
    assert labels([True, False, True, True]).labels.tolist() == [1, 0, 1, 1]
    assert labels(np.array([0.0, 1.0, np.nan, 1.0])).labels.tolist() == [0, 1, -1, 1]
    assert labels(np.array(["a", None, "a", "b"], dtype=object)).labels.tolist() == [0, -1, 0, 1]
    assert labels([0.5, 1.0, 2.0, 3.0]).labels.dtype == np.float32
    several = labels(np.array([[0, 1], [1, 1], [0, 0], [1, np.nan]]))
    assert several.labels.shape == (4, 2) and np.isnan(several.labels[3, 1])


def test_read_only_and_strided_arrays_are_taken_and_left_alone() -> None:
    both = np.asfortranarray(np.repeat(EDGES, 2, axis=0)[::2])
    both.setflags(write=False)
    features = np.ones((8, 3))[::2]
    features.setflags(write=False)
    assert fiedler.read(both, features=features).edges == 3
    matrix = path_of_four().adjacency()
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.setflags(write=False)
    z = fiedler.Embedder("hops", dimensions=5).fit_transform(matrix, features=features)
    assert z.shape[0] == 4 and z.flags.writeable


def test_a_valid_matrix_is_copied_once() -> None:
    import tracemalloc

    nodes = 200_000
    ring = np.arange(nodes)
    matrix = scipy.sparse.coo_array((np.ones(nodes), (ring, (ring + 1) % nodes)), shape=(nodes, nodes)).tocsr()
    matrix = (matrix + matrix.T).tocsr()
    matrix.sort_indices()
    tracemalloc.start()
    dataset = fiedler.read(matrix)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # On Python's side there is a mask of one byte an entry, and nothing else.
    assert peak < 3 * matrix.nnz and dataset.edges == nodes


def test_what_is_given_out_can_be_read_again(karate, tmp_path) -> None:
    again = fiedler.read(karate.adjacency(), labels=karate.labels)
    assert again.fingerprint == karate.fingerprint and np.array_equal(again.labels, karate.labels)
    karate.write(tmp_path / "karate.graphml")
    with pytest.raises(FileExistsError):
        karate.write(tmp_path / "karate.graphml")
    karate.write(tmp_path / "karate.graphml", force=True)
    assert fiedler.read(tmp_path / "karate.graphml").fingerprint == karate.fingerprint


def test_generators_and_lists() -> None:
    assert fiedler.read("sbm:nodes=50,classes=2", random_state=3).nodes == 50
    assert "sbm" in [generator.name for generator in fiedler.generators()]
    assert "span" in [method.name for method in fiedler.methods()] and "opposite" in fiedler.schemes()
    assert "citation-graphs" in fiedler.recipes() and "graphml" in fiedler.formats()
    assert {"training.epochs", "method.name"} <= {setting.key for setting in fiedler.settings("grace")}


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert fiedler.read(torch.from_numpy(EDGES)).fingerprint == path_of_four().fingerprint
    dense = torch.from_numpy(path_of_four().adjacency().toarray())
    assert fiedler.read(dense).fingerprint == fiedler.read(dense.to_sparse()).fingerprint == path_of_four().fingerprint
    assert fiedler.read(torch.from_numpy(EDGES), features=torch.ones(4, 2), labels=torch.tensor([0, 1, 0, 1])).labels.tolist() == [0, 1, 0, 1]


def test_summary_and_spectrum(karate) -> None:
    assert karate.summary()["nodes"] == 34
    assert "spectrum" in karate.summary(spectrum=True)
    values = fiedler.spectrum(karate)
    laplacian = scipy.sparse.csgraph.laplacian(karate.adjacency().astype(float), normed=True).toarray()
    assert np.allclose(values, np.linalg.eigvalsh(laplacian))
    ends = fiedler.spectrum(karate, 3)
    assert np.allclose(ends, np.concatenate([values[:3], values[-3:]]))
    assert fiedler.spectrum(karate, operator="propagation").max() == pytest.approx(1)
