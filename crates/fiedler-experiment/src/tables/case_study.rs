//! Figures 7 and 8: which pairs a scheme changes in a random geometric graph and in molecules, drawn and counted.
//!
//! Nothing is trained. The paper says of its pictures that pushing the norm up removes edges between clusters, and pushing it down adds
//! some there; that both changes go to pairs that join a nitro group to the rest of a molecule. Here pictures come with the numbers
//! that tell, over many graphs.

mod parts;
mod tally;

use std::io::Write;
use std::path::{Path, PathBuf};

use fiedler_augment::scheme::{Scheme, SchemeSettings, Spectral};
use fiedler_graph::{Dataset, Graph, Observer, generate};
use fiedler_io::AtomicFiles;
use fiedler_report::drawing::{Effects, Subject, drawings};

use super::kind::TableSpec;
use super::{TableKind, data};
use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use crate::open::open_observed;
use crate::run::RunLock;
use crate::scheme_store::compute_scheme;
use fiedler_io::ReadOptions;
use parts::Parts;
use serde::Serialize;
use tally::{Row, Tally};

/// The paper does not say how large its random geometric graph is; with clusters, what lies between them is not a matter of opinion.
/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Case study",
    unit: "share of probability in %",
    datasets: &["geometric:nodes=60,radius=0.2,clusters=3,spread=0.13", "mutag"],
    ..TableSpec::USUAL
};

/// Graphs of a set that are drawn.
const DRAWN: usize = 3;
/// Graphs of a set that are counted.
const COUNTED: usize = 500;
/// Eigenvalues of each end that count, beside all of them: the paper's text has few, its program all.
const ENDS: [Option<usize>; 2] = [None, Some(5)];

/// A study of what a scheme changes.
pub struct CaseStudy<'a> {
    /// Names, paths or generators; without, those of the paper.
    pub datasets: Vec<String>,
    /// The first seed of graphs that are made.
    pub seed: u64,
    /// How many are made.
    pub seeds: usize,
    /// Folder for pictures and tables.
    pub out: &'a Path,
}

/// What a study found.
#[derive(Debug, Serialize)]
pub struct StudyResult {
    rows: Vec<Row>,
    /// What was written.
    pub files: Vec<PathBuf>,
}

impl StudyResult {
    /// The table for the eye.
    pub fn text(&self) -> String {
        tally::text(&self.rows)
    }
}

impl CaseStudy<'_> {
    /// Draws and counts.
    ///
    /// # Errors
    /// When another process works in the folder, none of the datasets is there, files cannot be written, or the observer asks to stop.
    pub fn run(&self, observer: &dyn Observer) -> Result<StudyResult> {
        let lock = RunLock::make(self.out)?;
        let observer: &dyn Observer = &lock.refreshing(observer);
        let mut files = Vec::new();
        let mut rows = Vec::new();
        for name in &TableKind::CaseStudy.names(&self.datasets, false) {
            if let Some(hint) = data::hint_where_missing(name) {
                observer.note(&format!("left out: {name}{hint}"));
                continue;
            }
            for ends in ENDS {
                let mut tally = Tally::new(ends);
                for (at, seed) in self.seeds_of(name).enumerate() {
                    let dataset = open_observed(name, &ReadOptions::default(), seed, observer)?;
                    let scheme = compute_scheme(&settings(ends), &dataset.graphs, observer)?;
                    if at == 0 && ends.is_none() {
                        files.extend(self.draw(&dataset, &scheme)?);
                    }
                    count(&dataset, &scheme, &mut tally)?;
                }
                rows.extend(tally.rows(name));
            }
        }
        if files.is_empty() {
            let hint = "set FIEDLER_DATA to the folder that has them, or see `fiedler data fetch --help`".to_owned();
            return Err(Error::new(ErrorKind::NotFound, "none of the datasets is there", hint));
        }
        files.push(self.write_table(&rows)?);
        for file in &files {
            observer.note(&format!("wrote {}", file.display()));
        }
        Ok(StudyResult { rows, files })
    }

    /// A generator makes another graph for each seed, unless it is told which.
    fn seeds_of(&self, name: &str) -> std::ops::Range<u64> {
        let many = generate::is_spec(name) && !name.contains("seed=");
        self.seed..self.seed + if many { self.seeds as u64 } else { 1 }
    }

    fn draw(&self, dataset: &Dataset, scheme: &Scheme) -> Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        for place in parts::of_interest(dataset).into_iter().take(DRAWN) {
            let graph = dataset.graphs.graph(place);
            let subject = Subject { original: true, ..Subject::of(dataset, place, &graph, scheme) };
            let around = (!subject.fits()).then(|| likeliest_to_lose(&subject));
            let name = match dataset.graphs.len() {
                1 => format!("case-study-{}", plain(&dataset.name)),
                _ => format!("case-study-{}-{place}", plain(&dataset.name)),
            };
            let mut targets = AtomicFiles::new(true);
            for figure in drawings(&subject, around)? {
                let mut pictures = vec![("svg", figure.to_svg_file().into_bytes())];
                if cfg!(feature = "png") {
                    pictures.push(("png", figure.to_png()?));
                }
                for (ending, bytes) in pictures {
                    let path = self.out.join(format!("{name}.{ending}"));
                    targets.write(&path, |file| file.write_all(&bytes))?;
                    written.push(path);
                }
            }
            let path = self.out.join(format!("{name}-pairs.csv"));
            let parts = Parts::of(dataset, place, &graph)?;
            targets.write(&path, |file| write_pairs(&subject, &parts, file))?;
            targets.finish()?;
            written.push(path);
        }
        Ok(written)
    }

    fn write_table(&self, rows: &[Row]) -> Result<PathBuf> {
        let path = self.out.join("case-study.csv");
        let mut targets = AtomicFiles::new(true);
        targets.write(&path, |file| {
            let mut table = csv::Writer::from_writer(file);
            rows.iter().try_for_each(|row| table.serialize(row))?;
            table.flush()
        })?;
        targets.finish()?;
        Ok(path)
    }
}

/// As the paper's text has it: the Laplacian, three flips in ten edges.
fn settings(ends: Option<usize>) -> SchemeSettings {
    SchemeSettings::Opposite(Spectral { k: ends, ..Spectral::default() })
}

fn count(dataset: &Dataset, scheme: &Scheme, tally: &mut Tally) -> Result<()> {
    for place in parts::of_interest(dataset).into_iter().take(COUNTED) {
        let graph = dataset.graphs.graph(place);
        let parts = Parts::of(dataset, place, &graph)?;
        tally.add(&Subject::of(dataset, place, &graph, scheme), &parts);
    }
    Ok(())
}

/// Of a graph that is too large to draw, the node whose edge is likeliest to go, and that has most edges.
fn likeliest_to_lose(subject: &Subject<'_>) -> u32 {
    let graph: &Graph = subject.graph;
    let likelihood = |&(a, b): &(u32, u32)| subject.views.first().map_or(0.0, |view| view.probability(graph, a, b));
    let degrees = |&(a, b): &(u32, u32)| graph.degree(a) + graph.degree(b);
    let order = |x: &(u32, u32), y: &(u32, u32)| {
        likelihood(x).total_cmp(&likelihood(y)).then(degrees(x).cmp(&degrees(y))).then(y.cmp(x))
    };
    let (a, b) = graph.edge_pairs().max_by(order).unwrap_or_default();
    if graph.degree(a) >= graph.degree(b) { a } else { b }
}

/// Every edge, and every other pair that some view may add, with probabilities and effect.
fn write_pairs(subject: &Subject<'_>, parts: &Parts, file: &mut impl Write) -> std::io::Result<()> {
    let effects = Effects::of(subject.graph, subject.operator);
    let mut table = csv::Writer::from_writer(file);
    let mut header = ["source", "target", "edge", "between_parts", "norm_change"].map(str::to_owned).to_vec();
    header.extend(subject.views.iter().map(|view| format!("probability_{}", view.name)));
    table.write_record(&header)?;
    for (a, b) in tally::pairs_of(subject) {
        let edge = subject.graph.has_edge(a, b);
        let probabilities: Vec<f64> = subject.views.iter().map(|view| view.probability(subject.graph, a, b)).collect();
        if !edge && probabilities.iter().all(|&probability| probability == 0.0) {
            continue;
        }
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let mut row = vec![subject.graph.name(a), subject.graph.name(b), yes(edge), yes(parts.differ(a, b))];
        row.push(format!("{:.6e}", effects.of_flip(a, b)));
        row.extend(probabilities.iter().map(|probability| format!("{probability:.6}")));
        table.write_record(&row)?;
    }
    table.flush()
}

/// A dataset's name as part of a file's.
fn plain(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    name.chars().map(letter).collect()
}
