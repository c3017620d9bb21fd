//! Ego-nets of nodes as a set of graphs.

use fiedler_graph::generate::Parameter;
use fiedler_graph::{Dataset, Features, ReadReport, random, walked_ego_nets};

use super::{Arguments, Transform, degrees};
use crate::error::{Error, Result};

/// The ego-nets of nodes drawn at random, one graph each.
///
/// Centres are drawn from all nodes of the data, without replacement; several data are joined by `+`. The labels of the centres, and
/// splits of them, become those of the nets. Features are buckets of the degrees that nodes have in the whole graph, as
/// `degrees:DATA` has them, since those in a net are cut off with it; or, with `features=given`, those of the data.
pub(super) const TRANSFORM: Transform = Transform {
    name: "ego",
    about: "ego-nets: what lies around nodes drawn at random; above the cap, what a random walk with restart meets",
    usage: "ego:DATA,hops=2,cap=128,restart=0.8,count=none,features=degrees,buckets=16,seed=0",
    parameters: &[
        Parameter { name: "hops", about: "how far a net reaches" },
        Parameter { name: "cap", about: "nodes of a net at most" },
        Parameter { name: "restart", about: "probability that a walk returns to the centre before a step" },
        Parameter { name: "count", about: "number of nets; none for one around each node" },
        Parameter { name: "features", about: "degrees (of the whole graph, in buckets) or given (those of the data)" },
        degrees::BUCKETS,
        Parameter { name: "seed", about: "seed of the centres and of the walks" },
    ],
    apply,
};

fn apply(arguments: &Arguments<'_>) -> Result<Dataset> {
    let (hops, cap) = (arguments.whole("hops", 2)?, arguments.whole("cap", 128)?);
    let (restart, seed) = (arguments.real("restart", 0.8)?, arguments.seed()?);
    let buckets = degrees::buckets(arguments)?;
    let given = match arguments.text("features") {
        None | Some("degrees") => false,
        Some("given") => true,
        Some(other) => return Err(Error::setting("features", format!("{other:?}"), "degrees or given")),
    };
    let count = arguments.whole_or_none("count")?;
    if count == Some(0) {
        return Err(Error::setting("count", 0, "at least 1, or none for all nodes"));
    }

    let source = open(arguments, given)?;
    let whole = source.graphs.block_diagonal();
    let centres = random::choose(seed, "centres of ego-nets", whole.num_nodes(), count.unwrap_or(usize::MAX));
    if centres.is_empty() {
        return Err(Error::setting("number of nodes", 0, "at least 1"));
    }
    let nets = walked_ego_nets(whole, &centres, hops, cap, restart, seed)?;
    let mut dataset = Dataset::set(format!("{}-ego", source.name), nets.graphs);
    if given {
        dataset.features = source.features.as_ref().map(|features| features.gather(&nets.node_rows));
        dataset.feature_names = source.feature_names;
    } else {
        dataset.features = Some(Features::degree_buckets(whole, buckets).gather(&nets.node_rows));
        dataset.feature_names = Some(Features::degree_bucket_names(buckets));
    }
    // One net is a single graph, whose labels and splits would be those of its nodes.
    if centres.len() > 1 {
        dataset.graph_labels = source.node_labels.as_ref().map(|labels| labels.gather(&centres));
        if source.graphs.len() == 1 {
            dataset.splits = source.splits.iter().map(|split| split.select(&centres)).collect();
        }
    }
    dataset.report = ReadReport { notes: source.report.notes, ..ReadReport::default() };
    dataset.report.format = "transformed";
    let nodes = dataset.graphs.num_nodes() as f64 / centres.len() as f64;
    dataset.report.notes.push(format!(
        "{} ego-nets of {hops} hops around {} of {} nodes, {nodes:.1} nodes on average, at most {cap}",
        dataset.graphs.len(),
        if centres.len() == whole.num_nodes() { "all".to_owned() } else { centres.len().to_string() },
        whole.num_nodes(),
    ));
    dataset.check()?;
    Ok(dataset)
}

/// What nets are cut from: one dataset, or several joined by `+` of which only what all have can be used.
fn open(arguments: &Arguments<'_>, given: bool) -> Result<Dataset> {
    let names: Vec<&str> = arguments.data.split('+').map(str::trim).collect();
    if names.len() == 1 || std::path::Path::new(arguments.data).exists() {
        return arguments.open();
    }
    let options = arguments.whole_options();
    let mut notes = Vec::new();
    let mut parts = Vec::new();
    for name in &names {
        let part = arguments.open_with(name, &options)?;
        notes.extend(part.report.notes.iter().map(|note| format!("{}: {note}", part.name)));
        // Classes of different data have nothing in common.
        let mut plain = Dataset::set(part.name, part.graphs);
        plain.features = part.features.filter(|_| given);
        parts.push(plain);
    }
    let name = parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join("-");
    let mut joined = Dataset::gather(name, &parts.iter().collect::<Vec<_>>())?;
    joined.report.notes = notes;
    Ok(joined)
}
