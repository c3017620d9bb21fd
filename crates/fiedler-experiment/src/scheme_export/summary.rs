//! What a scheme does, in figures.

use fiedler_augment::scheme::{Augmentation, Scheme};
use fiedler_graph::{Dataset, Labels};
use serde_json::{Map, Value, json};

/// Figures that take a look at labels beside the scheme.
#[derive(Debug)]
pub struct SchemeSummary {
    /// Share of edges that join different classes.
    pub edges_between: Option<f64>,
    /// The same of expected additions and removals, for each view.
    pub flips_between: Vec<BetweenClasses>,
}

/// Shares of flips that join different classes.
#[derive(Debug, Clone, Copy, Default)]
pub struct BetweenClasses {
    /// Of what is added.
    pub added: Option<f64>,
    /// Of what is removed.
    pub removed: Option<f64>,
}

impl SchemeSummary {
    /// Looks at a scheme and the classes of nodes.
    pub fn of(scheme: &Scheme, dataset: &Dataset) -> SchemeSummary {
        let Some(Labels::Classes(classes)) = &dataset.node_labels else {
            return SchemeSummary {
                edges_between: None,
                flips_between: vec![BetweenClasses::default(); scheme.views().len()],
            };
        };
        let differ = |a: u32, b: u32| match (classes.of()[a as usize], classes.of()[b as usize]) {
            (Some(a), Some(b)) => Some(a != b),
            _ => None,
        };
        let mut edges = Tally::default();
        dataset.graphs.block_diagonal().edge_pairs().for_each(|(a, b)| edges.add(differ(a, b), 1.0));
        let of_view = |view: &Augmentation| match view {
            Augmentation::Pairs(pairs) => {
                let (mut added, mut removed) = (Tally::default(), Tally::default());
                for (graph, flips) in pairs.graphs().iter().enumerate() {
                    let first = dataset.graphs.node_range(graph).start;
                    flips.visit_in(dataset.graphs.block_diagonal(), first, |(low, high), edge, probability| {
                        let tally = if edge { &mut removed } else { &mut added };
                        tally.add(differ(low, high), probability.into());
                    });
                }
                BetweenClasses { added: added.share(), removed: removed.share() }
            }
            _ => BetweenClasses::default(),
        };
        SchemeSummary { edges_between: edges.share(), flips_between: scheme.views().iter().map(of_view).collect() }
    }

    /// One object of the same shape for every scheme: `views` has an object for each view, with its name.
    pub fn json(&self, scheme: &Scheme, dataset: &Dataset, peak_bytes: Option<u64>) -> Value {
        let mut object = Map::new();
        object.insert("data".into(), json!(dataset.name));
        object.insert("graphs".into(), json!(dataset.graphs.len()));
        object.insert("nodes".into(), json!(dataset.graphs.num_nodes()));
        object.insert("edges".into(), json!(dataset.graphs.num_edges()));
        object.insert("fingerprint".into(), json!(scheme.fingerprint()));
        object.insert("scheme".into(), json!(scheme.settings().name()));
        object.insert("settings".into(), json!(scheme.settings()));
        let views = scheme.report().views.iter().zip(&self.flips_between).map(|(view, between)| {
            let norm = view.norm;
            json!({
                    "name": view.name,
                    "norm_before": norm.map(|norm| norm.before),
                    "norm_after": norm.map(|norm| norm.after),
                    "norm_of": norm.map(|norm| norm.of.name()),
                    "drawn_norm": view.drawn_norm,
                    "relative_norm": norm.map(|norm| norm.relative()),
                    "distance": norm.and_then(|norm| norm.distance),
                    "mass_added": view.mass.added,
                    "mass_removed": view.mass.removed,
                    "added_between_classes": between.added,
                    "removed_between_classes": between.removed,
                    "budget": view.budget,
                    "changes": view.changes(),
                    "support": view.support,
                    "reason": view.reason,
                    "places": view.places,
                    "steps": view.steps,
                    "first_order_gap": view.gap,
                    "stop": view.stop,
                    "diversity": view.diversity,
                    "step_size": view.rate,
                    "seconds": view.seconds,
            })
        });
        object.insert("views".into(), views.collect());
        object.insert("edges_between_classes".into(), json!(self.edges_between));
        object.insert("notes".into(), json!(scheme.report().notes));
        object.insert("warnings".into(), json!(scheme.report().warnings));
        object.insert("peak_bytes".into(), json!(peak_bytes));
        Value::Object(object)
    }
}

/// A weighted count of pairs within and between classes.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    between: f64,
    all: f64,
}

impl Tally {
    fn add(&mut self, differ: Option<bool>, weight: f64) {
        if let Some(differ) = differ {
            self.all += weight;
            self.between += if differ { weight } else { 0.0 };
        }
    }

    fn share(&self) -> Option<f64> {
        (self.all > 0.0).then(|| self.between / self.all)
    }
}
