//! What a page says of an augmentation scheme: what it would change, how likely, and what that does to the spectrum.

use fiedler_augment::Result;
use fiedler_augment::scheme::{Scheme, SchemeSettings, ViewKey, ViewReport};
use fiedler_graph::{Dataset, GraphSet};
use fiedler_spectral::Operator;

use crate::changes::{self, Probabilities};
use crate::figure::Figure;
use crate::number::{count, figure};
use crate::page::{Fact, Section};
use crate::plot::{Axis, Baseline, Bin, Histogram, Line, Lines, Outline, Point};
use crate::spectra::Eigenvalues;
use crate::table::{Cell, Table};

/// A scheme in figures and pictures.
#[derive(Debug, Clone)]
pub struct SchemePage {
    /// Name of the scheme.
    pub name: String,
    /// What its computation reported of each view.
    pub views: Vec<ViewReport>,
    /// What else it reported.
    pub notes: Vec<String>,
    /// Where drawn views are not what the objective says.
    pub warnings: Vec<String>,
    /// How probabilities are distributed, for each view.
    pub probabilities: Vec<Probabilities>,
    /// Eigenvalues of a drawn view of each kind and, last, of the graph, where they can be compared.
    pub spectra: Vec<(String, Eigenvalues)>,
    /// The pairs most likely to change.
    pub likely: Table,
    /// Drawings of the graph with its probabilities, made elsewhere; they stand first.
    pub drawings: Vec<Figure>,
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
            warnings: scheme.report().warnings.clone(),
            probabilities: scheme.views().iter().map(|view| Probabilities::of(view, set)).collect(),
            spectra: spectra(scheme, set, seed)?,
            likely: changes::likely(scheme, set, operator(scheme.settings())),
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
                let name = format!("{}: {} / before", view.name, norm.of.name());
                section.facts.push(
                    Fact::new(name, Cell::number(norm.relative(), format!("{:.4}", norm.relative()))).noted(note),
                );
            }
            if let Some(drawn) = view.drawn_norm {
                let note = format!("{} ± {}, {} views", figure(drawn.mean), figure(drawn.std), drawn.views);
                let name = format!("{}: norm of drawn views / before", view.name);
                section.facts.push(
                    Fact::new(name, Cell::number(drawn.relative(), format!("{:.4}", drawn.relative()))).noted(note),
                );
            }
            if let Some(diversity) = view.diversity {
                let name = format!("{}: diversity", view.name);
                let note = "share of flips in which two draws differ".to_owned();
                section.facts.push(Fact::new(name, Cell::number(diversity, format!("{diversity:.3}"))).noted(note));
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
                    "View {}: {} {} may change; {} changes are expected, and {} are allowed.",
                    view.name,
                    count(view.places as usize),
                    match view.support.as_str() {
                        "nodes" => "nodes",
                        "edges" => "edges",
                        _ => "pairs of nodes",
                    },
                    figure(view.mass.added + view.mass.removed),
                    figure(view.budget)
                ),
            });
        }
        words.extend(self.warnings.iter().map(|warning| format!("Warning: {warning}.")));
        words.extend(self.notes.iter().cloned());
        words
    }

    fn probability_figures(&self) -> Vec<Figure> {
        type Counts = fn(&Probabilities) -> &Vec<Bin>;
        let kinds: [(&str, &str, &str, Counts); 3] = [
            ("removal", "removing an edge", "edges", |of| &of.removal),
            ("addition", "adding an edge", "pairs of nodes that are not joined", |of| &of.addition),
            ("dropping", "dropping a node", "nodes", |of| &of.dropping),
        ];
        let picture = |(name, what, things, counts): (&str, &str, &str, Counts)| {
            let outlines: Vec<Outline> = self
                .views
                .iter()
                .zip(&self.probabilities)
                .filter(|(_, of)| counts(of).iter().any(|bin| bin.count > 0.0))
                .map(|(view, of)| Outline { name: format!("view {}", view.name), bins: changes::trimmed(counts(of)) })
                .collect();
            let names: Vec<String> = outlines.iter().map(|outline| outline.name.clone()).collect();
            // Where all have the same probability, the words above say all there is to see.
            let differ = |outline: &Outline| outline.bins.iter().filter(|bin| bin.count > 0.0).count() > 1;
            outlines.iter().any(differ).then(|| Figure {
                name: format!("probabilities-{name}"),
                title: format!("How likely is {what}?"),
                caption: format!(
                    "How many {things} have which probability, {}. Those of probability zero are left out; {} logarithmic.",
                    in_words(&names),
                    if name == "addition" { "both axes are" } else { "the vertical axis is" }
                ),
                alternative: format!("Histogram of the probabilities of {what}, {}.", in_words(&names)),
                svg: Histogram {
                    x: match name {
                        "addition" => Axis::logarithmic(format!("probability of {what}")),
                        _ => Axis::linear(format!("probability of {what}")).including([0.0, 1.0]),
                    },
                    y: Axis::logarithmic(format!("number of {}", things.split(' ').next().unwrap_or(things))),
                    outlines,
                }
                .draw(),
            })
        };
        kinds.into_iter().filter_map(picture).collect()
    }

    fn spectrum_figures(&self) -> Vec<Figure> {
        let Some(((_, before), after)) = self.spectra.split_last() else { return Vec::new() };
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
        let x = || Axis::linear("place from the lowest (0) to the highest (1)").including([0.0, 1.0]);
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
                    lines: after.iter().map(moved).collect(),
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

/// The norm of the spectrum while a scheme is optimized.
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

/// The eigenvalues of a drawn view of each kind that changes anything and, last, of the graph.
fn spectra(scheme: &Scheme, set: &GraphSet, seed: u64) -> Result<Vec<(String, Eigenvalues)>> {
    let operator = operator(scheme.settings());
    let whole = set.whole();
    let mut spectra = Vec::new();
    for (view, report) in scheme.report().views.iter().enumerate().filter(|(_, report)| report.support != "none") {
        let drawn = scheme.draw(&whole, ViewKey::new(seed, 0, view as u32))?;
        // A propagation matrix is no graph whose Laplacian could be compared.
        if drawn.self_loop_weights.is_none() {
            spectra.push((format!("view {}", report.name), Eigenvalues::of(&drawn.graph, operator, seed)?));
        }
    }
    spectra.push(("the graph".to_owned(), Eigenvalues::of(&whole.graph, operator, seed)?));
    Ok(spectra)
}

fn operator(settings: &SchemeSettings) -> Operator {
    match settings {
        SchemeSettings::Opposite(spectral) | SchemeSettings::Single(spectral) | SchemeSettings::Double(spectral) => {
            spectral.operator
        }
        _ => Operator::default(),
    }
}
