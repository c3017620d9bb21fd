//! The list of schemes: which there are, with their settings.

use std::str::FromStr;

use fiedler_graph::{GraphSet, Observer};
use fiedler_spectral::Operator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Augmentation, CentralityRemoval, Clustered, Custom, DiffusionSettings, GraphCl, GraphClRatio, NodeDropping, Report,
    Scheme, Spectral, Uniform, UniformRatio, drawn,
};
use crate::axis::Axis;
use crate::error::{Error, Result};
use crate::support::Holders;

/// Makes the enum of all schemes and everything that follows from the list: names, help, serde, parsing, dispatch, search axes.
///
/// A line has the scheme's name, its variant with the type of its settings, `of nodes` where a key `ratio` is a share of the nodes and
/// not of the edges, how settings are checked, how views are computed and, if a search is to change settings, the axes. Schemes after
/// `given:` cannot be computed from settings and are not offered to users.
macro_rules! schemes {
    (
        $($(#[doc = $about:literal])+ $name:literal => $variant:ident($settings:ty) $(of $unit:ident)?,
            $check:path, $compute:path $(, $axes:path)?;)+
        given:
        $(#[doc = $given_about:literal])+ $given_name:literal => $given:ident($given_settings:ty),
            $given_check:path, $given_compute:path;
    ) => {
        /// A scheme and its settings, as they stand in files.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "name")]
        pub enum SchemeSettings {
            $($(#[doc = $about])+ #[serde(rename = $name)] $variant($settings),)+
            $(#[doc = $given_about])+ #[serde(rename = $given_name)] $given($given_settings),
        }

        impl SchemeSettings {
            /// Every scheme that can be computed from settings: its name, with one line on what it does.
            pub const ALL: &[(&str, &str)] = &[$(($name, concat!($($about),+).trim_ascii()),)+];

            /// The name of the scheme.
            pub fn name(&self) -> &'static str {
                match self {
                    $(SchemeSettings::$variant(_) => $name,)+
                    SchemeSettings::$given(_) => $given_name,
                }
            }

            /// What a key `ratio` is a share of.
            fn ratio_of(&self) -> &'static str {
                match self {
                    $(SchemeSettings::$variant(_) => first_or_edges(&[$(stringify!($unit))?]),)+
                    SchemeSettings::$given(_) => first_or_edges(&[]),
                }
            }

            /// Refuses settings that are out of their range or not for such graphs, before anything is computed.
            ///
            /// # Errors
            /// Names the setting, its value and what is allowed.
            pub fn check(&self, set: &GraphSet) -> Result<()> {
                match self {
                    $(SchemeSettings::$variant(settings) => $check(settings, set),)+
                    SchemeSettings::$given(settings) => $given_check(settings, set),
                }
            }

            /// What a search may change of the scheme, by keys such as `scheme.ratio`.
            pub fn search_axes(&self) -> Vec<Axis> {
                match self {
                    $(SchemeSettings::$variant(settings) => {
                        let _: &$settings = settings;
                        let axes: &[Vec<Axis>] = &[$($axes(settings))?];
                        axes.concat()
                    })+
                    SchemeSettings::$given(_) => Vec::new(),
                }
            }

            fn augmentations(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
                match self {
                    $(SchemeSettings::$variant(settings) => $compute(settings, set, observer),)+
                    SchemeSettings::$given(settings) => $given_compute(settings, set, observer),
                }
            }
        }

        /// The scheme of a name, with its default settings.
        impl FromStr for SchemeSettings {
            type Err = Error;

            fn from_str(name: &str) -> Result<SchemeSettings> {
                match name {
                    $($name => Ok(SchemeSettings::$variant(<$settings>::default())),)+
                    _ => Err(Error::unknown_name("scheme", name, SchemeSettings::ALL.iter().map(|(name, _)| *name))),
                }
            }
        }
    };
}

schemes! {
    /// One view pushes the spectral norm up, the other down: the paper's main scheme.
    "opposite" => Opposite(Spectral), Spectral::check_opposite, Spectral::opposite, Spectral::opposite_axes;
    /// One view moves the spectrum as far as it can, the other is the graph itself.
    "single" => Single(Spectral), Spectral::check_distance, Spectral::single, ratio_axis;
    /// Two views move their spectra as far apart as they can.
    "double" => Double(Spectral), Spectral::check_distance, Spectral::double, ratio_axis;
    /// Both views drop nodes so that the spectrum moves as far as it can.
    "node-dropping" => NodeDropping(NodeDropping) of nodes, NodeDropping::check, NodeDropping::compute, ratio_axis;
    /// Edges are removed and added at the same rate everywhere; each view has rates of its own.
    "uniform" => Uniform(Uniform), Uniform::check, Uniform::compute, Uniform::search_axes;
    /// Edges are removed from both views, all alike.
    "uniform-removal" => UniformRemoval(UniformRatio), UniformRatio::check_removal, UniformRatio::removal, ratio_axis;
    /// Edges are added to both views, all alike.
    "uniform-addition" => UniformAddition(UniformRatio), UniformRatio::check_addition, UniformRatio::addition, ratio_axis;
    /// Pairs flip in both views, half of them edges.
    "uniform-flipping" => UniformFlipping(UniformRatio), UniformRatio::check_flipping, UniformRatio::flipping, ratio_axis;
    /// As many removals and additions in each view as the opposite scheme has, all alike: what the spectrum is compared with.
    "uniform-matched" => UniformMatched(Spectral), Spectral::check_opposite, Spectral::matched, ratio_axis;
    /// Edges between clusters are removed more often than those within.
    "clustered" => Clustered(Clustered), Clustered::check, Clustered::compute, ratio_axis;
    /// Edges between central nodes are removed less often: GCA.
    "centrality" => Centrality(CentralityRemoval), CentralityRemoval::check, CentralityRemoval::compute,
        CentralityRemoval::search_axes;
    /// The second view is a diffusion of the graph: MVGRL.
    "diffusion" => Diffusion(DiffusionSettings), DiffusionSettings::check, DiffusionSettings::compute;
    /// Nodes are dropped, subgraphs cut out, or edges perturbed, in each view as told: GraphCL.
    "graphcl" => GraphCl(GraphCl) of nodes, GraphCl::check, GraphCl::compute, ratio_axis;
    /// Edges are removed and as many added, in both views: GraphCL.
    "edge-perturbation" => EdgePerturbation(GraphClRatio), GraphClRatio::check, GraphClRatio::edge_perturbation, ratio_axis;
    /// Nodes are dropped from both views, all alike: GraphCL.
    "uniform-node-dropping" => UniformNodeDropping(GraphClRatio) of nodes, GraphClRatio::check, GraphClRatio::node_dropping,
        ratio_axis;
    /// The nodes that a random walk meets first are kept, in both views: GraphCL.
    "subgraph" => Subgraph(GraphClRatio) of nodes, GraphClRatio::check, GraphClRatio::subgraph, ratio_axis;
given:
    /// Augmentations that a caller put together, see `Scheme::custom`.
    "custom" => Custom(Custom), Custom::check, Custom::compute;
}

const fn first_or_edges(units: &[&'static str]) -> &'static str {
    match units {
        [unit, ..] => unit,
        [] => "edges",
    }
}

/// Budgets that a search tries.
pub(super) const RATIOS: [f64; 8] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9];

/// The axis of every scheme that has a budget.
pub(super) fn ratio_axis<S>(_: &S) -> Vec<Axis> {
    vec![Axis::new("scheme.ratio", RATIOS)]
}

impl Default for SchemeSettings {
    fn default() -> Self {
        SchemeSettings::Opposite(Spectral::default())
    }
}

impl SchemeSettings {
    /// Whose spectrum the scheme is about; that of the Laplacian, where it is about none.
    pub fn operator(&self) -> Operator {
        match self {
            SchemeSettings::Opposite(spectral)
            | SchemeSettings::Single(spectral)
            | SchemeSettings::Double(spectral)
            | SchemeSettings::UniformMatched(spectral) => spectral.operator,
            SchemeSettings::NodeDropping(dropping) => dropping.operator,
            _ => Operator::default(),
        }
    }

    /// Computes the scheme for one graph or many. `observer` hears how far it is.
    ///
    /// # Errors
    /// When a setting is out of its range, the computation would exceed its memory, or `observer` asks to stop.
    pub fn compute(&self, set: &GraphSet, observer: &dyn Observer) -> Result<Scheme> {
        self.check(set)?;
        let (views, mut report) = self.augmentations(set, observer)?;
        drawn::check(self, set, &views, &mut report)?;
        Ok(Scheme::new(self.clone(), set, views, report))
    }

    /// As [`SchemeSettings::compute`], with the pairs of nodes of one large graph held in parts elsewhere; what comes of it has the same bits.
    ///
    /// # Errors
    /// As there; also for schemes that are not `opposite`, and settings that look at all pairs or at single eigenvalues.
    pub fn compute_in_parts(&self, set: &GraphSet, holders: &dyn Holders, observer: &dyn Observer) -> Result<Scheme> {
        self.check(set)?;
        let SchemeSettings::Opposite(spectral) = self else {
            let expected = "opposite, where a graph is held in parts";
            return Err(Error::setting("scheme", self.name(), expected).advise("compute the scheme in one process"));
        };
        let (views, mut report) = spectral.opposite_in_parts(set, holders, observer)?;
        drawn::check(self, set, &views, &mut report)?;
        Ok(Scheme::new(self.clone(), set, views, report))
    }

    /// The scheme of another name. Settings that both have stay as they are, but for a ratio that would be one of nodes instead of
    /// edges or the reverse; others are the defaults.
    ///
    /// ```
    /// use fiedler_augment::scheme::{SchemeSettings, Spectral};
    /// let base = SchemeSettings::Opposite(Spectral { ratio: 0.5, steps: 7, ..Spectral::default() });
    /// let single = SchemeSettings::Single(Spectral { ratio: 0.5, steps: 7, ..Spectral::default() });
    /// assert_eq!(base.with_name("single")?, single);
    /// let SchemeSettings::UniformRemoval(removal) = base.with_name("uniform-removal")? else { unreachable!() };
    /// assert_eq!(removal.ratio, 0.5);
    /// let SchemeSettings::NodeDropping(dropping) = base.with_name("node-dropping")? else { unreachable!() };
    /// assert_eq!((dropping.ratio, dropping.steps), (0.2, 7));
    /// # Ok::<(), fiedler_augment::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such scheme.
    pub fn with_name(&self, name: &str) -> Result<SchemeSettings> {
        let other: SchemeSettings = name.parse()?;
        if other.name() == self.name() {
            return Ok(self.clone());
        }
        let keeps_ratio = self.ratio_of() == other.ratio_of();
        let (mut tree, known) = (other.tree(), self.tree());
        for (key, value) in tree.iter_mut().filter(|(key, _)| *key != "name" && (*key != "ratio" || keeps_ratio)) {
            if let Some(known) = known.get(key) {
                *value = known.clone();
            }
        }
        // Equal keys of two schemes may mean different things: then neither is taken over.
        Ok(serde_json::from_value(Value::Object(tree)).unwrap_or(other))
    }

    /// The same settings with another seed, where they have one.
    pub fn with_seed(self, seed: u64) -> SchemeSettings {
        let mut tree = self.tree();
        match tree.get_mut("seed") {
            Some(known) => *known = seed.into(),
            None => return self,
        }
        serde_json::from_value(Value::Object(tree)).unwrap_or(self)
    }

    fn tree(&self) -> serde_json::Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(tree)) => tree,
            _ => serde_json::Map::new(),
        }
    }
}
