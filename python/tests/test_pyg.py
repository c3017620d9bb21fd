"""Views for PyTorch Geometric."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import pickle
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402
from torch_geometric.transforms import Compose, NormalizeFeatures, ToUndirected  # noqa: E402

import fiedler  # noqa: E402
import fiedler.pyg  # noqa: E402


@pytest.fixture
def data() -> Data:
    torch.manual_seed(0)
    karate = fiedler.pyg.to_data(fiedler.read("karate"))
    karate.x = torch.eye(34)
    order = torch.randperm(karate.num_edges, generator=torch.Generator().manual_seed(0))
    karate.edge_index = karate.edge_index[:, order]
    karate.edge_attr = torch.stack([karate.edge_index[0], karate.edge_index[1]], dim=1).float()
    karate.train_mask = torch.arange(34) < 10
    return karate


def graphs() -> list[Data]:
    made = []
    for seed in range(6):
        dataset = fiedler.read("sbm:nodes=30,classes=2", random_state=seed)
        made.append(Data(edge_index=torch.from_numpy(dataset.edge_index()), x=torch.ones(30, 2), y=torch.tensor([seed % 2])))
    return made


def test_there_and_back(data) -> None:
    dataset = fiedler.pyg.from_data(data)
    assert dataset.fingerprint == fiedler.read("karate").fingerprint
    assert np.array_equal(dataset.features, np.eye(34)) and dataset.splits["public"]["train"].tolist() == list(range(10))
    again = fiedler.pyg.to_data(dataset)
    assert torch.equal(again.x, data.x) and torch.equal(again.y, data.y) and torch.equal(again.train_mask, data.train_mask)
    pairs = dataset.edge_pairs()
    assert np.array_equal(dataset.edge_features, pairs) or np.array_equal(dataset.edge_features, pairs[:, ::-1])
    both = fiedler.pyg.from_data(graphs())
    assert len(both) == 6 and both.labels.tolist() == [0, 1, 0, 1, 0, 1]
    assert [graph.num_nodes for graph in fiedler.pyg.to_data(both)] == [30] * 6
    assert fiedler.read(data).fingerprint == dataset.fingerprint and len(fiedler.read(graphs())) == 6


def test_a_pair_leaves_the_data_as_they_are(data) -> None:
    before = copy.deepcopy(data)
    augmentation = fiedler.pyg.SpectralAugmentation(ratio=0.3).fit(data)
    torch.manual_seed(1)
    first, second = augmentation.pair(data)
    for key in before.keys():
        assert torch.equal(torch.as_tensor(before[key]), torch.as_tensor(data[key])), key
    assert first.x is data.x and first.y is data.y and torch.equal(first.train_mask, data.train_mask)
    assert first.edge_index.dtype == torch.int64 and not first.has_self_loops()
    assert Data(edge_index=first.edge_index, num_nodes=34).is_undirected()
    torch.manual_seed(1)
    again, _ = augmentation.pair(data)
    assert torch.equal(again.edge_index, first.edge_index)
    other, _ = augmentation.pair(data)
    assert not torch.equal(other.edge_index, first.edge_index)


def test_attributes_go_with_their_edges(data) -> None:
    data.edge_weight = data.edge_attr.sum(dim=1) + 1
    augmentation = fiedler.pyg.SpectralAugmentation("uniform-flipping", ratio=0.4).fit(data)
    view = augmentation(data)
    assert view.edge_attr.shape == (view.num_edges, 2)
    kept = {tuple(ends) for ends in data.edge_index.T.tolist()}
    added = 0
    for ends, attribute, weight in zip(view.edge_index.T.tolist(), view.edge_attr.tolist(), view.edge_weight.tolist(), strict=True):
        if tuple(ends) in kept:
            assert attribute == [float(ends[0]), float(ends[1])] and weight == sum(ends) + 1
        else:
            added += 1
            assert attribute == [0.0, 0.0] and weight == 1
    assert added > 0


def test_in_compose_and_under_its_functional_name(data) -> None:
    augmentation = fiedler.pyg.SpectralAugmentation(ratio=0.3).fit(data)
    view = Compose([NormalizeFeatures(), augmentation])(data)
    assert view.num_edges != data.num_edges and "SpectralAugmentation" in repr(augmentation)


def test_edges_in_another_order_are_the_same_graph(data) -> None:
    augmentation = fiedler.pyg.SpectralAugmentation(ratio=0.3).fit(data)
    shuffled = Data(edge_index=data.edge_index.flip(1).contiguous(), num_nodes=34)
    assert augmentation(shuffled).num_nodes == 34
    with pytest.raises(fiedler.DataError, match="not computed for this graph"):
        augmentation(Data(edge_index=data.edge_index[:, :10], num_nodes=34))
    data.edge_index[0, 0] = data.edge_index[0, 1]
    with pytest.raises(fiedler.DataError, match="not computed for this graph"):
        augmentation(data)


@pytest.mark.parametrize("workers", [0, 2])
def test_in_a_data_loader(workers) -> None:
    all_graphs = graphs()
    augmentation = fiedler.pyg.SpectralAugmentation(ratio=0.4).fit(all_graphs)

    class Views(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return 12

        def __getitem__(self, at: int) -> Data:
            return augmentation(all_graphs[at % 6])

    torch.manual_seed(3)
    batches = list(DataLoader(Views(), batch_size=6, num_workers=workers))
    assert all(batch.num_graphs == 6 and batch.num_nodes == 180 for batch in batches)
    # A worker each: neither draws what the other does.
    assert batches[0].num_edges != batches[1].num_edges or not torch.equal(batches[0].edge_index, batches[1].edge_index)


def test_dropped_nodes_are_marked(data) -> None:
    view = fiedler.pyg.SpectralAugmentation("uniform-node-dropping", ratio=0.25).fit(data)(data)
    assert view.kept_nodes.sum() == 34 - 8
    assert not view.kept_nodes[view.edge_index].logical_not().any()


def test_a_diffusion_has_weights_and_loops(data) -> None:
    augmentation = fiedler.Augmentation("diffusion").fit(fiedler.pyg.from_data(data))
    del data.edge_attr
    view = fiedler.pyg.SpectralAugmentation(augmentation=augmentation, view=1)(data)
    assert view.edge_weight.shape == (view.num_edges,) and view.has_self_loops()


def test_pickles(data) -> None:
    augmentation = fiedler.pyg.SpectralAugmentation(ratio=0.3).fit(data)
    augmentation(data)
    again = pickle.loads(pickle.dumps(augmentation))
    torch.manual_seed(5)
    first = augmentation(data).edge_index
    torch.manual_seed(5)
    assert torch.equal(again(data).edge_index, first)


def test_two_transforms_share_a_scheme(data) -> None:
    shared = fiedler.SpectralAugmentation(ratio=0.3).fit(fiedler.pyg.from_data(data))
    first = fiedler.pyg.SpectralAugmentation(augmentation=shared, view=0)
    second = fiedler.pyg.SpectralAugmentation(augmentation=shared, view=1)
    assert first.augmentation is second.augmentation
    assert not torch.equal(first(data).edge_index, second(data).edge_index)


def test_a_generator_of_ones_own(data) -> None:
    generator = torch.Generator().manual_seed(7)
    augmentation = fiedler.pyg.SpectralAugmentation(generator=generator).fit(data)
    state = torch.get_rng_state()
    view = augmentation(data)
    assert torch.equal(state, torch.get_rng_state())
    generator.manual_seed(7)
    assert torch.equal(augmentation(data).edge_index, view.edge_index)


def test_what_is_refused(data) -> None:
    with pytest.raises(fiedler.FiedlerError, match="no graph yet"):
        fiedler.pyg.SpectralAugmentation()(data)
    with pytest.raises(fiedler.DataError) as caught:
        fiedler.read(HeteroData())
    assert "to_homogeneous" in caught.value.hint
    with pytest.raises(fiedler.DataError, match="no edge_index"):
        fiedler.read(Data(x=torch.ones(3, 1)))
    with pytest.raises(fiedler.DataError, match="expected ids from 0 to 1"):
        fiedler.read(Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2))
    directed = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    with pytest.warns(fiedler.DataWarning, match="2 of its 2 edges stand in one direction only"):
        assert fiedler.read(directed).edges == 2
    assert fiedler.read(ToUndirected()(directed)).edges == 2


def pygcl(monkeypatch) -> types.ModuleType:
    """PyGCL's augmentors, with stand-ins for the libraries that they import for what is not called here; without PyGCL, its two classes."""
    modules = __import__("sys").modules
    if importlib.util.find_spec("GCL") is not None:
        for name, contents in {"dgl": ["DGLGraph", "graph"], "torch_sparse": ["SparseTensor", "coalesce"], "torch_scatter": ["scatter"]}.items():
            if importlib.util.find_spec(name) is None:
                module = types.ModuleType(name)
                vars(module).update({content: type(content, (), {}) for content in contents})
                monkeypatch.setitem(modules, name, module)
        return importlib.import_module("GCL.augmentors.augmentor")

    class Graph:
        def __init__(self, x, edge_index, edge_weights) -> None:
            self.x, self.edge_index, self.edge_weights = x, edge_index, edge_weights

        def unfold(self):
            return self.x, self.edge_index, self.edge_weights

    class Augmentor:
        def __call__(self, x, edge_index, edge_weight=None):
            return self.augment(Graph(x, edge_index, edge_weight)).unfold()

    module = types.ModuleType("GCL.augmentors.augmentor")
    module.Graph, module.Augmentor = Graph, Augmentor
    for name in ("GCL", "GCL.augmentors"):
        monkeypatch.setitem(modules, name, types.ModuleType(name))
    monkeypatch.setitem(modules, "GCL.augmentors.augmentor", module)
    return module


def test_an_augmentor_of_pygcl(data, monkeypatch) -> None:
    module = pygcl(monkeypatch)
    augmentor = fiedler.pyg.pygcl_augmentor(fiedler.pyg.SpectralAugmentation().fit(data), view=1)
    assert isinstance(augmentor, module.Augmentor)
    torch.manual_seed(2)
    x, edge_index, weights = augmentor(data.x, data.edge_index)
    assert torch.equal(x, data.x) and edge_index.shape[0] == 2 and weights is None
    assert not torch.equal(edge_index, data.edge_index)
    if hasattr(module, "Compose"):
        torch.manual_seed(2)
        assert torch.equal(module.Compose([augmentor])(data.x, data.edge_index)[1], edge_index)
