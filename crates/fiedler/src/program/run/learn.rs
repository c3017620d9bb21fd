//! One run of several that share schemes, from its record to a finished folder.

use fiedler_learn::data::Supervision;
use fiedler_learn::run::Outcome;

use super::data::Data;
use super::folder::{Folder, Record, ResultRecord, TableFormat};
use super::schemes::Schemes;
use super::train;
use crate::program::failure::Failure;
use crate::program::output::Output;

/// Learns, going on where an earlier attempt stopped, and leaves a finished run.
pub fn learn(
    mut record: Record,
    data: &Data,
    folder: &Folder,
    schemes: &Schemes<'_>,
    supervision: Option<Supervision<'_>>,
    formats: &[TableFormat],
    output: &Output,
) -> Result<Outcome, Failure> {
    if folder.record()?.is_none() {
        folder.begin(&record)?;
    }
    folder.sweep()?;
    let scheme = match record.settings.method.views() {
        0 => None,
        _ => Some(schemes.get(&data.name, &record.settings.scheme.0, &data.dataset.graphs)?),
    };
    let mut checkpoint = folder.checkpoint_of(&record)?;
    if let Some(Supervision { split, .. }) = supervision {
        checkpoint.run += &format!(" {} {}", data.labels, split.fingerprint());
    }
    let of_scheme = scheme.as_ref().map(|computed| &computed.scheme);
    let outcome = train(&record.settings, &data.dataset, of_scheme, supervision, &checkpoint, output)?;
    record.finished = true;
    let scheme_seconds = scheme.map_or(0.0, |computed| computed.seconds);
    record.result = Some(ResultRecord::new(&outcome, scheme_seconds, Vec::new()));
    folder.finish(&record, &outcome, &data.dataset, formats)?;
    Ok(outcome)
}
