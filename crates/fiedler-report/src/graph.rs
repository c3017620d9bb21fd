//! What a page says of a graph or a set of graphs.

use fiedler_graph::measure::{self, Summary};
use fiedler_graph::{Dataset, Labels};
use fiedler_spectral::properties::{self, Summary as Spectrum, SummarySettings};
use fiedler_spectral::{DensitySettings, Operator, Result};

use crate::connectivity;
use crate::figure::Figure;
use crate::number::{count, figure, percent, several};
use crate::page::{Fact, Section};
use crate::plot::{Axis, Bar, Bars, Bin, Histogram, Outline};
use crate::spectra::{Eigenvalues, WHOLE_UP_TO};
use crate::table::Cell;

/// Larger graphs have no single eigenvalues computed: their density is told, which takes seconds.
const SOLVED_UP_TO: usize = 20_000;
const SOLVED_EDGES: usize = 200_000;
/// Classes that a picture has room for.
const MOST_CLASSES: usize = 20;

/// A graph, or a set of graphs, in figures and pictures.
#[derive(Debug, Clone)]
pub struct GraphPage {
    /// Sizes, connectedness, features, classes.
    pub summary: Summary,
    /// What the spectrum tells, of one graph that is not too large.
    pub spectrum: Option<Spectrum>,
    /// The eigenvalues; of several graphs, of all together.
    pub eigenvalues: Option<Eigenvalues>,
    /// The degree of every node.
    pub degrees: Vec<usize>,
    /// Nodes and edges of every graph, where there are several.
    pub sizes: Vec<(usize, usize)>,
    /// Drawings of the graph, made elsewhere; they stand first.
    pub drawings: Vec<Figure>,
}

impl GraphPage {
    /// Measures a dataset. What takes long on large graphs is left out where `quick`.
    ///
    /// # Errors
    /// When eigenvalues do not converge.
    pub fn of(dataset: &Dataset, seed: u64, quick: bool) -> Result<GraphPage> {
        let (set, arena) = (&dataset.graphs, dataset.graphs.block_diagonal());
        let nodes = arena.num_nodes();
        let few = nodes <= SOLVED_UP_TO && arena.num_edges() <= SOLVED_EDGES;
        let spectrum = match dataset.graph() {
            Some(graph) if nodes > 1 && few && (!quick || nodes <= WHOLE_UP_TO) => {
                // The default is exact; a page needs the digits it shows.
                let large = nodes > WHOLE_UP_TO;
                let settings = SummarySettings {
                    pairs: if large { 10 } else { 20 },
                    tolerance: if large { 1e-3 } else { 1e-6 },
                    searches: if large { 100 } else { 5_000 },
                    density: DensitySettings { moments: 20, probes: 1, seed },
                    seed,
                    ..Default::default()
                };
                Some(properties::summarize(graph, &settings)?)
            }
            _ => None,
        };
        let eigenvalues = (nodes > 1 && (!quick || few)).then(|| Eigenvalues::of(arena, Operator::Laplacian, seed));
        Ok(GraphPage {
            summary: measure::summarize(dataset),
            spectrum,
            eigenvalues: eigenvalues.transpose()?,
            degrees: (0..nodes as u32).map(|node| arena.degree(node)).collect(),
            sizes: match set.len() {
                1 => Vec::new(),
                graphs => (0..graphs).map(|graph| (set.node_range(graph).len(), set.graph_edges(graph))).collect(),
            },
            drawings: Vec::new(),
        })
    }

    /// One sentence: what it is and how large.
    pub fn lead(&self) -> String {
        let summary = &self.summary;
        let size = format!("{} and {}", several(summary.nodes, "node"), several(summary.edges, "edge"));
        let classes = summary.classes.map_or(String::new(), |classes| {
            format!(", {} of {} classes", summary.labels_of.unwrap_or("nodes"), count(classes))
        });
        match summary.graphs {
            1 => format!("One graph of {size}{classes}."),
            graphs => format!("{} graphs with {size} in all{classes}.", count(graphs)),
        }
    }

    /// The sections: the graph itself, and what its spectrum tells.
    pub fn sections(&self) -> Vec<Section> {
        let mut first = Section::new("graph", if self.summary.graphs == 1 { "The graph" } else { "The graphs" });
        first.facts = self.facts();
        first.words = self.words();
        first.figures = self.drawings.clone();
        first.figures.extend(self.degree_figure());
        first.figures.extend(self.size_figures());
        first.figures.extend(self.class_figure());
        let mut sections = vec![first];
        sections.extend(self.spectrum_section());
        sections
    }

    fn facts(&self) -> Vec<Fact> {
        let summary = &self.summary;
        let mut facts = Vec::new();
        if summary.graphs > 1 {
            facts.push(Fact::new("graphs", Cell::count(summary.graphs)));
        }
        let each = |mean: Option<f64>| mean.map_or(String::new(), |mean| format!("{} a graph", figure(mean)));
        facts.push(Fact::new("nodes", Cell::count(summary.nodes)).noted(each(summary.mean_nodes)));
        facts.push(Fact::new("edges", Cell::count(summary.edges)).noted(each(summary.mean_edges)));
        if let Some(degree) = &summary.degree {
            let note = format!("{} to {}, median {}", degree.min, count(degree.max), degree.median);
            facts.push(Fact::new("neighbors of a node", Cell::figure(degree.mean)).noted(note));
        }
        let isolated = match summary.isolated {
            0 => String::new(),
            isolated => several(isolated, "isolated node"),
        };
        facts.push(Fact::new("connected parts", Cell::count(summary.components)).noted(isolated));
        if let Some(clustering) = summary.clustering {
            facts.push(Fact::new("clustering", Cell::figure(clustering)).noted("how often neighbors are neighbors"));
        }
        if let Some(columns) = summary.features {
            facts.push(Fact::new("features of a node", Cell::count(columns)).noted(summary.feature_kind.unwrap_or("")));
        }
        if let Some(classes) = summary.classes {
            facts.push(Fact::new("classes", Cell::count(classes)));
        }
        if let Some(homophily) = summary.homophily {
            facts.push(Fact::new("homophily", Cell::percent(homophily)).noted("edges within a class"));
        }
        facts
    }

    fn words(&self) -> Vec<String> {
        let summary = &self.summary;
        let mut words = Vec::new();
        match (summary.graphs, &self.spectrum) {
            (1, _) if summary.components == 1 => words.push("Every node can be reached from every other.".to_owned()),
            (1, Some(spectrum)) => words.push(format!(
                "The graph falls into {} parts; the largest has {} of the {} nodes ({}).",
                count(summary.components),
                count(spectrum.largest_component),
                count(summary.nodes),
                percent(spectrum.largest_component as f64 / summary.nodes.max(1) as f64)
            )),
            (1, None) => words.push(format!("The graph falls into {} parts.", count(summary.components))),
            _ => {}
        }
        if let Some(clustering) = summary.clustering.filter(|_| summary.graphs == 1) {
            let chance = summary.density.unwrap_or(0.0);
            words.push(format!(
                "Two neighbors of a node are neighbors of each other in {} of cases; of any two nodes, {} are.",
                percent(clustering),
                percent(chance)
            ));
        }
        if let Some(homophily) = summary.homophily {
            words.push(format!("{} of the edges join nodes of the same class.", percent(homophily)));
        }
        words
    }

    fn degree_figure(&self) -> Option<Figure> {
        let most = *self.degrees.iter().max()?;
        let few = most <= 40;
        let bins = degree_bins(&self.degrees, few);
        let x = if few { Axis::linear("number of neighbors") } else { Axis::logarithmic("number of neighbors") };
        let y = if few { Axis::linear("number of nodes") } else { Axis::logarithmic("number of nodes") };
        let isolated = self.degrees.iter().filter(|&&degree| degree == 0).count();
        let left_out = match (few, isolated) {
            (false, 1..) => format!(" Not shown: {} without any.", several(isolated, "node")),
            _ => String::new(),
        };
        let scale = if few { "" } else { " Both axes are logarithmic: a step along them is a factor." };
        Some(Figure {
            name: "degrees".into(),
            title: "How many neighbors nodes have".into(),
            caption: format!(
                "Most nodes have few neighbors and a few have many where the bars fall slowly to the right.{scale}{left_out}"
            ),
            alternative: format!(
                "Histogram of the number of neighbors of {}, from {} to {}.",
                several(self.degrees.len(), "node"),
                self.degrees.iter().min().unwrap_or(&0),
                count(most)
            ),
            svg: Histogram {
                x: x.of_whole_numbers(),
                y: y.of_whole_numbers(),
                outlines: vec![Outline { name: "nodes".into(), bins }],
            }
            .draw(),
        })
    }

    fn size_figures(&self) -> Vec<Figure> {
        let picture = |name: &str, thing: &str, values: Vec<usize>| {
            let (low, high) = (*values.iter().min()?, *values.iter().max()?);
            let bins = even_bins(&values, low, high);
            Some(Figure {
                name: name.into(),
                title: format!("How many {thing} graphs have"),
                caption: format!("From {} to {} {thing}.", count(low), count(high)),
                alternative: format!("Histogram of the number of {thing} of {}.", several(values.len(), "graph")),
                svg: Histogram {
                    x: Axis::linear(format!("number of {thing}")).of_whole_numbers(),
                    y: Axis::linear("number of graphs").of_whole_numbers(),
                    outlines: vec![Outline { name: "graphs".into(), bins }],
                }
                .draw(),
            })
        };
        let nodes = picture("graph-nodes", "nodes", self.sizes.iter().map(|size| size.0).collect());
        let edges = picture("graph-edges", "edges", self.sizes.iter().map(|size| size.1).collect());
        nodes.into_iter().chain(edges).collect()
    }

    fn class_figure(&self) -> Option<Figure> {
        let (names, counts) = (self.summary.class_names.as_ref()?, self.summary.class_counts.as_ref()?);
        let of = self.summary.labels_of.unwrap_or("nodes");
        if names.len() > MOST_CLASSES || names.is_empty() {
            return None;
        }
        let bars = names.iter().zip(counts).map(|(name, &size)| Bar {
            name: name.clone(),
            value: size as f64,
            deviation: None,
            label: count(size),
            marked: false,
        });
        Some(Figure {
            name: "classes".into(),
            title: "Classes".into(),
            caption: format!("How many {of} belong to each class."),
            alternative: format!(
                "Bars: the number of {of} in each of {}.",
                several(names.len(), "class").replace("classs", "classes")
            ),
            svg: Bars { x: Axis::linear(format!("number of {of}")).of_whole_numbers(), bars: bars.collect() }.draw(),
        })
    }

    fn spectrum_section(&self) -> Option<Section> {
        let eigenvalues = self.eigenvalues.as_ref()?;
        let mut section = Section::new("spectrum", "What the spectrum tells");
        if let Some(spectrum) = &self.spectrum {
            section.facts = connectivity::facts(spectrum);
            section.words = connectivity::words(spectrum);
        } else {
            section.words.push(
                "The normalized Laplacian of a graph has as many eigenvalues as there are nodes, all between 0 and 2. Many near 0 \
                 mean parts that hardly hold together; the more they gather around 1, the more the graph is like a random one."
                    .to_owned(),
            );
        }
        section.figures.push(connectivity::density_figure(eigenvalues));
        section.figures.push(connectivity::order_figure(eigenvalues));
        if let Some(spectrum) = &self.spectrum {
            section.figures.extend(connectivity::lowest_figure(spectrum));
        }
        Some(section)
    }
}

/// The names of the classes and the class of every item, of nodes of one graph or of graphs.
pub fn classes(dataset: &Dataset) -> Option<&fiedler_graph::Classes> {
    match (dataset.graphs.len(), &dataset.node_labels, &dataset.graph_labels) {
        (1, Some(Labels::Classes(classes)), _) => Some(classes),
        (2.., _, Some(Labels::Classes(classes))) => Some(classes),
        _ => None,
    }
}

/// A bar for each degree, or bars that double in width.
fn degree_bins(degrees: &[usize], few: bool) -> Vec<Bin> {
    let most = degrees.iter().copied().max().unwrap_or(0);
    let mut counts = vec![0usize; most + 1];
    degrees.iter().for_each(|&degree| counts[degree] += 1);
    if few {
        let bin = |(degree, &count): (usize, &usize)| Bin {
            from: degree as f64 - 0.5,
            to: degree as f64 + 0.5,
            count: count as f64,
        };
        return counts.iter().enumerate().map(bin).collect();
    }
    let mut bins = Vec::new();
    let mut from = 1;
    while from <= most {
        let to = (from + 1).max((from as f64 * 1.5).round() as usize);
        let count: usize = counts[from..to.min(most + 1)].iter().sum();
        bins.push(Bin { from: from as f64 - 0.5, to: to as f64 - 0.5, count: count as f64 });
        from = to;
    }
    bins
}

/// At most thirty bars of whole numbers.
fn even_bins(values: &[usize], low: usize, high: usize) -> Vec<Bin> {
    let step = (high - low + 1).div_ceil(30).max(1);
    let mut bins: Vec<Bin> = (low..=high)
        .step_by(step)
        .map(|from| Bin { from: from as f64 - 0.5, to: (from + step) as f64 - 0.5, count: 0.0 })
        .collect();
    for value in values {
        bins[(value - low) / step].count += 1.0;
    }
    bins
}
