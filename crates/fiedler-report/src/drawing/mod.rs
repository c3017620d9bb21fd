//! Drawings of graphs: where nodes stand, and what a scheme would do to the edges.
//!
//! [`Subject`] is a graph with the [`View`]s that a scheme has of it, and [`drawings`] makes a picture of both. Nodes stand where
//! their positions say, else where [`layout`] puts them; of a large graph a [`neighborhood`] is drawn.
//!
//! ```
//! use fiedler_augment::scheme::{SchemeSettings, Spectral};
//! use fiedler_graph::{NoObserver, generate};
//! use fiedler_report::drawing::{Subject, drawings};
//!
//! let karate = generate::karate_club();
//! let scheme = SchemeSettings::Opposite(Spectral::default()).compute(&karate.graphs, &NoObserver)?;
//! let graph = karate.graphs.graph(0);
//! let figures = drawings(&Subject::of(&karate, 0, &graph, &scheme), None)?;
//! assert!(figures[0].svg.contains("pushes the spectral norm up"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod effect;
mod groups;
pub mod layout;
mod legend;
pub mod neighborhood;
mod pack;
mod panel;
mod scene;
mod sheet;
mod subject;
mod svg;
mod view;

pub use effect::Effects;
pub use groups::Groups;
pub use sheet::drawings;
pub use subject::{MOST_EDGES, MOST_NODES, NEIGHBOURHOOD, Subject};
pub use view::View;
