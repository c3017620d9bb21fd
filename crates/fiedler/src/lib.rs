//! Self-supervised learning on graphs, guided by the graph's spectrum.
//!
//! A built-in graph in, embeddings out, and how well classes can be told from them:
//!
//! ```
//! use fiedler::experiment::{QuickProbe, ReadOptions, Task, recipe, settings_tree};
//! use fiedler::graph::NoObserver;
//! use fiedler::learn::run::Run;
//!
//! let task = Task::open("citation", &ReadOptions::default(), 0, &NoObserver)?;
//! let settings = settings_tree::assign(&recipe::get("default")?.settings, ["training.epochs=5"])?;
//! let scheme = settings.scheme.0.compute(&task.dataset.graphs, &|_| true)?;
//! let embeddings = Run::new(&settings, &task.dataset, Some(&scheme)).run()?.embeddings;
//! let score = QuickProbe::new(&task, 0).expect("labels").score("span", &embeddings)?;
//! assert!(embeddings.rows() == 1000 && score.value > 0.4, "{score:?}");
//! # Ok::<(), fiedler::experiment::Error>(())
//! ```
//!
//! This crate gathers the others under one name. Data flow one way through them: [`graph`] → [`spectral`] → [`augment`] → [`learn`] →
//! [`evaluate`] → [`report`]; [`experiment`] puts them together into runs, searches and tables. The program `fiedler` is the crate
//! `fiedler-cli`. The features `png`, `fetch`, `parquet` and `molecules` are off unless asked for.

pub use fiedler_augment as augment;
pub use fiedler_evaluate as evaluate;
pub use fiedler_experiment as experiment;
pub use fiedler_graph as graph;
pub use fiedler_learn as learn;
pub use fiedler_report as report;
pub use fiedler_spectral as spectral;
