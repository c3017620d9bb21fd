//! Experiments of self-supervised learning on graphs: data opened once, settings from recipes, runs in folders, searches, tables, pages.
//!
//! Everything that the program `fiedler` does beyond arguments and words is here. Progress, notes and interruption go through one
//! [`Observer`](fiedler_graph::Observer); failures are one [`Error`] with a kind and a hint. Nothing is printed, and nothing reads the
//! command line.
//!
//! ```
//! use fiedler_experiment::run::{Existing, RunFolder, RunPlan};
//! use fiedler_evaluate::QuickProbe;
//! use fiedler_experiment::{ReadOptions, Task, recipe, settings_tree};
//! use fiedler_graph::NoObserver;
//!
//! let task = Task::open("karate", &ReadOptions::default(), 0, &NoObserver)?;
//! let settings = settings_tree::assign(&recipe::get("span-small")?.settings, ["training.epochs=3"])?;
//! let probe = QuickProbe::new(&task.dataset, 0);
//! let plan = RunPlan { probe: probe.as_ref(), ..RunPlan::new(&task, settings) };
//! let place = tempfile::tempdir().expect("a folder");
//! let run = plan.check()?.fit(&RunFolder::new(place.path()), Existing::Refuse, &NoObserver)?;
//! assert_eq!(run.outcome.embeddings.rows(), 34);
//! # Ok::<(), fiedler_experiment::Error>(())
//! ```

pub mod attack;
mod error;
mod evaluation;
pub mod finetune;
pub mod import;
pub mod memory;
mod named;
mod observe;
mod open;
pub mod pages;
pub mod recipe;
pub mod run;
pub mod scheme_export;
mod scheme_store;
pub mod search;
pub mod settings_tree;
pub mod tables;
mod task;
mod unreadable;

pub use error::{Error, ErrorKind, Result};
pub use evaluation::{FileScore, evaluate_file, read_labels};
pub use fiedler_io::ReadOptions;
pub use named::Named;
pub use open::{BUILT_IN, open_observed, weights_in_words};
pub use scheme_store::{ComputedScheme, SchemeStore, SchemeTiming, compute_scheme, load_scheme, save_scheme};
pub use task::{DataRecord, Task, canonical};
