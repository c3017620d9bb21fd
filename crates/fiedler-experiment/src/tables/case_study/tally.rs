//! How much of a scheme's probability lies on pairs between parts, against how many such pairs there are.

use std::fmt::Write;

use fiedler_evaluate::mean_and_deviation;
use fiedler_report::drawing::Subject;
use serde::Serialize;

use super::parts::Parts;

/// Graphs with more nodes than this are counted by their edges only.
const ALL_PAIRS_BELOW: usize = 5000;
/// A difference is one when it is as many standard errors away from none.
const STANDARD_ERRORS: f64 = 2.0;

/// What the paper says of both views.
const CLAIMS: [(&str, bool); 2] = [("max", true), ("min", false)];

/// Graph after graph of one kind, for one scheme.
pub struct Tally {
    ends: Option<usize>,
    /// For each claim and graph: percentages between parts, of the probability and of the pairs.
    shares: [Vec<(f64, f64)>; 2],
}

/// A line of the table.
#[derive(Debug, Serialize)]
pub struct Row {
    dataset: String,
    /// How many eigenvalues count: `all`, or so many of each end.
    eigenvalues: String,
    /// What is done by which view.
    change: String,
    graphs: usize,
    /// Mean percentage, over graphs, of the probability of such changes that lies on pairs between parts.
    of_probability: f64,
    /// Mean percentage of pairs that lie there: what a scheme has which treats all pairs alike.
    of_pairs: f64,
    /// Mean difference of the two, and its standard error where there are several graphs.
    difference: f64,
    standard_error: Option<f64>,
    found: String,
}

impl Tally {
    pub fn new(ends: Option<usize>) -> Tally {
        Tally { ends, shares: [Vec::new(), Vec::new()] }
    }

    pub fn add(&mut self, subject: &Subject<'_>, parts: &Parts) {
        for ((name, edges), shares) in CLAIMS.into_iter().zip(&mut self.shares) {
            let Some(view) = subject.views.iter().find(|view| view.name == name) else { continue };
            let (mut pairs, mut pairs_between, mut all, mut between) = (0.0, 0.0, 0.0, 0.0);
            for (a, b) in pairs_of(subject).filter(|&(a, b)| subject.graph.has_edge(a, b) == edges) {
                let probability = view.probability(subject.graph, a, b);
                pairs += 1.0;
                all += probability;
                if parts.differ(a, b) {
                    pairs_between += 1.0;
                    between += probability;
                }
            }
            // Where nothing changes, or nothing could lie between, there is nothing to compare.
            if all > 0.0 && pairs_between > 0.0 {
                shares.push((100.0 * between / all, 100.0 * pairs_between / pairs));
            }
        }
    }

    pub fn rows(&self, dataset: &str) -> Vec<Row> {
        let row = |((name, edges), shares): ((&str, bool), &Vec<(f64, f64)>)| {
            let differences: Vec<f64> = shares.iter().map(|(probability, pairs)| probability - pairs).collect();
            let graphs = shares.len();
            let mean = |of: &dyn Fn(&(f64, f64)) -> f64| shares.iter().map(of).sum::<f64>() / graphs as f64;
            let (difference, deviation) = mean_and_deviation(&differences);
            let standard_error = (graphs > 1).then(|| deviation / (graphs as f64).sqrt());
            Row {
                dataset: dataset.into(),
                eigenvalues: self.ends.map_or("all".into(), |ends| format!("{ends} of each end")),
                change: format!("{name} {}", if edges { "removes" } else { "adds" }),
                graphs,
                of_probability: mean(&|share| share.0),
                of_pairs: mean(&|share| share.1),
                difference,
                standard_error,
                found: verdict(difference, standard_error).into(),
            }
        };
        CLAIMS.into_iter().zip(&self.shares).filter(|(_, shares)| !shares.is_empty()).map(row).collect()
    }
}

fn verdict(difference: f64, standard_error: Option<f64>) -> &'static str {
    match standard_error {
        None => "one graph only",
        Some(error) if difference > STANDARD_ERRORS * error => "more between parts, as the paper says",
        Some(error) if difference < -STANDARD_ERRORS * error => "less between parts, unlike the paper",
        Some(_) => "no clear difference",
    }
}

/// All pairs of a graph's nodes, or its edges where that would be too many.
pub fn pairs_of<'a>(subject: &Subject<'a>) -> Box<dyn Iterator<Item = (u32, u32)> + 'a> {
    let nodes = subject.graph.num_nodes();
    if nodes > ALL_PAIRS_BELOW {
        return Box::new(subject.graph.edge_pairs());
    }
    let nodes = nodes as u32;
    Box::new((0..nodes).flat_map(move |a| (a + 1..nodes).map(move |b| (a, b))))
}

/// The table for the eye, with what it is about.
pub fn text(rows: &[Row]) -> String {
    let mut text =
        String::from("Changes between parts of a graph (clusters; of molecules, a nitro group and the rest), in %\n\n");
    let mut last = "";
    for row in rows {
        if row.dataset != last {
            let _ = writeln!(text, "{}", row.dataset);
            last = &row.dataset;
        }
        let error = row.standard_error.map_or(String::new(), |error| format!(" ± {error:.1}"));
        let _ = writeln!(
            text,
            "  {:13}  {:11}  {:5.1} of the probability, {:5.1} of the pairs, {:>13} over {:3} graphs: {}",
            row.eigenvalues,
            row.change,
            row.of_probability,
            row.of_pairs,
            format!("{:+.1}{error}", row.difference),
            row.graphs,
            row.found,
        );
    }
    text.push_str(
        "\nThe first column says how many eigenvalues the norm counts. A scheme that treats all pairs alike has a difference of 0;\n\
         after ± one standard error. The paper says that pushing the norm up removes edges between clusters (max removes), and\n\
         pushing it down adds edges there (min adds).\n",
    );
    text
}
