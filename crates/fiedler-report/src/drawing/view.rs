//! One view of a scheme: how likely each pair of a graph's nodes is to change.

use fiedler_augment::Scheme;
use fiedler_augment::sample::EdgeFlips;
use fiedler_augment::scheme::Augmentation;
use fiedler_graph::Graph;

/// How likely each pair of a graph's nodes is to change in one of a scheme's views.
#[derive(Debug, Clone)]
pub struct View<'a> {
    /// What the scheme calls it: `max`, `min` ….
    pub name: String,
    /// What it does, in words that can stand above its picture.
    pub title: String,
    source: Source<'a>,
}

#[derive(Debug, Clone)]
enum Source<'a> {
    Pairs(&'a EdgeFlips),
    /// The probability of dropping each node, and all its edges with it.
    Nodes(&'a [f32]),
    /// The probabilities of removing each edge and of adding each other pair.
    Alike {
        remove: f64,
        add: f64,
    },
}

/// Numbers of changes that a view makes in expectation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Expected {
    pub removed: f64,
    pub added: f64,
}

impl<'a> View<'a> {
    /// A view of pairs that flip.
    pub fn of_flips(name: &str, flips: &'a EdgeFlips) -> View<'a> {
        View { name: name.into(), title: title(name), source: Source::Pairs(flips) }
    }

    /// Those views of a graph of the scheme's set that change pairs or nodes each with a probability of its own.
    ///
    /// Views that are the graph itself, a fixed graph or a random walk have no such probabilities and are left out.
    pub fn all_of(scheme: &'a Scheme, graph: usize, nodes: std::ops::Range<u32>, edges: usize) -> Vec<View<'a>> {
        let of_view = |(place, augmentation): (usize, &'a Augmentation)| {
            let source = match augmentation {
                Augmentation::Pairs(pairs) => Source::Pairs(pairs.graphs().get(graph)?),
                Augmentation::Nodes(dropped) => {
                    Source::Nodes(dropped.of_nodes().get(nodes.start as usize..nodes.end as usize)?)
                }
                Augmentation::Uniform(rates) => {
                    let (remove, add) = rates.probabilities(nodes.len(), edges);
                    Source::Alike { remove, add }
                }
                Augmentation::Unchanged | Augmentation::Static(_) | Augmentation::DropNodes(_) => return None,
            };
            let name = scheme.report().views.get(place).map_or(String::new(), |view| view.name.clone());
            Some(View { title: title(&name), name, source })
        };
        scheme.views().iter().enumerate().filter_map(of_view).collect()
    }

    /// The probability that the pair changes: that an edge goes, or that anything else is joined.
    ///
    /// # Panics
    /// When a node does not exist.
    pub fn probability(&self, graph: &Graph, a: u32, b: u32) -> f64 {
        match &self.source {
            Source::Pairs(flips) => f64::from(flips.probability(a, b)),
            Source::Nodes(dropped) if graph.has_edge(a, b) => {
                let stays = |node: u32| 1.0 - f64::from(dropped[node as usize]);
                1.0 - stays(a) * stays(b)
            }
            Source::Nodes(_) => 0.0,
            Source::Alike { remove, add } => {
                if graph.has_edge(a, b) {
                    *remove
                } else {
                    *add
                }
            }
        }
    }

    /// Whether all additions are equally likely, so that none is worth showing.
    pub(super) fn adds_alike(&self) -> bool {
        matches!(self.source, Source::Alike { .. })
    }

    pub(super) fn expected(&self, graph: &Graph) -> Expected {
        let mut expected = Expected::default();
        match &self.source {
            Source::Pairs(flips) => flips.visit_in(graph, 0, |_, edge, probability| match edge {
                true => expected.removed += f64::from(probability),
                false => expected.added += f64::from(probability),
            }),
            Source::Nodes(_) => {
                expected.removed = graph.edge_pairs().map(|(a, b)| self.probability(graph, a, b)).sum();
            }
            Source::Alike { remove, add } => {
                let edges = graph.num_edges() as f64;
                let nodes = graph.num_nodes() as f64;
                expected.removed = remove * edges;
                expected.added = add * (0.5 * nodes * (nodes - 1.0) - edges);
            }
        }
        expected
    }
}

fn title(name: &str) -> String {
    match name {
        "max" => "View that pushes the spectral norm up".into(),
        "min" => "View that pushes the spectral norm down".into(),
        "single" => "View that moves the spectrum away".into(),
        "first" => "First view".into(),
        "second" => "Second view".into(),
        other => format!("View “{other}”"),
    }
}
