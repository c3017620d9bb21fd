//! The page of a fine-tuning.

use std::path::Path;

use fiedler_graph::Observer;
use fiedler_report::{FinetunePage, LearningCurve, Page};

use super::run::{curve, tell_failure, write_page};
use crate::error::{Error, ErrorKind, Result};
use crate::finetune::FinetuneRecord;
use crate::run::PAGE;
use crate::settings_tree;

/// The page of a fine-tuning that came to its end, from what lies in its folder.
pub fn page(folder: &Path) -> Result<Page> {
    let record = FinetuneRecord::read(folder)?.filter(|record| record.finished);
    let Some((record, score)) = record.and_then(|record| record.score.clone().map(|score| (record, score))) else {
        let message = format!("{} holds no fine-tuning that has come to its end", folder.display());
        return Err(Error::new(ErrorKind::Usage, message, "go on with it: --resume".to_owned()));
    };
    let mut runs = Vec::new();
    for run in &record.runs {
        let epochs = curve(&folder.join(&run.folder))?;
        runs.push(LearningCurve {
            seed: run.seed,
            split: run.score.name.clone(),
            scores: [run.score.value, run.score.validation],
            kept_epoch: run.kept_epoch,
            losses: [
                epochs.iter().map(|epoch| epoch.loss).collect(),
                epochs.iter().filter_map(|epoch| epoch.validation).collect(),
            ],
        });
    }
    let entries = settings_tree::entries(&record.plan.settings).unwrap_or_default();
    let of_page = FinetunePage {
        data: record.data.name.clone(),
        start: record.start_in_words(),
        mode: record.mode(),
        metric: score.metric.name().into(),
        score: [(score.mean, score.std), (score.validation_mean, score.validation_std)],
        protocol: score.description,
        runs,
        settings: entries.into_iter().map(|entry| (entry.key, entry.value)).collect(),
        commands: vec![("Makes this page again:".to_owned(), format!("fiedler report {}", folder.display()))],
    };
    let mut page = super::page(format!("{}: fine-tuned", of_page.data), of_page.lead());
    page.extend(of_page.sections());
    Ok(page)
}

/// Leaves the page in the folder; nothing that goes wrong here is worth losing a result for.
pub fn leave(folder: &Path, observer: &dyn Observer) {
    tell_failure(page(folder).and_then(|page| write_page(&page, &folder.join(PAGE))), observer);
}
