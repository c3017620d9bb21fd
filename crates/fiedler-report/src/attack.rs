//! What a page says of an attack: where its flips fall, and what becomes of the graph.

use fiedler_graph::Graph;
use fiedler_spectral::{Operator, Result};

use crate::figure::Figure;
use crate::number::{count, percent, several};
use crate::page::{Fact, Section};
use crate::plot::{Axis, Bar, Bars, Histogram, Outline};
use crate::spectra::Eigenvalues;
use crate::table::{Cell, Table};

/// Bars of a spectrum.
const BINS: usize = 40;
/// Flips and suspects that a page lists.
const LISTED: usize = 100;

/// An attack in figures and pictures.
#[derive(Debug, Clone, Default)]
pub struct AttackPage {
    /// Name of the attack.
    pub attack: String,
    /// What it knew.
    pub knows: String,
    /// Flips that were allowed.
    pub budget: usize,
    /// The flips in their order.
    pub flips: Vec<FlipRow>,
    /// Accuracy of the surrogate before and after.
    pub surrogate: Option<(f64, f64)>,
    /// Eigenvalues before and after.
    pub spectra: Option<[Eigenvalues; 2]>,
    /// Flips that each view of the spectral scheme with the same budget makes of these, in expectation: its name, expected flips among
    /// them, and its budget.
    pub scheme: Vec<(String, f64, f64)>,
    /// Edges of the poisoned graph, the most suspicious first.
    pub suspects: Vec<SuspectRow>,
    /// Precision among as many suspects as were added, by features alone, and by chance.
    pub detection: Option<(f64, Option<f64>, f64)>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Seconds that it took.
    pub seconds: f64,
}

/// A flip, as a table has it.
#[derive(Debug, Clone, Default)]
pub struct FlipRow {
    /// Names of the two nodes.
    pub ends: [String; 2],
    /// Whether it was added.
    pub added: bool,
    /// What the attack expected of it.
    pub gain: Option<f64>,
    /// Whether the ends are of one class.
    pub same_class: Option<bool>,
    /// Parts of the split that the ends are in, the first in the order of train, validation, test; empty where in none.
    pub parts: [&'static str; 2],
    /// Degrees of the ends before the attack.
    pub degrees: [usize; 2],
}

/// A suspicious edge, as a table has it.
#[derive(Debug, Clone, Default)]
pub struct SuspectRow {
    /// Names of the two nodes.
    pub ends: [String; 2],
    /// Likeness of their features.
    pub similarity: Option<f64>,
    /// Likeness of the features of their neighborhoods.
    pub neighborhood_similarity: Option<f64>,
    /// What the spectrum loses without it.
    pub spectral_effect: f64,
    /// Suspicion from 0 to 1.
    pub score: f64,
    /// Whether the attack added it.
    pub added: bool,
}

impl AttackPage {
    /// The eigenvalues of the graph before and after.
    ///
    /// # Errors
    /// When they cannot be computed.
    pub fn spectra(before: &Graph, after: &Graph, seed: u64) -> Result<[Eigenvalues; 2]> {
        let of = |graph| Eigenvalues::of(graph, Operator::Laplacian, seed);
        Ok([of(before)?, of(after)?])
    }

    /// One sentence: what was done.
    pub fn lead(&self) -> String {
        let added = self.flips.iter().filter(|flip| flip.added).count();
        format!(
            "The attack {} made {} of {} allowed: {} edges added, {} removed. It knew {}.",
            self.attack,
            several(self.flips.len(), "flip"),
            count(self.budget),
            count(added),
            count(self.flips.len() - added),
            self.knows
        )
    }

    /// The sections: the flips, the spectrum, and what looks added.
    pub fn sections(&self) -> Vec<Section> {
        let mut flips = Section::new("flips", "Where the flips fall");
        flips.facts = self.facts();
        flips.words = self.words();
        flips.figures.extend(self.bars("flip-parts", "Flips by the split", "Which nodes flips join.", FlipRow::parts));
        flips.figures.extend(self.bars(
            "flip-classes",
            "Flips by classes",
            "Whether edges are added or removed, within a class or between two.",
            FlipRow::classes,
        ));
        flips.figures.extend(self.degree_figure());
        flips.tables.push(self.flip_table());
        let mut sections = vec![flips];
        sections.extend(self.spectrum_section());
        sections.extend(self.suspect_section());
        sections
    }

    fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![
            Fact::new("flips", Cell::count(self.flips.len())).noted(format!("of {} allowed", count(self.budget))),
            Fact::new("took", Cell::seconds(self.seconds)),
        ];
        if let Some((before, after)) = self.surrogate {
            let note = format!("{} on the clean graph", percent(before));
            facts.push(Fact::new("accuracy of a linear GCN", Cell::percent(after)).noted(note));
        }
        let at_training = self.flips.iter().filter(|flip| flip.parts.contains(&"train")).count();
        if !self.flips.is_empty() && self.flips.iter().any(|flip| flip.parts != ["", ""]) {
            let share = at_training as f64 / self.flips.len() as f64;
            facts.push(Fact::new("flips at a training node", Cell::percent(share)));
        }
        facts
    }

    fn words(&self) -> Vec<String> {
        let mut words = self.notes.clone();
        for (view, expected, budget) in &self.scheme {
            words.push(format!(
                "The view {view} of SPAN's opposite scheme, which changes {budget:.0} pairs in expectation, makes {expected:.1} of these \
                 flips in expectation."
            ));
        }
        words
    }

    /// How many flips are of which kind.
    fn bars(&self, name: &str, title: &str, caption: &str, kind: fn(&FlipRow) -> Option<String>) -> Option<Figure> {
        let mut kinds: Vec<(String, usize)> = Vec::new();
        for of in self.flips.iter().filter_map(kind) {
            match kinds.iter_mut().find(|(known, _)| *known == of) {
                Some((_, number)) => *number += 1,
                None => kinds.push((of, 1)),
            }
        }
        kinds.sort();
        let bar = |(name, number): &(String, usize)| Bar {
            name: name.clone(),
            value: *number as f64,
            deviation: None,
            label: count(*number),
            marked: false,
        };
        (!kinds.is_empty()).then(|| Figure {
            name: name.into(),
            title: title.into(),
            caption: caption.into(),
            alternative: format!("Bars: the number of flips of {}.", several(kinds.len(), "kind")),
            svg: Bars { x: Axis::linear("number of flips").of_whole_numbers(), bars: kinds.iter().map(bar).collect() }
                .draw(),
        })
    }

    fn degree_figure(&self) -> Option<Figure> {
        let degrees: Vec<usize> = self.flips.iter().flat_map(|flip| flip.degrees).collect();
        let most = *degrees.iter().max()?;
        // Ranges double in width, so that hubs and leaves both have room; each is named.
        let mut bars = Vec::new();
        let (mut from, mut width) = (0, 1);
        while from <= most {
            let last = from + width - 1;
            let number = degrees.iter().filter(|degree| (from..=last).contains(*degree)).count();
            let name = if from == last { count(from) } else { format!("{} to {}", count(from), count(last)) };
            bars.push(Bar { name, value: number as f64, deviation: None, label: count(number), marked: false });
            from += width;
            width = from;
        }
        Some(Figure {
            name: "flip-degrees".into(),
            title: "Neighbors of the nodes at flips".into(),
            caption:
                "Degrees before the attack, in ranges that double in width; a node counts once for each of its flips."
                    .into(),
            alternative: format!(
                "Bars: the number of ends of {} by ranges of their degree.",
                several(self.flips.len(), "flip")
            ),
            svg: Bars { x: Axis::linear("ends of flips").of_whole_numbers(), bars }.draw(),
        })
    }

    fn flip_table(&self) -> Table {
        let columns = ["step", "source", "target", "action", "gain", "same class", "source in", "target in"];
        let mut table = Table::new("flip-list", "The flips in their order", &columns);
        for (step, flip) in self.flips.iter().take(LISTED).enumerate() {
            table.push(vec![
                Cell::count(step),
                flip.ends[0].clone().into(),
                flip.ends[1].clone().into(),
                if flip.added { "add" } else { "remove" }.into(),
                flip.gain.map_or(Cell::default(), Cell::figure),
                flip.same_class.map_or("", |same| if same { "yes" } else { "no" }).into(),
                flip.parts[0].into(),
                flip.parts[1].into(),
            ]);
        }
        if self.flips.len() > LISTED {
            table.caption = format!("The first {LISTED} of {}; flips.csv has all.", count(self.flips.len()));
        }
        table.folded = true;
        table.without_empty_columns()
    }

    fn spectrum_section(&self) -> Option<Section> {
        let [before, after] = self.spectra.as_ref()?;
        let mut section = Section::new("spectrum", "The spectrum before and after");
        let outline = |name: &str, of: &Eigenvalues| Outline { name: name.into(), bins: of.bins(BINS) };
        section.figures.push(Figure {
            name: "attack-spectrum".into(),
            title: "Eigenvalues of the normalized Laplacian".into(),
            caption: "How many eigenvalues lie where, before the attack and after it.".into(),
            alternative: "Two histograms of eigenvalues from 0 to 2, one over the other.".into(),
            svg: Histogram {
                x: Axis::linear("eigenvalue"),
                y: Axis::linear("number of eigenvalues"),
                outlines: vec![outline("before", before), outline("after", after)],
            }
            .draw(),
        });
        Some(section)
    }

    fn suspect_section(&self) -> Option<Section> {
        if self.suspects.is_empty() {
            return None;
        }
        let mut section = Section::new("suspicious", "Edges that look added");
        section.words.push(
            "Edges whose ends have unlike features, and so have their neighbors; the most suspicious first.".to_owned(),
        );
        if let Some((precision, by_features, chance)) = self.detection {
            let note = format!("{} by chance", percent(chance));
            section.facts.push(Fact::new("additions among as many suspects", Cell::percent(precision)).noted(note));
            if let Some(share) = by_features {
                section.facts.push(Fact::new("the same by features alone", Cell::percent(share)));
            }
        }
        let columns = [
            "source",
            "target",
            "suspicion",
            "likeness of features",
            "of neighborhoods",
            "effect on the spectrum",
            "added",
        ];
        let mut table = Table::new("suspects", "The most suspicious edges", &columns);
        for suspect in self.suspects.iter().take(LISTED) {
            table.push(vec![
                suspect.ends[0].clone().into(),
                suspect.ends[1].clone().into(),
                Cell::figure(suspect.score),
                suspect.similarity.map_or(Cell::default(), Cell::figure),
                suspect.neighborhood_similarity.map_or(Cell::default(), Cell::figure),
                Cell::figure(suspect.spectral_effect),
                if suspect.added { "yes" } else { "no" }.into(),
            ]);
        }
        table.folded = true;
        section.tables.push(table.without_empty_columns());
        Some(section)
    }
}

impl FlipRow {
    fn parts(&self) -> Option<String> {
        let rank = |part: &&str| ["train", "validation", "test"].iter().position(|name| name == part).unwrap_or(3);
        let mut parts = self.parts;
        parts.sort_by_key(rank);
        let name = |part: &'static str| if part.is_empty() { "neither" } else { part };
        (self.parts != ["", ""]).then(|| format!("{} – {}", name(parts[0]), name(parts[1])))
    }

    fn classes(&self) -> Option<String> {
        let action = if self.added { "added" } else { "removed" };
        Some(format!("{action}, {}", if self.same_class? { "same class" } else { "different classes" }))
    }
}
