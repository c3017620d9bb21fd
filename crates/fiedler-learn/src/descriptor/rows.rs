//! All blocks of one graph.

use std::borrow::Cow;

use fiedler_graph::{Graph, GraphSet};

use super::columns::NodeFeatures;
use super::wl::signature;
use super::{
    Block, DescriptorSettings, SIZE_MEASURES, SPECTRUM_MEASURES, STRUCTURE_MEASURES, count_colors, degree_colors,
    hop_columns, hop_pool, pair_products, signed_log, size_measures, spectrum_measures, structure_measures, wl_colors,
};
use crate::error::Result;

/// Classes of degrees that stand for labels where there are none: 0, 1, 2 to 3, 4 to 7 and so on.
const DEGREE_CLASSES: usize = 32;

/// Structural measures of the nodes of a graph.
pub(super) type Structure = Vec<[f64; STRUCTURE_MEASURES]>;

/// Mean and scale of each structural measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StructureScale {
    pub(super) mean: [f64; STRUCTURE_MEASURES],
    pub(super) scale: [f64; STRUCTURE_MEASURES],
}

impl StructureScale {
    /// Of the nodes of all graphs.
    pub(super) fn of(graphs: &[Structure]) -> StructureScale {
        let rows = graphs.iter().map(Vec::len).sum::<usize>().max(1) as f64;
        let mut mean = [0.0; STRUCTURE_MEASURES];
        for row in graphs.iter().flatten() {
            mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        mean = mean.map(|sum| sum / rows);
        let mut squares = [0.0; STRUCTURE_MEASURES];
        for row in graphs.iter().flatten() {
            squares.iter_mut().zip(row).zip(mean).for_each(|((sum, value), mean)| *sum += (value - mean).powi(2));
        }
        let deviation = squares.map(|square| (square / rows).sqrt());
        // Rounding, as that of PageRank, must not be mistaken for a difference. Both are stored in 32 bits.
        let scale = deviation.map(|deviation| if deviation > 1e-6 { f64::from(deviation.recip() as f32) } else { 0.0 });
        StructureScale { mean: mean.map(|mean| f64::from(mean as f32)), scale }
    }
}

/// What describes graphs, with what was fitted.
pub(super) struct Describer<'a> {
    pub(super) settings: &'a DescriptorSettings,
    pub(super) graphs: &'a GraphSet,
    /// None where nodes have no features that tell them apart.
    pub(super) features: Option<NodeFeatures<'a>>,
    pub(super) structure: StructureScale,
}

/// The blocks of a graph before anything is projected.
pub(super) struct RawRow {
    /// Hop-pool, spectrum and size, those of them that are wanted.
    pub(super) dense: Vec<f32>,
    /// Cells of the pair block, ascending, each divided by the number of nodes and as a logarithm.
    pub(super) pairs: Vec<(u32, [f32; 2])>,
    /// Colors, ascending, and how often each occurs.
    pub(super) colors: Vec<(u64, u32)>,
    /// Equal for graphs of equal colors and sizes.
    pub(super) signature: u64,
}

impl Describer<'_> {
    pub(super) fn structure_of(&self, graph: usize) -> Structure {
        structure_measures(&self.graphs.graph(graph))
    }

    /// The blocks of a graph, whose structural measures may be known already.
    pub(super) fn row(&self, number: usize, structure: Option<&Structure>) -> Result<RawRow> {
        let DescriptorSettings { depth, .. } = *self.settings;
        let has = |block| self.settings.has(block);
        let graph = self.graphs.graph(number);
        let first = self.graphs.node_range(number).start as usize;
        let structure = match structure {
            Some(structure) => Cow::Borrowed(structure),
            None if has(Block::Hop) || has(Block::Pair) => Cow::Owned(structure_measures(&graph)),
            None => Cow::Owned(Structure::new()),
        };
        let mut dense = Vec::new();
        if has(Block::Hop) {
            let (x, width) = self.hop_features(&graph, first, &structure);
            dense = hop_pool(&graph, &x, width, depth);
        }
        if has(Block::Spectrum) {
            dense.extend(spectrum_measures(&graph)?);
        }
        if has(Block::Size) {
            dense.extend(size_measures(&graph));
        }
        let pairs = if has(Block::Pair) { self.pairs(&graph, first, &structure) } else { Vec::new() };
        let colors = if has(Block::Wl) { count_colors(self.colors(&graph, first)) } else { Vec::new() };
        let signature = signature(&graph, &colors);
        Ok(RawRow { dense, pairs, colors, signature })
    }

    fn feature_width(&self) -> usize {
        self.features.as_ref().map_or(0, |features| features.columns().width())
    }

    fn has_labels(&self) -> bool {
        self.features.as_ref().is_some_and(|features| features.columns().has_labels())
    }

    /// Features beside structural measures and a column of ones.
    fn hop_features(&self, graph: &Graph, first: usize, structure: &Structure) -> (Vec<f64>, usize) {
        let of_features = self.feature_width();
        let width = of_features + STRUCTURE_MEASURES + 1;
        let mut x = vec![0.0; graph.num_nodes() * width];
        for (node, (row, measures)) in x.chunks_exact_mut(width).zip(structure).enumerate() {
            let (features, rest) = row.split_at_mut(of_features);
            if let Some(source) = &self.features {
                source.fill(first + node, features);
            }
            rest[..STRUCTURE_MEASURES].copy_from_slice(measures);
            rest[STRUCTURE_MEASURES] = 1.0;
        }
        (x, width)
    }

    fn colors(&self, graph: &Graph, first: usize) -> Vec<u64> {
        let start = match &self.features {
            Some(features) if self.has_labels() => {
                (first..first + graph.num_nodes()).map(|node| features.label(node)).collect()
            }
            _ => degree_colors(graph),
        };
        wl_colors(graph, &start, self.settings.depth)
    }

    fn pairs(&self, graph: &Graph, first: usize, structure: &Structure) -> Vec<(u32, [f32; 2])> {
        let nodes = graph.num_nodes();
        let (of_features, with_classes) = (self.feature_width(), !self.has_labels());
        let class = |node: u32| (usize::BITS - graph.degree(node).leading_zeros()) as usize;
        // Classes of degrees that the graph does not have would only cost time.
        let classes = if with_classes { (0..nodes as u32).map(class).max().map_or(0, |most| most + 1) } else { 0 };
        let classes = classes.min(DEGREE_CLASSES);
        let width = of_features + STRUCTURE_MEASURES + classes;
        let mut x = vec![0.0; nodes * width];
        for (node, (row, measures)) in x.chunks_exact_mut(width).zip(structure).enumerate() {
            let (features, rest) = row.split_at_mut(of_features);
            if let Some(source) = &self.features {
                source.fill(first + node, features);
            }
            let StructureScale { mean, scale } = self.structure;
            for at in 0..STRUCTURE_MEASURES {
                rest[at] = (measures[at] - mean[at]) * scale[at];
            }
            if classes > 0 {
                rest[STRUCTURE_MEASURES + class(node as u32).min(classes - 1)] = 1.0;
            }
        }
        let whole = pair_width(of_features, !with_classes);
        let products = pair_products(graph, &x, width, self.settings.depth);
        let place = |cell: u32| {
            let (row, column) = (cell as usize / width, cell as usize % width);
            let (step, row) = (row / width, row % width);
            ((step * whole + row) * whole + column) as u32
        };
        let forms = |value: f64| [(value / nodes as f64) as f32, signed_log(value) as f32];
        products.iter().map(|product| (place(product.cell), forms(product.value))).collect()
    }
}

/// Columns of the dense blocks together.
pub(super) fn dense_columns(settings: &DescriptorSettings, of_features: usize) -> usize {
    let hop = if settings.has(Block::Hop) { hop_width(settings, of_features) } else { 0 };
    let spectrum = if settings.has(Block::Spectrum) { SPECTRUM_MEASURES } else { 0 };
    let size = if settings.has(Block::Size) { SIZE_MEASURES } else { 0 };
    hop + spectrum + size
}

/// Columns of the hop-pool block.
pub(super) fn hop_width(settings: &DescriptorSettings, of_features: usize) -> usize {
    hop_columns(of_features + STRUCTURE_MEASURES + 1, settings.depth)
}

/// Rows and columns of a product of the pair block.
pub(super) fn pair_width(of_features: usize, has_labels: bool) -> usize {
    of_features + STRUCTURE_MEASURES + if has_labels { 0 } else { DEGREE_CLASSES }
}

/// Cells of the products of the pair block.
pub(super) fn pair_cells(settings: &DescriptorSettings, of_features: usize, has_labels: bool) -> usize {
    (settings.depth + 1) * pair_width(of_features, has_labels).pow(2)
}
