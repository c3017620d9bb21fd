//! Pictures, tables and self-contained pages of graphs, augmentation schemes and runs.
//!
//! A [`Figure`] is a picture with its words; it stands in a page, or alone as a file for a paper. A [`Table`] is rows for a page,
//! for csv, markdown and LaTeX. What is known of something becomes [`Section`]s ([`GraphPage`], [`SchemePage`], [`RunPage`],
//! [`Comparison`], [`ExperimentPage`]), and sections become a [`Page`]: one HTML file that asks nothing of a network.
//!
//! ```
//! use fiedler_graph::generate;
//! use fiedler_report::{GraphPage, Page};
//!
//! let karate = generate::karate_club();
//! let graph = GraphPage::of(&karate, 0, false)?;
//! let mut page = Page { title: "The karate club".into(), lead: graph.lead(), ..Page::default() };
//! page.extend(graph.sections());
//! let html = page.to_html()?;
//! assert!(html.contains("One graph of 34 nodes and 78 edges") && html.contains("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attack;
mod changes;
mod comparison;
mod connectivity;
mod digest;
pub mod drawing;
mod error;
mod experiment;
mod figure;
mod finetune;
mod graph;
mod markup;
pub mod number;
mod page;
pub mod plane;
pub mod plot;
#[cfg(feature = "png")]
mod png;
mod result_table;
mod run;
mod scheme;
mod spectra;
mod table;
pub mod theme;

pub use attack::{AttackPage, FlipRow, SuspectRow};
pub use changes::Probabilities;
pub use comparison::Comparison;
pub use error::{Error, Result};
pub use experiment::{ConvergencePage, Entry, ExperimentPage};
pub use figure::Figure;
pub use finetune::{FinetunePage, LearningCurve};
pub use graph::{GraphPage, classes};
pub use markup::{escape, slug};
pub use page::{Fact, Page, Section};
pub use result_table::{ResultEntry, ResultTable};
pub use run::{Plane, RunPage, ScoreRow};
pub use scheme::SchemePage;
pub use spectra::Eigenvalues;
pub use table::{Cell, Table};
