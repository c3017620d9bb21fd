//! A scheme that a caller puts together out of augmentations of its own.

use fiedler_graph::{GraphSet, Observer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Augmentation, Report, Scheme, SchemeSettings, ViewReport};
use crate::error::{Error, Result};

/// What is known of a scheme that was put together by a caller.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Custom {
    /// What the caller calls it.
    pub label: String,
}

impl Custom {
    pub(super) fn check(&self, _: &GraphSet) -> Result<()> {
        Err(Error::setting("scheme", "custom", "a scheme that can be computed from its settings")
            .advise("a custom scheme exists only as the file or the value that Scheme::custom made"))
    }

    pub(super) fn compute(&self, set: &GraphSet, _: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        self.check(set).map(|()| Default::default())
    }
}

impl Scheme {
    /// A scheme made of given augmentations, one a view, for the graphs of a set.
    ///
    /// ```
    /// use fiedler_augment::scheme::{Augmentation, Rates, Scheme, ViewKey};
    /// use fiedler_graph::generate;
    ///
    /// let karate = generate::karate_club();
    /// let views = vec![Augmentation::Uniform(Rates::removing(0.5)), Augmentation::Unchanged];
    /// let scheme = Scheme::custom("half", &karate.graphs, views);
    /// let view = scheme.draw(&karate.graphs.whole(), ViewKey::new(7, 0, 0))?;
    /// assert!(view.graph.num_edges() < 78);
    /// # Ok::<(), fiedler_augment::Error>(())
    /// ```
    pub fn custom(label: &str, set: &GraphSet, views: Vec<Augmentation>) -> Scheme {
        let reports =
            (1..=views.len()).map(|view| ViewReport { name: format!("view {view}"), ..ViewReport::default() });
        let report = Report { views: reports.collect(), ..Report::default() };
        Scheme::new(SchemeSettings::Custom(Custom { label: label.to_owned() }), set, views, report)
    }
}
