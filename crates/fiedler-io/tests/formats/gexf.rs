//! GEXF files.

use fiedler_graph::{Dataset, Labels};
use fiedler_io::Error;

use crate::common::{memory, read, read_path};

fn parse(text: &str) -> Result<Dataset, Error> {
    read(&memory(&[("a.xml", text.as_bytes())], Some("a.xml")))
}

#[test]
fn nodes_attributes_and_weights_are_read() {
    let text = r#"<?xml version="1.0"?><gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3"><graph defaultedgetype="directed">
<attributes class="node"><attribute id="0" title="size of it" type="float"/><attribute id="1" title="class" type="string"/>
<attribute id="2" title="old" type="boolean"><default>false</default></attribute><attribute id="3" title="split" type="string"/></attributes>
<attributes class="edge"><attribute id="0" title="kind" type="string"/></attributes>
<nodes><node id="n7" label="caf&#233; &amp; bar"><attvalues><attvalue for="0" value="1.5"/><attvalue for="1" value="red"/><attvalue for="2" value="true"/><attvalue for="3" value="train"/></attvalues><viz:size value="4"/></node>
<node id="n2" label="b"><attvalues><attvalue for="0" value="-2"/><attvalue for="1" value="blue"/><attvalue for="3" value="test"/></attvalues></node>
<node id="n5" label="alone"><attvalues><attvalue for="0" value="0"/><attvalue for="1" value="red"/></attvalues></node></nodes>
<edges><edge id="0" source="n7" target="n2" weight="2.5"><attvalues><attvalue for="0" value="x"/></attvalues></edge></edges></graph></gexf>"#;
    let dataset = parse(text).expect("a graph");
    let graph = dataset.graph().expect("one graph");
    assert_eq!(dataset.report.format, "gexf");
    assert_eq!((0..3).map(|node| graph.name(node)).collect::<Vec<_>>(), ["caf\u{e9} & bar", "b", "alone"]);
    assert_eq!((graph.edge_pairs().collect::<Vec<_>>(), graph.edge_weights()), (vec![(0, 1)], Some(vec![2.5])));
    assert_eq!(dataset.feature_names.as_deref(), Some(&["size of it", "old"].map(str::to_owned)[..]));
    assert_eq!(dataset.features.as_ref().expect("features").to_dense().values(), [1.5, 1.0, -2.0, 0.0, 0.0, 0.0]);
    let classes = dataset.node_labels.as_ref().and_then(Labels::classes).expect("classes");
    assert_eq!(
        (classes.names(), classes.of()),
        (&["blue".to_owned(), "red".into()][..], &[Some(1), Some(0), Some(1)][..])
    );
    assert_eq!(
        (&*dataset.splits[0].name, &*dataset.splits[0].train, &*dataset.splits[0].test),
        ("split", &[0][..], &[1][..])
    );
    assert_eq!(dataset.report.notes, ["the graph is directed; its edges were made undirected"]);
}

#[test]
fn what_networkx_writes_is_read() {
    let dataset = read_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/karate.gexf"));
    let graph = dataset.graph().expect("one graph");
    assert_eq!((graph.num_nodes(), graph.num_edges(), graph.names()), (34, 78, None));
    assert_eq!(graph.edge_weights().expect("weights").iter().sum::<f32>(), 231.0);
    assert_eq!(dataset.feature_names.as_deref(), Some(&["degree", "founder"].map(str::to_owned)[..]));
    let classes = dataset.node_labels.as_ref().and_then(Labels::classes).expect("classes");
    assert_eq!(classes.names(), ["Mr. Hi", "Officer"]);
    let same = read_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/karate.graphml"));
    assert_eq!(dataset.graphs.fingerprint(), same.graphs.fingerprint());
}
