//! What a search writes: all trials, the best settings as a recipe, and a summary.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use fiedler_evaluate::Metric;
use fiedler_io::AtomicFiles;

use super::Search;
use super::space::Choice;
use super::trials::Trial;
use crate::error::{Error, ErrorKind, Result};
use crate::recipe::{self, RecipeHeader};

/// Trials that the summary lists.
const LISTED: usize = 10;

/// Writes `trials.csv`, `best.toml` and `summary.md`.
pub fn write(search: &Search<'_>, trials: &[Trial]) -> Result<()> {
    let out = &search.out;
    let refuse = |error: String| Error::new(ErrorKind::Output, format!("cannot write the trials: {error}"), None);
    let csv = csv(trials).map_err(|error| refuse(error.to_string()))?;
    let mut targets = AtomicFiles::new(true);
    targets.write(&out.join("trials.csv"), |file| file.write_all(&csv))?;
    targets.write(&out.join("summary.md"), |file| file.write_all(summary(search, trials).as_bytes()))?;
    if let Some(best) = trials.iter().find(|trial| trial.valid().is_some()) {
        let text = recipe::to_text(&header(search, best), &best.settings)?;
        targets.write(&best_path(out), |file| file.write_all(text.as_bytes()))?;
    }
    targets.finish()?;
    Ok(())
}

/// What the recipe says of itself.
fn header(search: &Search<'_>, best: &Trial) -> RecipeHeader {
    let (mean, std) = best.valid().unwrap_or_default();
    let source = format!(
        "{}: found by a search of {} runs, protocol {}, by the validation set only. Trial {}. Searched by: {}",
        search.task.name,
        search.runs(),
        search.protocol.name(),
        best.number,
        search.command,
    );
    let shown = shown(mean, Some(std), search.metric());
    RecipeHeader {
        title: search.task.title.clone(),
        datasets: vec![search.task.name.clone()],
        source,
        protocol: Some(search.protocol),
        result: Some(format!("validation {shown} ({} seeds)", best.found.len())),
    }
}

fn csv(trials: &[Trial]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names =
        trials.first().map(|trial| trial.choices.iter().map(|choice| choice.name.as_str())).into_iter().flatten();
    writer.write_record(
        ["trial", "seeds", "validation_mean", "validation_std", "seconds", "failed"].into_iter().chain(names),
    )?;
    for trial in trials {
        let found = trial.valid();
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let first = [
            trial.number.to_string(),
            trial.found.len().to_string(),
            number(found.map(|(mean, _)| mean)),
            number(found.map(|(_, std)| std)),
            format!("{:.1}", trial.seconds()),
            trial.failed.clone().unwrap_or_default(),
        ];
        writer.write_record(first.into_iter().chain(trial.choices.iter().map(Choice::text)))?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// What was searched and what came of it.
pub fn summary(search: &Search<'_>, trials: &[Trial]) -> String {
    let mut out = format!("# Settings for {}\n\n", search.task.title);
    let rounds: Vec<String> = search.rounds.iter().map(ToString::to_string).collect();
    let _ = writeln!(
        out,
        "The first trial has the settings given; others change about a quarter of the choices of one of the three best so far, and one in \
         five draws all of them anew (seed {}). Then halving: rounds of {} trials with 1, 3 and 7 seeds in all; {} runs. Judged by {} on the \
         validation set, of ten splits a run where they are random: {}. Of every split the labels of its test set were taken away before \
         anything was computed. Splits have seeds from {}, other ones than tables are made from; random splits and folds overlap all the \
         same, so that an item of a validation set here may be one of a test set there. Only a published split keeps them apart altogether.\n",
        search.seed,
        rounds.join(", "),
        search.runs(),
        search.metric(),
        search.task.labelled().map_or(String::new(), |target| search.protocol.describe(target)),
        super::FIRST_SEED,
    );
    let _ = writeln!(out, "Command: `{}`\n\n| setting | values |\n|---|---|", search.command);
    for (name, values) in search.space.axes() {
        let _ = writeln!(out, "| {name} | {} |", values.join(", "));
    }
    let _ = writeln!(out, "\n| trial | seeds | {} | choices |\n|---:|---:|---:|---|", search.metric());
    for trial in trials.iter().take(LISTED) {
        let choices: Vec<String> =
            trial.choices.iter().map(|choice| format!("{} {}", choice.name, choice.text())).collect();
        let value = match (trial.valid(), &trial.failed) {
            (Some((mean, std)), _) => shown(mean, Some(std), search.metric()),
            (None, Some(why)) => why.clone(),
            (None, None) => "…".into(),
        };
        let _ = writeln!(out, "| {} | {} | {value} | {} |", trial.number, trial.found.len(), choices.join(", "));
    }
    out
}

/// A mean with its deviation; shares in per cent.
pub fn shown(mean: f64, std: Option<f64>, metric: Metric) -> String {
    let (scale, digits, unit) = if metric == Metric::Rmse { (1.0, 4, "") } else { (100.0, 2, " %") };
    let spread = std.map_or(String::new(), |std| format!(" ± {:.digits$}", scale * std));
    format!("{:.digits$}{spread}{unit}", scale * mean)
}

/// Where the best settings are.
pub fn best_path(out: &Path) -> PathBuf {
    out.join("best.toml")
}
