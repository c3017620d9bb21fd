//! Rows of one view against rows of the other: a node, or a graph, is to find itself among the others.

use burn::Tensor;
use burn::tensor::activation::softplus;
use burn::tensor::{Bool, TensorData};

use super::local_global::{pool, to_length_one};
use super::{InfoNce, JensenShannon};
use crate::GraphOffsets;
use crate::error::{Error, Result, check_size};
use crate::ops::{self, Pooling, Similarity};

/// The same nodes, or graphs, in both views: row by row they belong together.
#[derive(Debug, Clone)]
pub struct PositivePairs {
    views: [Tensor<2>; 2],
}

impl PositivePairs {
    /// PositivePairs of rows.
    ///
    /// # Errors
    /// When there is but one pair, which has nothing to be told apart from, or views differ in size.
    pub fn new(views: [Tensor<2>; 2]) -> Result<PositivePairs> {
        let rows = views[0].dims()[0];
        if rows < 2 {
            return Err(Error::setting("number of pairs in a step", rows, "at least 2, to be told apart"));
        }
        check_size("second view", views[1].dims()[0], rows)?;
        check_size("row of the second view", views[1].dims()[1], views[0].dims()[1])?;
        Ok(PositivePairs { views })
    }

    /// `-log(exp(s_ii) / (Σ_j exp(s_ij) + Σ_{j≠i} exp(t_ij)))`, with `s` the similarities across views and `t` those within the
    /// view of row `i`; the mean over all rows of both views.
    pub(super) fn info_nce(&self, InfoNce { similarity, temperature }: InfoNce) -> Tensor<1> {
        let [one, other] = self.compared(similarity);
        ops::info_nce(one, other, temperature)
    }

    /// `mean(softplus(-s_ii)) + mean(softplus(s_ij)) - 2 log 2` over rows `i` and all `j ≠ i`, with `s` the similarities across
    /// views: zero for similarities of zero.
    pub(super) fn jensen_shannon(&self, JensenShannon { similarity }: JensenShannon) -> Tensor<1> {
        let [one, other] = self.compared(similarity);
        let own = (one.clone() * other.clone()).sum_dim(1);
        let others = softplus(one.matmul(other.transpose()), 1.0).mask_fill(self.itself(), 0.0);
        let others = others.sum_dim(1) / (self.rows() - 1) as f32;
        self.mean(softplus(own.neg(), 1.0) + others) - 2.0 * std::f64::consts::LN_2
    }

    fn rows(&self) -> usize {
        self.views[0].dims()[0]
    }

    /// Both views, such that products of their rows are similarities.
    fn compared(&self, similarity: Similarity) -> [Tensor<2>; 2] {
        match similarity {
            Similarity::Cosine => self.views.each_ref().map(to_length_one),
            Similarity::Dot => self.views.clone(),
        }
    }

    /// Where a row meets itself.
    fn itself(&self) -> Tensor<2, Bool> {
        let rows = self.rows();
        let mut same = vec![false; rows * rows];
        same.iter_mut().step_by(rows + 1).for_each(|same| *same = true);
        Tensor::from_data(TensorData::new(same, [rows, rows]), &self.views[0].device())
    }

    fn mean(&self, column: Tensor<2>) -> Tensor<1> {
        pool(column.squeeze_dim(1), &GraphOffsets::single(self.rows()), Pooling::Mean)
    }
}
