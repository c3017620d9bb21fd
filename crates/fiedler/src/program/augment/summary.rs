//! What a scheme does, in figures.

use fiedler_augment::scheme::{Augmentation, Scheme, ViewReport};
use fiedler_graph::{Dataset, Labels};
use serde_json::{Map, Value, json};

use crate::program::table::{Table, count, figure, percent};

/// Figures that take a look at labels beside the scheme.
#[derive(Debug)]
pub struct Summary {
    /// Share of edges that join different classes.
    between: Option<f64>,
    /// The same of expected additions and removals, for each view.
    flips_between: Vec<Between>,
}

/// Shares of flips that join different classes.
#[derive(Debug, Clone, Copy, Default)]
struct Between {
    added: Option<f64>,
    removed: Option<f64>,
}

impl Summary {
    pub fn of(scheme: &Scheme, dataset: &Dataset) -> Summary {
        let Some(Labels::Classes(classes)) = &dataset.node_labels else {
            return Summary { between: None, flips_between: vec![Between::default(); scheme.views().len()] };
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
                Between { added: added.share(), removed: removed.share() }
            }
            _ => Between::default(),
        };
        Summary { between: edges.share(), flips_between: scheme.views().iter().map(of_view).collect() }
    }

    /// One object with an object for each view.
    pub fn json(&self, scheme: &Scheme, dataset: &Dataset, peak_bytes: Option<u64>) -> Value {
        let mut object = Map::new();
        object.insert("data".into(), json!(dataset.name));
        object.insert("graphs".into(), json!(dataset.graphs.len()));
        object.insert("nodes".into(), json!(dataset.graphs.num_nodes()));
        object.insert("edges".into(), json!(dataset.graphs.num_edges()));
        object.insert("fingerprint".into(), json!(scheme.fingerprint()));
        object.insert("settings".into(), json!(scheme.settings()));
        for (view, between) in scheme.report().views.iter().zip(&self.flips_between) {
            let norm = view.norm;
            object.insert(
                view.name.clone(),
                json!({
                    "norm_before": norm.map(|norm| norm.before),
                    "norm_after": norm.map(|norm| norm.after),
                    "relative_norm": norm.map(|norm| norm.relative()),
                    "distance": norm.and_then(|norm| norm.distance),
                    "mass_added": view.mass.added,
                    "mass_removed": view.mass.removed,
                    "added_between_classes": between.added,
                    "removed_between_classes": between.removed,
                    "budget": view.budget,
                    "support": view.support,
                    "reason": view.reason,
                    "places": view.places,
                    "steps": view.steps,
                    "step_size": view.rate,
                    "seconds": view.seconds,
                }),
            );
        }
        object.insert("edges_between_classes".into(), json!(self.between));
        object.insert("notes".into(), json!(scheme.report().notes));
        object.insert("peak_bytes".into(), json!(peak_bytes));
        Value::Object(object)
    }

    /// A table for people.
    pub fn describe(&self, scheme: &Scheme, dataset: &Dataset, peak_bytes: Option<u64>) -> String {
        let mut table = Table::new(format!("{}: {} scheme", dataset.name, scheme.settings().name()));
        for (view, between) in scheme.report().views.iter().zip(&self.flips_between) {
            describe_view(&mut table, view, *between);
        }
        if let Some(between) = self.between {
            table.row("edges", format!("{} of them join different classes", percent(between)));
        }
        for note in &scheme.report().notes {
            table.row("note", note.clone());
        }
        let seconds: f64 = scheme.report().views.iter().map(|view| view.seconds).sum();
        let memory = peak_bytes.map_or(String::new(), |bytes| format!(", {:.0} MB at most", bytes as f64 / 1e6));
        table.row("took", format!("{}{memory}", duration(seconds)));
        table.to_string()
    }
}

fn describe_view(table: &mut Table, view: &ViewReport, between: Between) {
    let name = view.name.clone();
    if view.support == "none" {
        return table.row(name, "the graph itself");
    }
    let places = match (view.support.as_str(), &view.reason) {
        ("edges", None) => "edges only".to_owned(),
        ("edges", Some(reason)) => format!("edges only: {reason}"),
        ("all", None) => "all pairs".to_owned(),
        ("all", Some(reason)) => reason.clone(),
        ("candidates", reason) => {
            let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            format!("edges and candidates, {} pairs{reason}", count(view.places as usize))
        }
        (other, _) => format!("{other}, {}", count(view.places as usize)),
    };
    table.row(name, places);
    if let Some(norm) = view.norm {
        let factor = format!("{} → {}, {:.4} of it", figure(norm.before), figure(norm.after), norm.relative());
        let distance = norm.distance.map_or(String::new(), |distance| format!(", moved by {distance:.4}"));
        table.row("  norm", factor + &distance);
    }
    let share =
        |share: Option<f64>| share.map_or(String::new(), |share| format!(" ({} between classes)", percent(share)));
    table.row(
        "  expected",
        format!(
            "{} added{}, {} removed{}, budget {}",
            figure(view.mass.added),
            share(between.added.filter(|_| view.mass.added > 0.0)),
            figure(view.mass.removed),
            share(between.removed.filter(|_| view.mass.removed > 0.0)),
            figure(view.budget)
        ),
    );
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => format!("{:.1} ms", 1e3 * seconds),
        seconds if seconds < 100.0 => format!("{seconds:.2} s"),
        seconds => format!("{:.0} s", seconds),
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
