//! What a page says of an augmentation scheme: what it would change, how likely, and what that does to the spectrum.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fiedler_augment::objective::{Objective, full_spectrum};
use fiedler_augment::scheme::{Augmentation, Draw, Scheme, Settings, ViewReport};
use fiedler_augment::support::Pairs;
use fiedler_augment::{Result, kernel::PairKernel};
use fiedler_graph::{Dataset, GraphSet};
use fiedler_spectral::Operator;

use crate::figure::Figure;
use crate::number::{count, figure};
use crate::page::{Fact, Section};
use crate::plot::{Axis, Baseline, Bin, Histogram, Line, Lines, Outline, Point};
use crate::spectra::Eigenvalues;
use crate::table::{Cell, Table};

const BINS: usize = 20;
/// Pairs in the table of those most likely to change.
const MOST_LIKELY: usize = 20;

/// A scheme in figures and pictures.
#[derive(Debug, Clone)]
pub struct SchemePage {
    /// Name of the scheme.
    pub name: String,
    /// What its computation reported of each view.
    pub views: Vec<ViewReport>,
    /// What else it reported.
    pub notes: Vec<String>,
    /// How probabilities are distributed, for each view.
    pub probabilities: Vec<Probabilities>,
    /// Eigenvalues of the graph and of a drawn view of each kind, where they can be compared.
    pub spectra: Vec<(String, Eigenvalues)>,
    /// The pairs most likely to change.
    pub likely: Table,
    /// Drawings of the graph with its probabilities, made elsewhere; they stand first.
    pub drawings: Vec<Figure>,
}

/// How probabilities of one view are distributed over twenty bins from 0 to 1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Probabilities {
    /// Of removing an edge.
    pub removal: Vec<f64>,
    /// Of adding one.
    pub addition: Vec<f64>,
    /// Of dropping a node.
    pub dropping: Vec<f64>,
}

impl SchemePage {
    /// Measures a scheme of a dataset's graphs.
    ///
    /// # Errors
    /// When it belongs to other graphs, or eigenvalues cannot be computed.
    pub fn of(scheme: &Scheme, dataset: &Dataset, seed: u64) -> Result<SchemePage> {
        let set = &dataset.graphs;
        scheme.check(set)?;
        Ok(SchemePage {
            name: scheme.settings().name().into(),
            views: scheme.report().views.clone(),
            notes: scheme.report().notes.clone(),
            probabilities: scheme.views().iter().map(|view| probabilities(view, set)).collect(),
            spectra: spectra(scheme, set, seed)?,
            likely: likely(scheme, set),
            drawings: Vec::new(),
        })
    }

    /// The section of the scheme.
    pub fn section(&self) -> Section {
        let mut section = Section::new("scheme", format!("The {} scheme", self.name));
        section.words = self.words();
        for view in self.views.iter().filter(|view| view.support != "none") {
            if let Some(norm) = view.norm {
                let note = format!("from {} to {}", figure(norm.before), figure(norm.after));
                let name = format!("{}: norm after / before", view.name);
                section.facts.push(
                    Fact::new(name, Cell::number(norm.relative(), format!("{:.4}", norm.relative()))).noted(note),
                );
            }
            let changes = format!("{} added, {} removed", figure(view.mass.added), figure(view.mass.removed));
            let name = format!("{}: expected changes", view.name);
            section.facts.push(Fact::new(name, Cell::figure(view.mass.added + view.mass.removed)).noted(changes));
        }
        section.figures = self.drawings.clone();
        section.figures.extend(self.probability_figures());
        section.figures.extend(self.spectrum_figures());
        section.figures.extend(self.convergence_figure());
        section.tables.extend((!self.likely.rows.is_empty()).then(|| self.likely.clone()));
        section
    }

    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.name == "opposite" {
            words.push(
                "Two views of the graph are drawn for learning: one from probabilities that make the norm of its spectrum as large as \
                 a budget of changes allows, the other as small. What both have in common does not hang on edges that the spectrum \
                 is sensitive to."
                    .to_owned(),
            );
        }
        for view in &self.views {
            words.push(match view.support.as_str() {
                "none" => format!("View {}: the graph itself.", view.name),
                _ => format!(
                    "View {}: {} places may change, {} of them in expectation, of a budget of {}.",
                    view.name,
                    count(view.places as usize),
                    figure(view.mass.added + view.mass.removed),
                    figure(view.budget)
                ),
            });
        }
        words.extend(self.notes.iter().cloned());
        words
    }

    fn probability_figures(&self) -> Vec<Figure> {
        let kinds: [(&str, &str, &str, fn(&Probabilities) -> &Vec<f64>); 3] = [
            ("removal", "removing an edge", "edges", |of| &of.removal),
            ("addition", "adding an edge", "pairs of nodes that are not joined", |of| &of.addition),
            ("dropping", "dropping a node", "nodes", |of| &of.dropping),
        ];
        let picture = |(name, what, things, counts): (&str, &str, &str, fn(&Probabilities) -> &Vec<f64>)| {
            let outlines: Vec<Outline> = self
                .views
                .iter()
                .zip(&self.probabilities)
                .filter(|(_, of)| counts(of).iter().any(|&count| count > 0.0))
                .map(|(view, of)| Outline { name: format!("view {}", view.name), bins: unit_bins(counts(of)) })
                .collect();
            let names: Vec<String> = outlines.iter().map(|outline| outline.name.clone()).collect();
            (!outlines.is_empty()).then(|| Figure {
                name: format!("probabilities-{name}"),
                title: format!("How likely is {what}?"),
                caption: format!(
                    "How many {things} have which probability, {}. Those of probability zero are left out; the vertical axis is \
                     logarithmic.",
                    in_words(&names)
                ),
                alternative: format!("Histogram of the probabilities of {what}, {}.", in_words(&names)),
                svg: Histogram {
                    x: Axis::linear(format!("probability of {what}")),
                    y: Axis::logarithmic(format!("number of {}", things.split(' ').next().unwrap_or(things))),
                    outlines,
                }
                .draw(),
            })
        };
        kinds.into_iter().filter_map(picture).collect()
    }

    fn spectrum_figures(&self) -> Vec<Figure> {
        let Some(((_, before), after)) = self.spectra.split_first() else { return Vec::new() };
        if after.is_empty() {
            return Vec::new();
        }
        let how = if before.estimated { " Estimated." } else { "" };
        let line = |(name, eigenvalues): &(String, Eigenvalues)| Line {
            name: name.clone(),
            points: eigenvalues.curve().map(|(place, value)| Point::new(place, value)).collect(),
        };
        let moved = |(name, eigenvalues): &(String, Eigenvalues)| Line {
            name: name.clone(),
            points: before
                .curve()
                .zip(&eigenvalues.values)
                .map(|((place, old), new)| Point::new(place, new - old))
                .collect(),
        };
        let x = || Axis::linear("place from the lowest (0) to the highest (1)");
        vec![
            Figure {
                name: "spectrum-before-after".into(),
                title: "The spectrum before and after".into(),
                caption: format!(
                    "Eigenvalues in ascending order: of the graph, and of one drawn view of each kind.{how}"
                ),
                alternative:
                    "Lines of the eigenvalues in ascending order, of the graph and of a drawn view of each kind.".into(),
                svg: Lines {
                    lines: self.spectra.iter().map(line).collect(),
                    ..Lines::new(x(), Axis::linear("eigenvalue"))
                }
                .draw(),
            },
            Figure {
                name: "spectrum-change".into(),
                title: "How far each eigenvalue moves".into(),
                caption: format!("Eigenvalue of the view less that of the graph at the same place.{how}"),
                alternative: "Lines of the difference of eigenvalues after and before, by their place.".into(),
                svg: Lines {
                    lines: std::iter::once(Line { name: self.spectra[0].0.clone(), points: Vec::new() })
                        .chain(after.iter().map(moved))
                        .collect(),
                    baselines: vec![Baseline { name: "unchanged".into(), y: 0.0 }],
                    ..Lines::new(x(), Axis::linear("change of the eigenvalue"))
                }
                .draw(),
            },
        ]
    }

    fn convergence_figure(&self) -> Option<Figure> {
        let line = |view: &ViewReport| Line {
            name: format!("view {}", view.name),
            points: view.curve.iter().map(|point| Point::new(point.step as f64, point.relative_norm)).collect(),
        };
        let lines: Vec<Line> = self.views.iter().filter(|view| view.curve.len() > 1).map(line).collect();
        convergence("convergence", "Convergence", lines)
    }
}

/// The norm of the spectrum while a scheme is optimised.
pub(crate) fn convergence(name: &str, title: &str, lines: Vec<Line>) -> Option<Figure> {
    if lines.is_empty() {
        return None;
    }
    let ends: Vec<String> =
        lines.iter().filter_map(|line| Some(format!("{} ends at {:.4}", line.name, line.points.last()?.y))).collect();
    Some(Figure {
        name: name.into(),
        title: title.into(),
        caption: "The norm of the spectrum after each step, relative to that of the graph. Where the lines are flat, more steps would \
                  change nothing."
            .into(),
        alternative: format!("Lines of the relative norm by step: {}.", in_words(&ends)),
        svg: Lines {
            lines,
            baselines: vec![Baseline { name: "the graph".into(), y: 1.0 }],
            ..Lines::new(Axis::linear("step").of_whole_numbers(), Axis::linear("norm, relative to the graph's"))
        }
        .draw(),
    })
}

fn in_words(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn unit_bins(counts: &[f64]) -> Vec<Bin> {
    let width = 1.0 / counts.len() as f64;
    let bin = |(at, &count): (usize, &f64)| Bin { from: at as f64 * width, to: (at + 1) as f64 * width, count };
    counts.iter().enumerate().map(bin).collect()
}

fn add(counts: &mut [f64], probability: f32, times: f64) {
    if probability > 0.0 {
        counts[((probability * BINS as f32) as usize).min(BINS - 1)] += times;
    }
}

fn probabilities(view: &Augmentation, set: &GraphSet) -> Probabilities {
    let none = || vec![0.0; BINS];
    let (mut removal, mut addition, mut dropping) = (none(), none(), none());
    match view {
        Augmentation::Pairs(pairs) => {
            for (graph, flips) in pairs.graphs().iter().enumerate() {
                flips.visit_in(set.arena(), set.node_range(graph).start, |_, edge, probability| {
                    add(if edge { &mut removal } else { &mut addition }, probability, 1.0);
                });
            }
        }
        Augmentation::Nodes(nodes) => {
            nodes.of_nodes().iter().for_each(|&probability| add(&mut dropping, probability, 1.0))
        }
        Augmentation::Uniform(rates) => {
            add(&mut removal, rates.remove as f32, set.edges() as f64);
            let nodes = (0..set.len()).map(|graph| set.node_range(graph).len() as f64);
            let free = nodes.map(|nodes| nodes * (nodes - 1.0) / 2.0).sum::<f64>() - set.edges() as f64;
            let each = if free > 0.0 { (rates.add * set.edges() as f64 / free).min(1.0) } else { 0.0 };
            add(&mut addition, each as f32, free);
        }
        Augmentation::Unchanged | Augmentation::Fixed(_) | Augmentation::Kept(_) => {}
    }
    Probabilities { removal, addition, dropping }
}

/// The eigenvalues of the graph and of a drawn view of each kind that changes anything.
fn spectra(scheme: &Scheme, set: &GraphSet, seed: u64) -> Result<Vec<(String, Eigenvalues)>> {
    let operator = operator(scheme.settings());
    let whole = set.whole();
    let mut spectra = vec![("the graph".to_owned(), Eigenvalues::of(&whole.graph, operator, seed)?)];
    for (view, report) in scheme.report().views.iter().enumerate().filter(|(_, report)| report.support != "none") {
        let drawn = scheme.draw(&whole, Draw { seed, epoch: 0, view })?;
        // A propagation matrix is no graph whose Laplacian could be compared.
        if drawn.own_weights.is_none() {
            spectra.push((format!("view {}", report.name), Eigenvalues::of(&drawn.graph, operator, seed)?));
        }
    }
    Ok(spectra)
}

fn operator(settings: &Settings) -> Operator {
    match settings {
        Settings::Opposite(spectral) | Settings::Single(spectral) | Settings::Double(spectral) => spectral.operator,
        _ => Operator::default(),
    }
}

/// The pairs most likely to change in either view, with what one change does to the norm to first order.
fn likely(scheme: &Scheme, set: &GraphSet) -> Table {
    let of_pairs: Vec<(&ViewReport, &Augmentation)> = scheme
        .report()
        .views
        .iter()
        .zip(scheme.views())
        .filter(|(_, view)| matches!(view, Augmentation::Pairs(_)))
        .collect();
    let mut table = Table::new(
        "likely-changes",
        "The likeliest changes",
        &["view", "change", "between", "and", "probability", "effect on the norm"],
    );
    table.caption =
        "The effect is that of this change alone, to first order, relative to the norm of the spectrum.".into();
    table.folded = true;
    if of_pairs.is_empty() {
        return table;
    }
    let evaluation = full_spectrum(&Pairs::new(set.arena(), &[]), operator(scheme.settings()), Objective::Expected);
    for (report, view) in of_pairs {
        for ((low, high), probability) in most_likely(view, set) {
            let edge = set.arena().has_edge(low, high);
            let effect = effect(&evaluation.kernel, evaluation.squared_norm, (low, high), edge);
            let [a, b] = [low, high].map(|node| name(set, node));
            table.push(vec![
                report.name.clone().into(),
                if edge { "remove" } else { "add" }.into(),
                a.into(),
                b.into(),
                Cell::number(probability.into(), format!("{probability:.3}")),
                Cell::number(effect, format!("{:+.3} %", 100.0 * effect)),
            ]);
        }
    }
    table
}

/// What flipping a pair does to the norm to first order, relative to the norm.
fn effect(kernel: &PairKernel, squared_norm: f64, (low, high): (u32, u32), edge: bool) -> f64 {
    let (weight, change) = if edge { (1.0, -1.0) } else { (0.0, 1.0) };
    change * kernel.at(low as usize, high as usize, weight) / (2.0 * squared_norm)
}

fn name(set: &GraphSet, node: u32) -> String {
    match set.len() {
        1 => set.arena().name(node),
        _ => {
            let graph = set.graph_of(node);
            format!("{} of graph {graph}", node - set.node_range(graph).start)
        }
    }
}

/// The likeliest pairs of a view, by the arena's ids.
fn most_likely(view: &Augmentation, set: &GraphSet) -> Vec<((u32, u32), f32)> {
    let Augmentation::Pairs(pairs) = view else { return Vec::new() };
    // Probabilities are not negative, so that their bits are in the order of their values.
    let mut best = BinaryHeap::new();
    for (graph, flips) in pairs.graphs().iter().enumerate() {
        let first = set.node_range(graph).start;
        flips.visit(|(low, high), probability| {
            let entry = Reverse((probability.to_bits(), Reverse((low + first, high + first))));
            if best.len() < MOST_LIKELY {
                best.push(entry);
            } else if best.peek().is_some_and(|least| entry < *least) {
                best.pop();
                best.push(entry);
            }
        });
    }
    let mut pairs: Vec<_> =
        best.into_iter().map(|Reverse((bits, Reverse(pair)))| (pair, f32::from_bits(bits))).collect();
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    pairs
}
