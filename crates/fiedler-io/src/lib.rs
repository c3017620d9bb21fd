//! Files to graphs and back: readers and writers of every format graph benchmarks are published in, and a catalogue of known datasets.
//!
//! The path of the data: [`open`] takes a path, a name of the [`catalogue`], a generator's line, or one of a [`transform`] of any of them. A path becomes a [`DataSource`] (a
//! file, a folder, a zip, all the same), the first of [`read::FORMATS`] that recognizes it reads it, and out comes a
//! [`Dataset`](fiedler_graph::Dataset). [`write`](mod@write) puts a dataset back into files. [`tables`] reads labels and embeddings that
//! stand by themselves. All files are written by way of [`atomic`]: whole or not at all.
//!
//! ```
//! use fiedler_io::{ReadOptions, WriteOptions, open, write};
//!
//! let karate = open("karate", &ReadOptions::default(), 0)?;
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("karate.graphml");
//! write::write(&karate, &path, &WriteOptions::default())?;
//!
//! let again = open(&path.to_string_lossy(), &ReadOptions::default(), 0)?;
//! assert_eq!(again.report.format, "graphml");
//! assert_eq!(again.graphs.fingerprint(), karate.graphs.fingerprint());
//! # Ok::<(), fiedler_io::Error>(())
//! ```
//!
//! Readers trust no count in a file, never execute anything, and say where a file is wrong ([`Place`](error::Place)) and what to do.
//!
//! | feature | what it adds |
//! |---|---|
//! | `fetch` | `catalogue::fetch` downloads datasets (TLS) |
//! | `molecules` | tables of SMILES are read (chemistry by `chematic`) |
//! | `parquet` | tables in parquet files are read and written |

pub mod atomic;
pub mod catalogue;
pub mod compact;
pub mod error;
pub mod input;
pub mod molecule;
mod open;
pub mod read;
mod role;
mod split_words;
pub mod tables;
pub mod transform;
pub mod write;

pub use atomic::AtomicFiles;
pub use error::{Error, Result};
pub use input::DataSource;
pub use open::open;
pub use read::ReadOptions;
pub use write::WriteOptions;
