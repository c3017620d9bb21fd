use fiedler_augment::scheme::{GraphCl, Operation};
use fiedler_augment::{FeatureMasking, SchemeSettings};
use fiedler_graph::{Dataset, Graph, GraphSet, generate};
use fiedler_learn::encoder::{DecoupledSettings, EncoderSettings, GinSettings, InputDims, MlpSettings};
use fiedler_learn::method::{Anchors, Gca, Grace, Method, MethodSettings, NodeContrast};
use fiedler_learn::run::{Run, Settings};
use fiedler_learn::{Task, TaskLevel};

use crate::common::{assert_same_however_it_is_run, assert_trains_on_little, gcn, graph, notes, ring, settings, wave};

fn contrast(width: usize, anchors: Anchors) -> NodeContrast {
    NodeContrast { encoder: gcn(width), projector_channels: width + 1, anchors, ..NodeContrast::default() }
}

#[test]
fn one_thread_or_two_stopped_or_not_the_bits_are_the_same() {
    assert_same_however_it_is_run(Grace(contrast(8, Anchors::Auto)));
    assert_same_however_it_is_run(Gca(contrast(8, Anchors::Count(200))));
}

#[test]
fn graphs_with_little_in_them_are_learned() {
    assert_trains_on_little(Grace(contrast(5, Anchors::Auto)));
    assert_trains_on_little(Grace(contrast(5, Anchors::Count(3))));
    assert_trains_on_little(Gca(contrast(5, Anchors::Auto)));
    assert_trains_on_little(Gca(contrast(5, Anchors::Count(1000))));
}

#[test]
fn more_anchors_than_nodes_are_all_nodes() {
    let dataset = graph(10, &ring(), 4, wave);
    let losses = |anchors| Run::new(&settings(Grace(contrast(5, anchors)), 5), &dataset).fit().unwrap().history.losses;
    assert_eq!(losses(Anchors::All), losses(Anchors::Count(10)));
    assert_eq!(losses(Anchors::All), losses(Anchors::Count(11)));
    assert_eq!(losses(Anchors::All), losses(Anchors::Auto));
    assert_ne!(losses(Anchors::All), losses(Anchors::Count(9)));
}

#[test]
fn the_user_hears_of_it_where_not_all_nodes_are_told_apart() {
    let pairs: Vec<(u32, u32)> = (1..8200).map(|node| (node - 1, node)).collect();
    let large = graph(8200, &pairs, 2, wave);
    let heard = |anchors| notes(&settings(Grace(contrast(1, anchors)), 1), &large);
    let found = heard(Anchors::Auto);
    assert!(found.iter().any(|note| note.contains("4096 of the 8200 nodes")), "{found:?}");
    let found = heard(Anchors::Count(10));
    assert!(found.iter().all(|note| !note.contains("8200 nodes")), "{found:?}");
    assert_eq!((Anchors::Auto.of(8192), Anchors::Auto.of(8193), Anchors::All.of(8193)), (8192, 4096, 8193));
}

#[test]
fn settings_are_read_and_written() {
    let read = |text: &str| serde_json::from_str::<Settings>(text);
    for (method, removal) in [("grace", "uniform"), ("gca", "centrality")] {
        let found = read(&format!(r#"{{"method": {{"name": "{method}"}}}}"#)).unwrap();
        assert_eq!(found.method, method.parse::<MethodSettings>().unwrap());
        assert_eq!((found.training.epochs, found.training.weight_decay), (200, 1e-5));
        let resolved = found.resolved();
        assert_eq!(resolved.scheme.as_ref().unwrap().name(), removal);
        assert_eq!(resolved.feature_masking.unwrap().centrality.is_some(), method == "gca");
        assert_eq!(read(&serde_json::to_string(&resolved).unwrap()).unwrap(), resolved);
        for (text, expected) in [("\"auto\"", Anchors::Auto), ("\"all\"", Anchors::All), ("7", Anchors::Count(7))] {
            let found = read(&format!(r#"{{"method": {{"name": "{method}", "anchors": {text}}}}}"#)).unwrap();
            let (MethodSettings::Grace(Grace(contrast)) | MethodSettings::Gca(Gca(contrast))) = &found.method else {
                panic!("{found:?}")
            };
            assert_eq!(contrast.anchors, expected);
            assert_eq!(read(&serde_json::to_string(&found).unwrap()).unwrap(), found);
        }
        for text in ["\"some\"", "-3", "1.5", "{}"] {
            let error = read(&format!(r#"{{"method": {{"name": "{method}", "anchors": {text}}}}}"#)).unwrap_err();
            assert!(error.to_string().contains("auto, all, or a number of nodes"), "{error}");
        }
        let error = read(&format!(r#"{{"method": {{"name": "{method}", "tau": 1}}}}"#)).unwrap_err();
        assert!(error.to_string().contains("tau"), "{error}");
    }
}

fn task(num_nodes: usize, num_views: usize) -> Task {
    let dims = InputDims { nodes: 4, edges: None };
    let level = TaskLevel::Nodes;
    Task { level, dims, num_nodes, num_graphs: 1, batch_graphs: 1, num_views, target: None }
}

#[test]
fn settings_and_tasks_that_cannot_work_are_refused() {
    let usual = NodeContrast::default;
    assert!(Grace(usual()).check(&task(2, 2)).is_ok());
    for (contrast, task, expected) in [
        (usual(), task(1, 2), "number of nodes is 1"),
        (usual(), task(5, 1), "number of views is 1; expected 2, which is what"),
        (NodeContrast { temperature: 0.0, ..usual() }, task(5, 2), "temperature is 0"),
        (NodeContrast { temperature: f64::NAN, ..usual() }, task(5, 2), "temperature is NaN"),
        (NodeContrast { projector_channels: 0, ..usual() }, task(5, 2), "projector_channels is 0"),
        (NodeContrast { encoder: gcn(0), ..usual() }, task(5, 2), "channels is 0"),
        (contrast(4, Anchors::Count(1)), task(5, 2), "anchors is 1; expected at least 2"),
    ] {
        for error in [Grace(contrast.clone()).check(&task), Gca(contrast.clone()).check(&task)] {
            let error = error.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}, expected {expected}");
        }
    }
    // Sets of graphs are not for these methods.
    let two = Graph::from_pairs(5, vec![(0, 1), (2, 3), (3, 4)]).unwrap().0;
    let graphs = Dataset::set("two", GraphSet::from_block_diagonal(two, vec![2, 3]).unwrap());
    let error = Run::new(&settings(Grace::default(), 1), &graphs).check().err().unwrap().to_string();
    assert!(error.contains("method is grace"), "{error}");
}

#[test]
fn other_encoders_and_views_that_drop_nodes_serve() {
    let dataset = generate::from_spec("citation", 3).unwrap();
    let hidden_channels = 6;
    for encoder in [
        EncoderSettings::Decoupled(DecoupledSettings { hidden_channels, ..Default::default() }),
        EncoderSettings::Mlp(MlpSettings { hidden_channels, ..Default::default() }),
        EncoderSettings::Gin(GinSettings { hidden_channels, ..Default::default() }),
    ] {
        let grace = Grace(NodeContrast { encoder, projector_channels: 4, ..NodeContrast::default() });
        let result = Run::new(&settings(grace, 2), &dataset).fit().unwrap();
        assert_eq!(result.embeddings.columns(), 6);
    }
    let mut settings = settings(Grace(contrast(8, Anchors::Count(100))), 4);
    let (first, second) = (Operation::NodeDropping, Operation::NodeDropping);
    settings.scheme = Some(SchemeSettings::GraphCl(GraphCl { first, second, ratio: 0.3 }));
    settings.feature_masking = Some(FeatureMasking::default());
    let result = Run::new(&settings, &dataset).fit().unwrap();
    assert_eq!((result.embeddings.rows(), result.embeddings.columns()), (dataset.graphs.num_nodes(), 8));
}
