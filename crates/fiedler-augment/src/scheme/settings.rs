//! The list of schemes: which there are, with their settings.

use std::str::FromStr;

use fiedler_graph::{GraphSet, Observer};
use fiedler_spectral::Operator;
use serde::{Deserialize, Serialize};

use super::{
    Augmentation, CentralityRemoval, Clustered, Custom, DiffusionSettings, GraphCl, NodeDropping, Report, Scheme,
    Spectral, Uniform, drawn,
};
use crate::error::{Error, Result};

/// Makes the enum of all schemes and everything that follows from the list: names, help, serde, parsing, dispatch.
macro_rules! schemes {
    ($($(#[doc = $about:literal])+ $name:literal => $variant:ident($settings:ty), $check:path, $compute:path;)+) => {
        /// A scheme and its settings, as they stand in files.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name")]
        pub enum SchemeSettings {
            $($(#[doc = $about])+ #[serde(rename = $name)] $variant($settings),)+
        }

        impl SchemeSettings {
            /// Every scheme by its name, with one line on what it does.
            pub const ALL: &[(&str, &str)] = &[$(($name, concat!($($about),+)),)+];

            /// The name of the scheme.
            pub fn name(&self) -> &'static str {
                match self {
                    $(SchemeSettings::$variant(_) => $name,)+
                }
            }

            /// Refuses settings that are out of their range or not for such graphs, before anything is computed.
            ///
            /// # Errors
            /// Names the setting, its value and what is allowed.
            pub fn check(&self, set: &GraphSet) -> Result<()> {
                match self {
                    $(SchemeSettings::$variant(settings) => $check(settings, set),)+
                }
            }

            fn augmentations(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
                match self {
                    $(SchemeSettings::$variant(settings) => $compute(settings, set, observer),)+
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
    "opposite" => Opposite(Spectral), Spectral::check_opposite, Spectral::opposite;
    /// One view moves the spectrum as far as it can, the other is the graph itself.
    "single" => Single(Spectral), Spectral::check_distance, Spectral::single;
    /// Two views move their spectra as far apart as they can.
    "double" => Double(Spectral), Spectral::check_distance, Spectral::double;
    /// Both views drop nodes so that the spectrum moves as far as it can.
    "node-dropping" => NodeDropping(NodeDropping), NodeDropping::check, NodeDropping::compute;
    /// Edges are removed and added at the same rate everywhere.
    "uniform" => Uniform(Uniform), Uniform::check, Uniform::compute;
    /// Edges between clusters are removed more often than those within.
    "clustered" => Clustered(Clustered), Clustered::check, Clustered::compute;
    /// Edges between central nodes are removed less often: GCA.
    "centrality" => Centrality(CentralityRemoval), CentralityRemoval::check, CentralityRemoval::compute;
    /// The second view is a diffusion of the graph: MVGRL.
    "diffusion" => Diffusion(DiffusionSettings), DiffusionSettings::check, DiffusionSettings::compute;
    /// Nodes are dropped, subgraphs cut out, or edges perturbed: GraphCL.
    "graphcl" => GraphCl(GraphCl), GraphCl::check, GraphCl::compute;
    /// Augmentations that a caller put together, see `Scheme::custom`.
    "custom" => Custom(Custom), Custom::check, Custom::compute;
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
            | SchemeSettings::Double(spectral) => spectral.operator,
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
}
