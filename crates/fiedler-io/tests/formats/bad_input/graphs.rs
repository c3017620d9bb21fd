//! Faults in text files of one graph, and in the tables beside it.

use super::files::{self, Files, npy};
use super::{Case, case};

/// Text formats of one graph.
pub fn single_graphs() -> Vec<Case> {
    let (wiki, airports) = (files::wiki_cs, files::struc2vec);
    let (graphml, links, edges) = (files::graphml, files::node_link, files::edge_list);
    vec![
        case("Wiki-CS: JSON cut short", wiki().cut("data.json", 20))
            .says("data.json, test_mask[1], line 8", "expected the lists of numbers and masks of Wiki-CS")
            .hints("download it again"),
        case("Wiki-CS: an infinite feature", wiki().replacing("data.json", "0.5", "1e39"))
            .says("data.json, features[0][0], line 2", "expected finite numbers"),
        case("Wiki-CS: a NaN", wiki().replacing("data.json", "0.5", "NaN"))
            .says("data.json, features[0][0], line 2", "expected the lists of numbers")
            .hints("NaN"),
        case("Wiki-CS: a row of another length", wiki().replacing("data.json", "[0.1, 0]", "[0.1]"))
            .says("data.json, features[1]", "expected 2 as in row 0"),
        case("Wiki-CS: a link to no page", wiki().replacing("data.json", "[0, 2]", "[0, 3]"))
            .says("data.json, links[1][1]", "expected a node below 3"),
        case("Wiki-CS: a negative page", wiki().replacing("data.json", "[0, 2]", "[0, -2]"))
            .says("data.json, links[1][1], line 4", "expected the lists of numbers"),
        case("Wiki-CS: fewer labels than nodes", wiki().replacing("data.json", "[3, 0, 3]", "[3, 0]"))
            .says("data.json, labels", "expected 3, one for each row of features"),
        case("Wiki-CS: a mask of another length", wiki().replacing("data.json", "[[true, false, false]]", "[[true]]"))
            .says("data.json, train_masks[0]", "expected 3, one for each row of features"),
        case("Wiki-CS: a part missing", wiki().replacing("data.json", "\"links\"", "\"edges\""))
            .format("wiki-cs")
            .says("data.json, line 9", "missing field `links`"),
        case(
            "Wiki-CS: a node that both trains and tests",
            wiki().replacing("data.json", "false, true]\n}", "true, true]\n}").replacing(
                "data.json",
                "[true, false, false]",
                "[true, true, true]",
            ),
        )
        .says("data.json", "expected an id that is not in train already"),
        case("struc2vec: no labels", airports().without("labels-toy.txt"))
            .format("struc2vec")
            .says("has no labels-toy.txt", "which the struc2vec format needs")
            .hints("put labels-toy.txt beside"),
        case("struc2vec: a node labelled twice", airports().with("labels-toy.txt", "5 1\n5 0\n"))
            .says("labels-toy.txt, line 2", "expected one label a node"),
        case("struc2vec: a node without a class", airports().with("labels-toy.txt", "5 1\n7\n"))
            .says("labels-toy.txt, line 2", "expected the class of the node"),
        case("struc2vec: half an edge", airports().with("toy.edgelist", "5 7\n7\n"))
            .says("toy.edgelist, line 2", "expected a second node"),
        case("GraphML: cut short", graphml().cut("toy.graphml", 4))
            .says("toy.graphml, line 8", "expected well-formed XML")
            .hints("truncated"),
        case("GraphML: an edge to no node", graphml().replacing("toy.graphml", "target=\"b\"", "target=\"c\""))
            .says("toy.graphml, line 9", "expected edges between the file's nodes"),
        case("GraphML: a node twice", graphml().replacing("toy.graphml", "id=\"b\"", "id=\"a\""))
            .says("toy.graphml, line 8", "expected each node once"),
        case("GraphML: a word for a number", graphml().replacing("toy.graphml", "1.5", "large"))
            .says("toy.graphml, line 7", "expected a number"),
        case("GraphML: an infinite weight", graphml().replacing("toy.graphml", "0.5", "inf"))
            .says("toy.graphml, line 9", "expected a positive finite number")
            .hints("--unweighted"),
        case("GraphML: a billion laughs", graphml().replacing("toy.graphml", "blue", "&lol;"))
            .says("toy.graphml, line 8", "expected only &lt;")
            .hints("not expanded"),
        case("GraphML: a long default for many nodes", many_defaults())
            .says("toy.graphml", "characters of default labels")
            .hints("damaged"),
        case("GraphML: other XML", graphml().with("toy.graphml", "<html><body/></html>"))
            .says("toy.graphml", "expected GraphML with one graph"),
        case("node-link: cut short", links().cut("toy.json", 4))
            .says("toy.json, line 4", "expected node-link JSON")
            .hints("download it again"),
        case("node-link: a link to no node", links().replacing("toy.json", "\"target\": \"b\"", "\"target\": \"c\""))
            .says("toy.json, links[0]", "expected ids of nodes in the list"),
        case("node-link: a node without an id", links().replacing("toy.json", "\"id\": \"b\"", "\"key\": \"b\""))
            .says("toy.json, nodes[1]", "expected an id for every node"),
        case("node-link: a node twice", links().replacing("toy.json", "\"id\": \"b\"", "\"id\": \"a\""))
            .says("toy.json, nodes[1]", "expected an id of its own for every node"),
        case("node-link: a negative weight", links().replacing("toy.json", "\"weight\": 0.5", "\"weight\": -0.5"))
            .says("toy.json, links[0]", "expected a positive finite number")
            .hints("--unweighted"),
        case("edge list: half an edge", edges().with("toy.csv", "0,1\n1,2\n2\n"))
            .says("toy.csv, line 3", "expected two node ids")
            .hints("# node: NAME"),
        case("edge list: an empty id", edges().with("toy.csv", "0,1\n,2\n"))
            .says("toy.csv, line 2", "expected two node ids"),
        case("edge list: a weight of 0", edges().replacing("toy.csv", "1,2,2", "1,2,0"))
            .says("toy.csv, line 3", "expected a positive finite number")
            .hints("--unweighted"),
        case("edge list: a word for a weight", edges().replacing("toy.csv", "1,2,2", "1,2,heavy"))
            .says("toy.csv, line 3", "expected a number")
            .hints("--unweighted"),
        case("edge list: a weight missing", edges().replacing("toy.csv", "1,2,2", "1,2"))
            .says("toy.csv, line 3", "expected a weight")
            .hints("--unweighted"),
        case("edge list: an empty file", edges().with("toy.csv", "")).says("toy.csv", "expected one edge a line"),
        case("edge list: nothing but a header", edges().with("toy.csv", "source,target\n"))
            .says("toy.csv", "expected one edge a line"),
        case("edge list: a binary file", edges().with("toy.csv", [0, 159, 146, 150, 10, 255]))
            .says("toy.csv, line 1", "expected text")
            .hints("binary"),
        case(
            "edge list: a Matrix Market file",
            edges().with("toy.csv", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1\n"),
        )
        .format("edge-list")
        .says("toy.csv, line 1", "expected an edge list")
        .hints("matrix-market"),
        case("struc2vec: a binary file", airports().with("toy.edgelist", [0, 159, 146, 150, 10, 255]))
            .says("toy.edgelist, line 1", "expected a node, by its number"),
    ]
}

/// A label of 100 kB that a thousand nodes have without saying so.
fn many_defaults() -> Files {
    let nodes: String = (0..1000).map(|node| format!("<node id=\"n{node}\"/>")).collect();
    files::graphml().replacing("toy.graphml", "red", &"red".repeat(30_000)).replacing(
        "toy.graphml",
        "<node id=\"a\">",
        &format!("{nodes}<node id=\"a\">"),
    )
}

/// Tables of features and labels beside an edge list.
pub fn tables() -> Vec<Case> {
    let beside = |name: &str, bytes: &[u8]| files::edge_list().with(name, bytes);
    let billions = npy("<f4", "(2000000000, 0)", &[]);
    vec![
        case("features of fewer nodes", beside("x.csv", b"1,2\n3,4\n"))
            .features("x.csv")
            .says("x.csv", "expected 3, one a node")
            .hints("add a first column `node`"),
        case("a node without features", beside("x.csv", b"node,x\n0,1\n1,2\n"))
            .features("x.csv")
            .says("x.csv", "expected features for every node")
            .hints("add the rows"),
        case("a word among the features", beside("x.csv", b"x,y\n1,2\n3,red\n5,6\n"))
            .features("x.csv")
            .says("x.csv, line 3", "expected a finite number")
            .hints("number categories"),
        case("an infinite feature", beside("x.csv", b"1,2\n3,inf\n5,6\n"))
            .features("x.csv")
            .says("x.csv, line 2", "expected a finite number"),
        case("a row that is cut short", beside("x.csv", b"1,2\n3\n5,6\n"))
            .features("x.csv")
            .says("x.csv, line 2", "expected 2 fields"),
        case("a node twice in a table", beside("x.csv", b"node,x\n0,1\n1,2\n1,3\n"))
            .features("x.csv")
            .says("x.csv, line 4", "expected one row a node"),
        case("a table of other nodes", beside("y.csv", b"node,label\na,1\nb,2\nc,3\n"))
            .labels("y.csv")
            .says("y.csv", "expected ids of nodes such as \"0\""),
        case("an empty table", beside("y.csv", b"# nothing\n"))
            .labels("y.csv")
            .says("y.csv", "expected one row a node"),
        case("words in one of several columns of labels", beside("y.csv", b"a,b\n1,x\n0,y\n1,z\n"))
            .labels("y.csv")
            .says("y.csv", "expected one column of classes")
            .hints("keep only the columns"),
        case("an array cut short", beside("x.npy", &npy("<f4", "(3, 2)", &[0; 20])))
            .features("x.npy")
            .says("x.npy", "expected floats of 32 bits in the shape (3, 2)")
            .hints("truncated"),
        case("an array of rows without values", beside("x.npy", &npy("<f4", "(3, 0)", &[])))
            .features("x.npy")
            .says("x.npy", "expected at least one column"),
        case("an array of billions of rows without values", beside("x.npy", &billions))
            .features("x.npy")
            .says("x.npy", "in the shape (2000000000, 0)")
            .hints("truncated"),
        case("a parquet file cut short", beside("x.parquet", b"PAR1\x15\x04\x15"))
            .features("x.parquet")
            .says(
                "x.parquet",
                if cfg!(feature = "parquet") { "expected a parquet file" } else { "expected csv or npy" },
            )
            .hints(if cfg!(feature = "parquet") { "to_parquet" } else { "save the table as csv" }),
        case("a table that is not there", files::edge_list()).features("x.csv").says("x.csv", "cannot read"),
    ]
}
