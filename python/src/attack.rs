//! Attacks on graphs.

use std::sync::Arc;

use fiedler_experiment::attack::{AttackPlan, FinishedAttack, SplitChoice, settings_of};
use fiedler_experiment::{Error, ErrorKind};
use pyo3::prelude::*;

use crate::dataset::RawDataset;
use crate::work;

/// The poisoned dataset, and what `attack.json` holds.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn attack(
    py: Python<'_>,
    dataset: RawDataset,
    method: String,
    ratio: f64,
    split: Option<String>,
    settings: Vec<String>,
    seed: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(RawDataset, String)> {
    let task = Arc::clone(&dataset.task);
    let (poisoned, record) = work::run(py, progress, move |observer| {
        let plan = AttackPlan {
            settings: settings_of(&method, Some(ratio), seed, &settings)?,
            dataset: &task.dataset,
            data: task.record.clone(),
            split: split.as_deref().map(SplitChoice::from),
            seed,
            out: None,
            force: false,
            command: "fiedler.attack".into(),
        };
        let FinishedAttack { record, poisoned, .. } = plan.run(observer)?;
        let record = serde_json::to_string(&record)
            .map_err(|error| Error::new(ErrorKind::Unexpected, format!("the record of the attack: {error}"), None))?;
        Ok((poisoned, record))
    })?;
    Ok((RawDataset::new(py, poisoned)?, record))
}
