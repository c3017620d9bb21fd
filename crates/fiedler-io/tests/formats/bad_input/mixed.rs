//! Faults in GEXF, PyTorch Geometric's files, sets in JSON, and tables with splits.

use super::files::{self, Files};
use super::{Case, case};

pub fn cases() -> Vec<Case> {
    let (gexf, pyg) = (files::gexf, files::pyg);
    let set = |second: &str| {
        let first = r#"{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}"#;
        Files::one("toy.json", format!("[{first},\n{second}]"))
    };
    let table = |text: &str| files::edge_list().with("labels.csv", text);
    vec![
        case("GEXF: cut short", gexf().cut("toy.gexf", 4))
            .says("toy.gexf, line 9", "expected well-formed XML")
            .hints("truncated"),
        case("GEXF: an edge to no node", gexf().replacing("toy.gexf", "target=\"b\"", "target=\"c\""))
            .says("toy.gexf, line 11", "expected edges between the file's nodes"),
        case("GEXF: a node twice", gexf().replacing("toy.gexf", "id=\"b\"", "id=\"a\""))
            .says("toy.gexf, line 8", "expected each node once"),
        case("GEXF: a word for a number", gexf().replacing("toy.gexf", "1.5", "large"))
            .says("toy.gexf, line 7", "expected a number"),
        case("GEXF: a weight of zero", gexf().replacing("toy.gexf", "weight=\"0.5\"", "weight=\"0\""))
            .says("toy.gexf, line 11", "expected a positive finite number")
            .hints("--unweighted"),
        case("GEXF: a node without an id", gexf().replacing("toy.gexf", "node id=\"b\"", "node name=\"b\""))
            .says("toy.gexf, line 8", "expected the attribute id"),
        case("GEXF: no graph", Files::one("toy.gexf", "<gexf></gexf>"))
            .says("toy.gexf", "expected GEXF with one graph"),
        case("PyG: cut short", pyg().cut("toy.pt", 3))
            .says("toy.pt", "expected a whole zip archive")
            .hints("download it again"),
        case("PyG: of before PyTorch 1.6", Files::one("toy.pt", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."))
            .says("toy.pt", "expected a file that torch.save wrote")
            .hints("saved again"),
        case("PyG: a storage that is not there", pyg().without_member("toy.pt", "data/1"))
            .says("toy.pt", "expected a member data/1"),
        case("PyG: a storage that is too short", pyg().with_member("toy.pt", "data/0", b"\0\0"))
            .says("toy.pt, x", "expected as many as its shape and order ask for")
            .hints("damaged"),
        case("PyG: an edge of a node that is not there", pyg().with_member("toy.pt", "data/1", [7; 64]))
            .says("toy.pt, edge_index", "expected"),
        case("PyG: a pickle of something else", pyg().with_member("toy.pt", "data.pkl", b"\x80\x02K\x01."))
            .says("toy.pt", "expected a Data of PyTorch Geometric")
            .hints("models"),
        case("PyG: a pickle that ends", pyg().with_member("toy.pt", "data.pkl", b"\x80\x02}q"))
            .says("toy.pt, data.pkl", "expected"),
        case("a set in JSON: a graph without nodes", set("{\"links\": []}"))
            .format("node-link")
            .says("toy.json, line 2", "expected a list of node-link graphs"),
        case(
            "a set in JSON: a link to no node",
            set(r#"{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "b"}]}"#),
        )
        .says("toy.json, graph 1/links[0]", "expected ids of nodes in the list"),
        case("a set in JSON: a node twice", set(r#"{"nodes": [{"id": "a"}, {"id": "a"}], "links": []}"#))
            .says("toy.json, graph 1/nodes[1]", "expected an id of its own"),
        case(
            "a set in JSON: a weight below zero",
            set(r#"{"nodes": [{"id": 0}], "links": [{"source": 0, "target": 0, "weight": -1}]}"#),
        )
        .says("toy.json, graph 1/links[0]", "expected a positive finite number")
        .hints("--unweighted"),
        case("an empty list in JSON", Files::one("toy.json", "[]"))
            .format("node-link")
            .says("toy.json", "expected at least one graph"),
        case("labels: a split of other words", table("id,label,split\n0,a,first\n1,b,second\n2,a,first\n"))
            .labels("labels.csv")
            .says("labels.csv", "expected train, validation, test or nothing")
            .hints("something else"),
        case("labels: a node in two parts", table("id,label,split\n0,a,train+test\n1,b,test\n2,a,\n"))
            .labels("labels.csv")
            .says("", "expected an id that is not in train already"),
    ]
}
