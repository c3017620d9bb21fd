//! Every dataset of the paper by name: where it is published, and where it lies on this machine.
//!
//! [`open`] finds a dataset in the folders of `FIEDLER_DATA` or in the cache, in the layouts that the publishers and the common
//! libraries leave behind, and reads it. With the feature `fetch`, `fetch` downloads it into the cache.
//!
//! ```
//! use fiedler_io::catalogue;
//!
//! let cora = catalogue::find("Cora")?;
//! assert_eq!((cora.name.as_str(), cora.counts.nodes), ("cora", Some(2708)));
//! assert_eq!(catalogue::find("rdt_b")?.name, "reddit-binary");
//! # Ok::<(), fiedler_io::Error>(())
//! ```

mod counts;
mod entry;
#[cfg(feature = "fetch")]
mod fetch;
mod locate;

pub use counts::Counts;
pub use entry::{Entry, Kind, Published, entries, find, parse};
#[cfg(feature = "fetch")]
pub use fetch::{FetchSettings, Progress, Silent, fetch};
pub use locate::{Located, cache_folder, folders, locate, locate_in};

use fiedler_graph::Dataset;

use crate::error::Result;
use crate::read::{self, ReadOptions};

/// Finds a dataset by its name and reads it.
///
/// Where the numbers read differ from the published ones, a note in the report says so.
///
/// # Errors
/// When no dataset has the name, it is not on this machine, or it cannot be read.
pub fn open(name: &str, options: &ReadOptions) -> Result<Dataset> {
    let entry = find(name)?;
    let located = locate_in(entry, &folders())?;
    entry.read(&located, options)
}

impl Entry {
    /// Reads this dataset from where it was found; a format in the options overrides the one it was found in.
    ///
    /// # Errors
    /// As [`read::read`].
    pub fn read(&self, located: &Located, options: &ReadOptions) -> Result<Dataset> {
        let mut options = options.clone();
        options.format.get_or_insert_with(|| located.format.clone());
        let mut dataset = read::read(&located.path, &options)?;
        dataset.name.clone_from(&self.name);
        // A sample is not what was published.
        if options.sample.is_none() {
            let notes = self.counts.differences(&dataset);
            dataset.report.notes.extend(notes);
        }
        Ok(dataset)
    }
}
