//! A dataset that several runs learn from and are judged by.

use fiedler_evaluate::Target;
use fiedler_graph::{Dataset, catalogue};
use fiedler_learn::data::Level;

use super::fingerprint;
use super::folder::DataRecord;
use crate::program::failure::Failure;
use crate::program::reading::Reading;

/// A dataset with what runs of it are told by.
pub struct Data {
    /// As in print.
    pub title: String,
    /// As in recipes and folders.
    pub name: String,
    pub dataset: Dataset,
    pub target: Target,
    pub record: DataRecord,
    /// Fingerprint of the labels.
    pub labels: String,
}

impl Data {
    pub fn new(title: String, source: &str, reading: &Reading, dataset: Dataset) -> Result<Data, Failure> {
        let plain = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
        let name = canonical(source).chars().map(plain).collect();
        let target = Target::of(&dataset)?;
        let labels = fingerprint::of_labels(&target.labels);
        let record = DataRecord::new(source.to_owned(), reading.clone(), &dataset);
        Ok(Data { title, name, dataset, target, record, labels })
    }

    pub fn level(&self) -> Level {
        if self.dataset.graphs.len() == 1 { Level::Nodes } else { Level::Graphs }
    }
}

/// The one name that all spellings of a dataset have.
pub fn canonical(name: &str) -> String {
    catalogue::find(name).map_or_else(|_| name.to_owned(), |entry| entry.name.clone())
}
