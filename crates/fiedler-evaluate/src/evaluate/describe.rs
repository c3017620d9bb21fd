//! Probes and their choice in words.

use fiedler_graph::{Labels, Split};

use super::{Settings, reference};
use crate::metric::Metric;
use crate::protocol::Protocol;
use crate::target::Target;

/// The probe and how its setting is chosen.
pub(super) fn probe(protocol: Protocol, splits: &[Split], target: &Target, metric: Metric, set: &Settings) -> String {
    if protocol == Protocol::Reference {
        let adam = &set.reference;
        return format!(
            "embeddings as they are; logistic regression by Adam at {}, the best of up to {} steps and its weight decay chosen from {} for its \
             {metric} on the part to choose on",
            adam.rate,
            adam.steps,
            list(reference::decays(target.graphs)),
        );
    }
    let probe = match target.labels {
        Labels::Classes(_) => "logistic regression, its C",
        Labels::MultiLabel(_) => "one logistic regression a task, their C",
        Labels::Regression(_) => "ridge regression, its alpha",
    };
    let choice = match splits.iter().all(|split| !split.validation.is_empty()) {
        true => "on the part to choose on".into(),
        false => format!("by {}-fold cross-validation inside what is learnt from", set.inner_folds),
    };
    let preparations: Vec<&str> = set.preparations.iter().map(|preparation| preparation.describe()).collect();
    let (preparations, weights) = (preparations.join(" or "), list(&set.weights));
    let both = if set.preparations.len() > 1 { ", both" } else { "," };
    format!("{preparations}; {probe} (as in scikit-learn) from {weights}{both} chosen for their {metric} {choice}")
}

fn list(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("{{{}}}", numbers.join(", "))
}
