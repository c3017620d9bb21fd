//! Products of features over random walks: which features stand how many steps from which.

use fiedler_graph::Graph;

use super::walk::neighbor_means;

/// An entry of `Fᵀ Pᵏ F` that is not zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairProduct {
    /// `(k · width + i) · width + j` for row `i` and column `j` of the product.
    pub cell: u32,
    /// The entry.
    pub value: f64,
}

/// The entries of `Fᵀ Pᵏ F` for k = 0 … depth that are not zero, in ascending order, where `P = D⁻¹ A`. `features` has a row for each node
/// and `width` columns. Of one-hot labels it is the number of walks, weighted by their probability, that start at a node of one label and
/// end at one of the other.
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_learn::descriptor::pair_products;
/// let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)])?;
/// // One column: the middle node.
/// let products = pair_products(&path, &[0.0, 1.0, 0.0], 1, 2);
/// let found: Vec<(u32, f64)> = products.iter().map(|product| (product.cell, product.value)).collect();
/// assert_eq!(found, [(0, 1.0), (2, 1.0)]);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn pair_products(graph: &Graph, features: &[f64], width: usize, depth: usize) -> Vec<PairProduct> {
    let mut products = Vec::new();
    let mut image: Option<Vec<f64>> = None;
    let mut sums = vec![0.0; width * width];
    for step in 0..=depth {
        if step > 0 {
            image = Some(neighbor_means(graph, image.as_deref().unwrap_or(features), width));
        }
        sums.fill(0.0);
        let reached = image.as_deref().unwrap_or(features);
        for (of_start, of_end) in features.chunks_exact(width.max(1)).zip(reached.chunks_exact(width.max(1))) {
            // Most nodes have one label of many.
            for (row, &value) in of_start.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                let sums = &mut sums[row * width..][..width];
                sums.iter_mut().zip(of_end).for_each(|(sum, end)| *sum += value * end);
            }
        }
        let first = step * width * width;
        let entries = sums.iter().enumerate().filter(|(_, value)| **value != 0.0);
        products.extend(entries.map(|(at, &value)| PairProduct { cell: (first + at) as u32, value }));
    }
    products
}
