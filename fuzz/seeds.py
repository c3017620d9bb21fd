#!/usr/bin/env python3
"""Writes a few small inputs for each fuzz target to fuzz/corpus/TARGET, for the fuzzer to start from.

They are made of text written here, of the small files under crates/fiedler-io/tests/fixtures, and, for the files that fiedler
writes itself, of those under crates/fiedler-experiment; nothing but Python's own library is needed. The pieces of an input stand
in the order in which src/readers.rs names the files of the target, and src/own_files.rs the parts of a file.
"""

import gzip
import io
import json
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "crates" / "fiedler-io" / "tests" / "fixtures"
PYTHON = FIXTURES / "python"
EXPERIMENT = HERE.parent / "crates" / "fiedler-experiment"
OWN = EXPERIMENT / "tests" / "fixtures" / "own"
SEPARATOR = b"\n--8<--\n"


def seed(target, name, *pieces):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    pieces = [piece.encode() if isinstance(piece, str) else piece for piece in pieces]
    (folder / f"seed-{name}").write_bytes(SEPARATOR.join(pieces))


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {Path(name).stem: archive.read(name) for name in archive.namelist()}


def chosen(path, names):
    have = members(path)
    return [have.get(name, b"") for name in names]


def texts():
    seed("tu", "labels", "1, 2\n2, 1\n3, 4\n4, 3\n", "1\n1\n2\n2\n", "-1\n1\n", "", "0\n1\n0\n2\n", "0.5, 1\n1, 1\n2, 1\n3, 1\n", "0\n0\n1\n1\n", "0.5\n1\n1e3\n2\n")
    seed("tu", "unsorted", "1,3\n2,4\n", "1\n2\n1\n2\n", "", "1.5\n-2\n", "5\n5\n7\n5\n")
    seed("ogb", "molecules", "0,1\n2,1\n0,1\n", "3\n2\n", "2\n1\n", "1,\nnan,0\n", "", "5,0,4,5,3,0,2,0,0\n" * 5, "0,0,0\n1,0,1\n0,0,0\n", "a,b,smiles\n1,,CCO\n", "0\n", "\n", "1\n")
    seed("ogb", "nodes", "0,1\n1,2\n", "3\n", "2\n", "", "0\n4\n2\n", "0.5,1\n1,2\n2,3\n", "", "", "0\n", "1\n", "2\n")
    seed("powerful_gnns", "attributes", "2\n3 0\n0 1 1 0.5\n1 2 0 2 1\n0 1 1 2\n2 1\n0 1 1 3\n0 1 0 4\n", "0\n", "1\n")
    seed("powerful_gnns", "tags", "1\n3 -1\n0 1 1\n1 2 0 2\n0 1 1\n")
    seed("wiki_cs", "small", '{"features": [[0.5, -1], [0.1, 0], [0, 0]], "labels": [3, 0, 3], "links": [[1, 1, 0], [0, 2], []], "node_ids": {"x": [null]}, "train_masks": [[true, false, false], [1, 0, 0]], "val_masks": [[false, true, false], [0, 1, 0]], "stopping_masks": [[false, true, false], [0, 0, 0]], "test_mask": [false, false, true]}')
    seed("struc2vec", "small", "5 7\n7 9\n9 9\n", "node label\n5 1\n7 0\n9 1\n")
    seed("moleculenet", "table", "smiles,active,id,logp\nCCO,1,a,0.5\nc1ccccc1,,b,nan\n[Na+].[Cl-],0,c,1\n")
    seed("moleculenet", "list", "CC(=O)Oc1ccccc1C(=O)O aspirin\nC[C@H](N)C(=O)O\n")
    seed("moleculenet", "spaces", "SMILES Name\nCCO ethanol\n")
    for at, smiles in enumerate(["CC(=O)Oc1ccccc1C(=O)O", "C[C@@H](F)/C=C/C1CC%12CCC1C%12", "[13CH3][nH+]1cccc1", "[Na+].[O-]S(=O)(=O)c1ccc2[nH]ccc2c1", "C%(123)CCCC%(123)", "F/C=C\\\\Cl", "[H]C([H])([H])[Co]<-N", "OB(O)c1c[se]cn1"]):
        seed("smiles", str(at), smiles)
    seed("edge_list", "weights", "source,target,weight\n0,1,0.5\n1,2,2\n")
    seed("edge_list", "spaces", "# comment\n0 1\n1\t2\n% node\n# node: 7\n")
    seed("edge_list", "words", '"New York";Boston;1.5\nBoston;"a ""b""";2\n')
    seed("edge_list", "networkx", "a b {'weight': 2.0}\nb c {'weight': 0.5, 'since': 1999}\n")
    seed("edge_list", "big", "-1 9223372036854775807\n4294967296 3\n")
    seed("edge_list", "gzip", gzip.compress(b"0 1\n1 2\n", mtime=0))
    seed("table", "ids", "node,x,y\n2,1,2\n0,3,4\n1,5,6\n")
    seed("table", "labels", "node,label\n0,red\n1,blue\n2,\n")
    seed("table", "several", "0.5;1;0\n1;0;nan\n2;1;true\n")
    seed("table", "one", "0\n1\n1\n")
    for path in sorted(FIXTURES.glob("*.parquet")):
        if path.stat().st_size < 16384:
            seed("table", path.stem, path.read_bytes())


def own():
    # As `fiedler convert` writes the karate club; checksums are made right by the target.
    for path in sorted(FIXTURES.glob("*.fiedler")):
        seed("fiedler", path.stem, path.read_bytes())


def graphs():
    seed("matrix_market", "real", "%%MatrixMarket matrix coordinate real symmetric\n% comment\n3 3 2\n2 1 0.5\n3 2 2\n")
    seed("matrix_market", "pattern", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2\n")
    seed("gml", "small", 'graph [ directed 1 node [ id 0 label "a&#65;" x 1.5 v 1 v 2 graphics [ x 1 ] ] node [ id 1 ] edge [ source 0 target 1 weight 0.5 ] ]')
    seed("gexf", "karate", (FIXTURES / "karate.gexf").read_bytes())
    seed("gexf", "small", '<gexf><graph defaultedgetype="directed"><attributes class="node"><attribute id="0" title="x" type="double"><default>1</default></attribute></attributes><nodes><node id="a" label="b"><attvalues><attvalue for="0" value="2"/></attvalues></node><node id="c"/></nodes><edges><edge source="a" target="c" weight="0.5"/></edges></graph></gexf>')
    seed("node_link", "set", '[{"graph": {"name": "a", "class": "x", "split": "train"}, "nodes": [{"id": 0}], "links": []}, {"graph": [], "nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}]')
    for path in sorted((FIXTURES / "pyg").glob("*.pt")):
        with zipfile.ZipFile(path) as archive:
            have = {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}
        seed("pyg", path.stem, *(have.get(name, b"") for name in ["data.pkl", *(f"data/{at}" for at in range(6))]))
    seed("torch", "old", (FIXTURES / "../../../fiedler-experiment/tests/fixtures/hu_gin/old.pth").read_bytes())
    for path in sorted(FIXTURES.glob("*.graphml")):
        seed("graphml", path.stem, path.read_bytes())
    for path in sorted(FIXTURES.glob("*.json")):
        seed("node_link", path.stem, path.read_bytes())
    keys = '<key id="w" for="edge" attr.name="weight" attr.type="double"><default>2</default></key><key id="c" for="node" attr.name="class" attr.type="string"><default>red</default></key><key id="x" for="all" attr.name="x" attr.type="boolean"/>'
    seed("graphml", "small", f'<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "b">]><graphml>{keys}<graph edgedefault="directed"><node id="a"><data key="x">true</data></node><node id="b"><data key="c">b&amp;&#65;<![CDATA[x]]></data></node><edge source="a" target="b" directed="true"><data key="w">0.5</data></edge></graph></graphml>')
    seed("node_link", "small", '{"directed": true, "nodes": [{"id": "a", "class": "red", "x": [1, [2], null]}, {"id": 3, "y": {"z": 1}}], "links": [{"source": "a", "target": 3, "weight": 0.5}]}')
    seed("node_link", "places", '{"nodes": [{"name": "a"}, {"name": "b"}], "edges": [{"from": 0, "to": 1}]}')


def arrays():
    for path in sorted(PYTHON.glob("*.npy")):
        seed("npy", path.stem, path.read_bytes())
        seed("table", path.stem, path.read_bytes())
    for name, array in members(PYTHON / "ones.npz").items():
        seed("npy", f"ones-{name.strip('<>')}-{len(array)}", array)
    for path in sorted(PYTHON.glob("*.pkl")):
        seed("pickle", path.stem, path.read_bytes())
    for path in sorted(PYTHON.glob("*.npz")):
        if path.stat().st_size < 8192:
            seed("archive", path.stem, path.read_bytes())
    scipy = ["format", "shape", "data", "indices", "indptr", "row", "col", "offsets"]
    labels = (PYTHON / "labels.npy").read_bytes()
    split = '{"idx_train": [0], "idx_val": [1], "idx_test": [2, 3]}'
    for name in ["path_csr", "path_csc", "path_coo", "path_bsr", "path_dia", "path_blocks", "weighted", "duplicates"]:
        parts = chosen(PYTHON / f"{name}.npz", scipy)
        seed("scipy_npz", name, *parts, members(PYTHON / "ones.npz")["<f4"], labels, split)
        seed("graph_saint", name, *parts[:5], b"", '{"0": 1, "1": 0, "3": 2}', '{"tr": [0, 1], "va": [2], "te": [3]}')
    seed("graph_saint", "tasks", *chosen(PYTHON / "path_csr.npz", scipy[:5]), labels, '{"0": [1, 0], "2": [0, 1.0]}', '{"tr": [0], "te": [3]}')
    benchmark = ["adj_shape", "adj_data", "adj_indices", "adj_indptr", "attr_shape", "attr_data", "attr_indices", "attr_indptr", "attr_matrix", "labels", "node_names", "class_names", "idx_to_node", "idx_to_class", "adj_matrix", "node_attr", "node_label", "metadata"]
    for path in sorted(PYTHON.glob("benchmark*.npz")):
        seed("gnn_benchmark", path.stem, *chosen(path, benchmark))
    parts = ["graph", "test.index", "y", "ally", "ty", "x", "allx", "tx"]
    for protocol in range(3):
        seed("planetoid", str(protocol), *((PYTHON / f"planetoid{protocol}" / f"ind.tiny.{part}").read_bytes() for part in parts))


def archives():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("TOY//TOY_A.txt", "1, 2\n2, 1\n")
        archive.writestr("TOY/TOY_graph_indicator.txt", "1\n1\n")
        archive.writestr("__MACOSX/x", "")
    seed("archive", "tu", out.getvalue())


def own_files():
    for path in sorted(OWN.glob("*/*.safetensors")):
        target, file = path.parent.name, path.read_bytes()
        seed(target, f"{path.stem}-file", file)
        length = int.from_bytes(file[:8], "little")
        header, data = json.loads(file[8 : 8 + length]), file[8 + length :]
        note = header.pop("__metadata__")["fiedler"]
        tensors = sorted(header.items(), key=lambda tensor: tensor[1]["data_offsets"])
        lines = (" ".join([name, tensor["dtype"], *map(str, tensor["shape"])]) for name, tensor in tensors)
        seed(target, f"{path.stem}-pieces", note, "\n".join(lines), data)
    for path in sorted(OWN.glob("run_json/*.json")):
        seed("run_json", path.stem, path.read_bytes())
    for path in sorted((EXPERIMENT / "recipes").glob("*.toml")):
        seed("recipe", path.stem, path.read_bytes())
    for path in sorted(OWN.glob("recipe/*.toml")):
        seed("recipe", f"own-{path.stem}", path.read_bytes())


if __name__ == "__main__":
    own_files()
    texts()
    own()
    graphs()
    arrays()
    archives()
