//! Uniform flips as strong as the opposite scheme: what is left of it when the spectrum is not looked at.

use fiedler_graph::{GraphSet, Observer};

use super::{Augmentation, Rates, Report, Spectral, Uniform};
use crate::error::Result;

impl Spectral {
    /// As many removals and additions in expectation as each view of [`Spectral::opposite`] has, every edge and every other pair alike.
    pub(super) fn matched(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        let (_, opposite) = self.opposite(set, observer)?;
        let edges = set.block_diagonal().num_edges().max(1) as f64;
        let rates = |view: usize| {
            let mass = opposite.views[view].mass;
            Rates { remove: (mass.removed / edges).min(1.0), add: mass.added / edges }
        };
        let (views, mut report) = Uniform { first: rates(0), second: rates(1) }.compute(set, observer)?;
        for (view, of) in report.views.iter_mut().zip(opposite.views) {
            view.name = of.name;
        }
        Ok((views, report))
    }
}
