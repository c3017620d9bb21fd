//! Faults in text files of many graphs.

use super::files::{self, Files};
use super::{Case, case};

pub fn cases() -> Vec<Case> {
    let (tu, ogb, powerful) = (files::tu, files::ogb, files::powerful_gnns);
    let molecules = files::moleculenet;
    vec![
        case("TU: an edge joins two graphs", tu().with("TOY_A.txt", "1, 2\n2, 3\n"))
            .says("TOY_A.txt, line 2", "expected two nodes of one graph"),
        case("TU: a node that is not there", tu().with("TOY_A.txt", "1, 2\n3, 5\n"))
            .says("TOY_A.txt, line 2", "expected numbers from 1 to 4"),
        case("TU: node 0", tu().with("TOY_A.txt", "0, 1\n")).says("TOY_A.txt, line 1", "expected numbers from 1 to 4"),
        case("TU: a negative node", tu().with("TOY_A.txt", "1, -2\n"))
            .says("TOY_A.txt, line 1", "expected a second node number"),
        case("TU: a word for a number", tu().with("TOY_A.txt", "1, 2\n\nsource, target\n"))
            .says("TOY_A.txt, line 3", "expected a node number"),
        case("TU: three numbers for two", tu().with("TOY_A.txt", "1, 2, 3\n"))
            .says("TOY_A.txt, line 1", "expected two node numbers a line"),
        case("TU: graph 0", tu().with("TOY_graph_indicator.txt", "1\n0\n"))
            .says("TOY_graph_indicator.txt, line 2", "expected graphs counted from 1"),
        case("TU: a billion graphs of one node", tu().with("TOY_graph_indicator.txt", "1000000000\n"))
            .says("TOY_graph_indicator.txt, line 1", "expected a number of at most 65536")
            .hints("damaged"),
        case("TU: an empty file", tu().with("TOY_graph_indicator.txt", ""))
            .says("TOY_graph_indicator.txt", "expected one line a node"),
        case("TU: no graph indicator", tu().without("TOY_graph_indicator.txt"))
            .format("tu")
            .says("memory has no TOY_graph_indicator.txt", "which the TU format needs")
            .hints("put TOY_graph_indicator.txt beside"),
        case("TU: fewer labels than graphs", tu().with("TOY_graph_labels.txt", "1\n"))
            .says("TOY_graph_labels.txt", "expected 2, one for each graph"),
        case("TU: more labels than nodes", tu().with("TOY_node_labels.txt", "0\n0\n0\n0\n0\n"))
            .says("TOY_node_labels.txt", "expected 4, one for each node"),
        case("TU: fewer labels than edges", tu().with("TOY_edge_labels.txt", "0\n"))
            .says("TOY_edge_labels.txt", "expected 4, one for each pair in the list of edges"),
        case("TU: a NaN among the attributes", tu().replacing("TOY_node_attributes.txt", "2, 1", "nan, 1"))
            .says("TOY_node_attributes.txt, line 3", "expected a node attribute, a finite number"),
        case("TU: attributes of different length", tu().replacing("TOY_node_attributes.txt", "2, 1", "2"))
            .says("TOY_node_attributes.txt, line 3", "expected 2 as in the rows before"),
        case("TU: two datasets", tu().with("OTHER_A.txt", "1, 2\n").with("OTHER_graph_indicator.txt", "1\n1\n"))
            .says("memory", "expected one dataset")
            .hints("OTHER_A.txt"),
        case("OGB: fewer edges than counted", ogb().with("raw/edge.csv", "0,1\n"))
            .says("raw/edge.csv", "expected as many edges as raw/num-edge-list counts")
            .hints("truncated"),
        case("OGB: more edges than counted", ogb().with("raw/edge.csv", "0,1\n2,1\n0,1\n0,1\n"))
            .says("raw/edge.csv, line 4", "expected the 3 of raw/num-edge-list"),
        case("OGB: an edge to another graph", ogb().with("raw/edge.csv", "0,1\n2,3\n0,1\n"))
            .says("raw/edge.csv, line 2", "expected nodes below 3, the nodes of graph 0"),
        case("OGB: a billion nodes without edges", ogb().with("raw/num-node-list.csv", "1000000000\n2\n"))
            .says("raw/num-node-list.csv, line 1", "expected fewer, beside a list of edges of 12 bytes")
            .hints("damaged"),
        case("OGB: an edge count missing", ogb().with("raw/num-edge-list.csv", "2\n"))
            .says("raw/num-edge-list.csv", "expected a number of edges for each graph")
            .hints("truncated"),
        case("OGB: no list of edges", ogb().without("raw/edge.csv"))
            .format("ogb")
            .says("memory has no raw/edge.csv.gz", "which the OGB format needs")
            .hints("put raw/edge.csv.gz beside"),
        case("OGB: a split of other graphs", ogb().with("split/scaffold/test.csv", "1\n2\n"))
            .says("split/scaffold/test.csv, line 2", "expected a number below 2"),
        case("OGB: a graph that both trains and tests", ogb().with("split/scaffold/test.csv", "0\n"))
            .says("memory", "expected an id that is not in train already"),
        case("OGB: a part of the split missing", ogb().without("split/scaffold/test.csv"))
            .says("memory has no split/scaffold/test.csv.gz", "which the OGB format needs")
            .hints("beside"),
        case("powerful-gnns: fewer graphs than announced", powerful().replacing("TOY.txt", "2\n3 0", "3\n3 0"))
            .says("TOY.txt", "expected a graph's `nodes class`")
            .hints("truncated"),
        case("powerful-gnns: more graphs than announced", powerful().replacing("TOY.txt", "2\n3 0", "1\n3 0"))
            .says("TOY.txt, line 6", "expected the end of the file after 1 graphs"),
        case("powerful-gnns: a neighbor that is not there", powerful().replacing("TOY.txt", "0 1 0 4", "0 1 2 4"))
            .says("TOY.txt, line 8", "expected neighbors below 2"),
        case("powerful-gnns: fewer neighbors than the degree", powerful().replacing("TOY.txt", "0 1 0 4", "0 3 0 1"))
            .says("TOY.txt, line 8", "expected as many neighbors as the degree says"),
        case("powerful-gnns: a fold of other graphs", powerful().with("10fold_idx/test_idx-1.txt", "7\n"))
            .says("10fold_idx/test_idx-1.txt, line 1", "expected a number below 2"),
        case("powerful-gnns: half a fold", powerful().without("10fold_idx/test_idx-1.txt"))
            .says("memory has no 10fold_idx/test_idx-1.txt", "powerful-gnns format needs")
            .hints("beside"),
        case("MoleculeNet: rows much shorter than the header", Files::one("toy.csv", shorter_rows()))
            .says("toy.csv, line 259", "expected as many fields as the header has"),
        case("MoleculeNet: no molecule", Files::one("toy.csv", "smiles,active\nC1CC,1\nxyz,0\n"))
            .says("toy.csv", "expected a valid SMILES in at least one row"),
        case("MoleculeNet: no column of SMILES", molecules().with("toy.csv", "name,active\nethanol,1\n"))
            .format("moleculenet")
            .says("toy.csv, line 1", "expected a column called smiles")
            .hints("name smiles"),
        case("MoleculeNet: an empty file", molecules().with("toy.csv", ""))
            .format("moleculenet")
            .says("toy.csv, line 1", "expected a column called smiles")
            .hints("name smiles"),
    ]
}

/// Many columns that no row fills.
fn shorter_rows() -> String {
    format!("smiles{}\n{}", " a".repeat(255), "C 1\n".repeat(1000))
}
