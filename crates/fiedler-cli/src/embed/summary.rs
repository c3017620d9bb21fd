//! What a run says at its end.

use std::path::Path;

use fiedler_evaluate::{Metric, QuickScore};
use fiedler_experiment::memory;
use fiedler_experiment::run::{PAGE, ResultRecord, RunRecord, method_in_words};
use serde_json::{Value, json};

use crate::table::{Table, count, figure, percent};

/// One object: `run.json` with the folder it lies in.
pub fn json(record: &RunRecord, folder: &str) -> Value {
    let mut value = json!(record);
    value["folder"] = json!(folder);
    value
}

/// A table for people.
pub fn describe(record: &RunRecord, folder: &str) -> String {
    let mut table = Table::new(format!("{}: embedded by {}", record.data.name, method_in_words(&record.settings)));
    let Some(result) = &record.result else { return table.to_string() };
    let what = if record.data.graphs == 1 { "nodes" } else { "graphs" };
    table.row("embeddings", format!("{} {what} × {}", count(result.rows), count(result.columns)));
    if let (Some(first), Some(last)) = (result.first_loss, result.last_loss) {
        let embedded = match result.embedded_epoch {
            Some(epoch) if epoch == result.epochs => "; the last is embedded".to_owned(),
            Some(epoch) => format!("; epoch {}, the best, is embedded", count(epoch)),
            None => String::new(),
        };
        table.row("loss", format!("{first:.4} → {last:.4} in {} epochs{embedded}", count(result.epochs)));
        if let Some(limit) = &record.time_limit {
            table.row("time", limit.in_words());
        }
    }
    for warning in &result.warnings {
        table.row("warning", warning.clone());
    }
    add_scores(&mut table, &result.scores, result.not_judged.as_deref());
    if let Some(verdict) = &result.verdict {
        table.row("verdict", verdict.clone());
    }
    if let Some(auc) = result.edge_auc {
        table.row("edge AUC", format!("{auc:.2}"));
    }
    table.row("took", timing(result));
    table.row("folder", folder);
    let page = Path::new(folder).join(PAGE);
    if page.is_file() {
        table.row("page", page.display().to_string());
    }
    table.to_string()
}

/// Rows of scores, what was asked for first; or why there are none.
pub fn add_scores(table: &mut Table, scores: &[QuickScore], not_judged: Option<&str>) {
    if let Some(reason) = not_judged {
        table.row("note", reason);
    }
    for (at, score) in scores.iter().enumerate() {
        let name = if at == 0 { score.metric.name() } else { "" };
        table.row(name, format!("{} from {}", with_deviation(score), score.of));
    }
    if let Some(score) = scores.first() {
        for (at, part) in score.protocol.split("; ").enumerate() {
            table.row(if at == 0 { "protocol" } else { "" }, part);
        }
    }
}

/// The mean over splits with its deviation, where there are several.
fn with_deviation(score: &QuickScore) -> String {
    match (score.metric, score.std) {
        (Metric::Rmse, None) => figure(score.value),
        (Metric::Rmse, Some(std)) => format!("{} ± {}", figure(score.value), figure(std)),
        (_, None) => percent(score.value),
        (_, Some(std)) => format!("{:.1} ± {:.1} %", 100.0 * score.value, 100.0 * std),
    }
}

fn timing(result: &ResultRecord) -> String {
    let memory = result.peak_bytes.map_or(String::new(), |bytes| format!(", {} at most", memory::in_words(bytes)));
    let what = if result.epochs > 0 { "training" } else { "fitting" };
    let scheme = match result.scheme_seconds {
        seconds if seconds < 0.05 => String::new(),
        seconds => format!("{seconds:.1} s for the scheme, "),
    };
    format!("{scheme}{:.1} s for {what}{memory}", result.training_seconds)
}
