//! The short form of two views: a scheme, and how much of the features each view hides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Pipeline;
use crate::centrality::Centrality;
use crate::error::{Result, check_share};
use crate::mask::{MaskFeatures, MaskNodes};
use crate::scheme::SchemeSettings;

/// Feature masking of two views.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureMasking {
    /// How much is hidden from the first view.
    pub first: MaskRates,
    /// How much is hidden from every other view.
    pub second: MaskRates,
    /// Hides columns that belong to central nodes less often, as GCA does. Without it all columns are alike, as in GRACE.
    pub centrality: Option<Centrality>,
    /// The most probable hiding of a column, where columns are not alike.
    pub cutoff: f64,
}

impl Default for FeatureMasking {
    fn default() -> Self {
        let rates = MaskRates { rate: 0.3, nodes: 0.0 };
        FeatureMasking { first: rates, second: rates, centrality: None, cutoff: 0.7 }
    }
}

/// How much is hidden from a view.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaskRates {
    /// Probability of hiding a column from all nodes.
    pub rate: f64,
    /// Share of each graph's nodes that lose all features.
    pub nodes: f64,
}

impl FeatureMasking {
    /// Refuses rates that are out of their range.
    ///
    /// # Errors
    /// Names the rate.
    pub fn check(&self) -> Result<()> {
        for (view, rates) in [("first", self.first), ("second", self.second)] {
            check_share(&format!("feature masking rate of the {view} view"), rates.rate)?;
            check_share(&format!("node masking rate of the {view} view"), rates.nodes)?;
        }
        check_share("cutoff", self.cutoff)
    }

    fn steps(&self, view: usize) -> impl Iterator<Item = Pipeline> {
        let MaskRates { rate, nodes } = if view == 0 { self.first } else { self.second };
        let FeatureMasking { centrality, cutoff, .. } = *self;
        let columns = MaskFeatures { rate, centrality, cutoff, each_graph: false };
        let columns = (rate > 0.0).then_some(Pipeline::MaskFeatures(columns));
        let nodes = (nodes > 0.0).then_some(MaskNodes { rate: nodes, ..MaskNodes::default() });
        columns.into_iter().chain(nodes.map(Pipeline::MaskNodes))
    }
}

/// Two views, each drawn from one view of a scheme with some features hidden.
///
/// ```
/// use fiedler_augment::pipeline::{FeatureMasking, Pipeline, short_form};
/// use fiedler_augment::SchemeSettings;
///
/// let [first, second] = &short_form(&SchemeSettings::default(), &FeatureMasking::default())[..] else { unreachable!() };
/// assert_ne!(first, second);
/// assert!(matches!(first, Pipeline::Compose(compose) if compose.steps.len() == 2));
/// ```
pub fn short_form(scheme: &SchemeSettings, masking: &FeatureMasking) -> Vec<Pipeline> {
    let view = |view: usize| {
        let scheme = Pipeline::scheme(scheme.clone(), view as u32);
        Pipeline::compose(std::iter::once(scheme).chain(masking.steps(view)).collect())
    };
    vec![view(0), view(1)]
}
