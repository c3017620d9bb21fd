//! A table: what was found beside what the paper prints.

use fiedler_evaluate::{mean_and_deviation, paired_test};
use fiedler_report::{ResultEntry, ResultTable};
use serde::{Deserialize, Serialize};

use super::paper::{self, PrintedFigure};
use fiedler_evaluate::ProtocolPreset;

/// The results of one experiment under one protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Name of the table.
    pub experiment: String,
    /// As in print.
    pub title: String,
    /// How runs were evaluated.
    #[serde(alias = "ledger")]
    pub protocol: ProtocolPreset,
    /// What it is made with beside its datasets, such as data to pre-train on and the size; tables that differ in it are not put together.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub setup: String,
    /// What the figures are.
    pub unit: String,
    /// Rows in their order.
    pub rows: Vec<String>,
    /// Columns in their order.
    pub datasets: Vec<String>,
    /// What was found.
    pub entries: Vec<Entry>,
    /// What a reader should know, one sentence each.
    pub notes: Vec<String>,
    /// Rows without training: a row below one of them is named.
    #[serde(default)]
    pub floors: Vec<String>,
    /// The commands that led here.
    pub commands: Vec<String>,
    /// Version of the program.
    pub version: String,
}

/// One row on one dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The column.
    pub dataset: String,
    /// The row.
    pub row: String,
    /// The recipe its settings came from.
    pub recipe: String,
    /// What that says of itself.
    pub about: String,
    /// A fingerprint of the settings.
    pub settings: String,
    /// How its runs were judged, in words.
    pub judged: String,
    /// Hash of the data: edges, then features.
    pub data: String,
    /// Hashes of the splits that its runs were judged on, in the order of seeds.
    pub splits: Vec<String>,
    /// What was found.
    pub values: Vec<Value>,
    /// What the paper prints.
    pub paper: Option<PrintedFigure>,
    /// The row that it is compared with.
    pub against: Option<String>,
    /// Whether a smaller value is a better one.
    #[serde(default)]
    pub lower_is_better: bool,
    /// What was found on every split, where only their mean counts.
    #[serde(default)]
    pub folds: Vec<Value>,
    /// Where the figure lies with 95 % confidence by the bootstrap over test items: the mean of the ends over seeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Test items over training items of a split, where all splits have the same.
    #[serde(default)]
    pub test_to_train: Option<f64>,
    /// Runs that failed, and why.
    pub failed: Vec<String>,
}

/// What the run of a seed came to, on one split where every split counts by itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// The seed.
    pub seed: u64,
    /// The split.
    #[serde(default)]
    pub split: usize,
    /// What was measured.
    pub value: f64,
}

/// A difference of means, and how many standard errors that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The difference.
    pub of_means: f64,
    /// The same in standard errors.
    pub standard_errors: f64,
}

impl Entry {
    /// What was found, seed by seed and split by split.
    pub fn values(&self) -> Vec<f64> {
        self.values.iter().map(|value| value.value).collect()
    }

    /// Number of seeds.
    pub fn num_seeds(&self) -> usize {
        let mut seeds: Vec<u64> = self.values.iter().map(|value| value.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds.len()
    }

    /// Mean and sample deviation over seeds and their splits.
    pub fn mean_and_deviation(&self) -> Option<(f64, f64)> {
        (!self.values.is_empty()).then(|| mean_and_deviation(&self.values()))
    }

    /// Ours less the paper's, in standard errors as Welch has them; not told of a single run.
    pub fn paper_difference(&self) -> Option<Difference> {
        let (mean, std) = self.mean_and_deviation().filter(|_| self.values.len() > 1)?;
        let PrintedFigure { mean: printed, std: of_printed } = self.paper?;
        let square = |std: f64, runs: usize| std * std / runs as f64;
        let error = (square(std, self.values.len()) + square(of_printed?, paper::RUNS)).sqrt();
        difference(mean - printed, error)
    }

    /// This row less another, from the differences of equal seeds and splits.
    pub fn difference_from(&self, other: &Entry) -> Option<Difference> {
        let pairs = |ours: &[Value], theirs: &[Value]| -> Vec<f64> {
            let pair = |ours: &Value| {
                let same = theirs.iter().find(|theirs| (theirs.seed, theirs.split) == (ours.seed, ours.split))?;
                Some(ours.value - same.value)
            };
            ours.iter().filter_map(pair).collect()
        };
        // Folds overlap in what they are trained on, and seeds in everything: the test is corrected for that.
        if let Some(test_to_train) = self.test_to_train.filter(|_| !self.folds.is_empty()) {
            let test = paired_test(&pairs(&self.folds, &other.folds), test_to_train)?;
            return Some(Difference { of_means: test.mean, standard_errors: test.t });
        }
        let pairs = pairs(&self.values, &other.values);
        if pairs.len() < 2 {
            return None;
        }
        let (mean, std) = mean_and_deviation(&pairs);
        difference(mean, std / (pairs.len() as f64).sqrt())
    }
}

/// The mean of the ends of several intervals; none where there are none.
pub fn mean_interval(intervals: &[[f64; 2]]) -> Option<[f64; 2]> {
    let mean = |end: usize| intervals.iter().map(|ends| ends[end]).sum::<f64>() / intervals.len() as f64;
    (!intervals.is_empty()).then(|| [mean(0), mean(1)])
}

fn difference(of_means: f64, error: f64) -> Option<Difference> {
    (error > 0.0).then(|| Difference { of_means, standard_errors: of_means / error })
}

impl Table {
    /// What stands in a row and a column.
    pub fn entry(&self, dataset: &str, row: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.dataset == dataset && entry.row == row)
    }

    /// How an entry compares with the row that it is compared with.
    pub fn against(&self, entry: &Entry) -> Option<Difference> {
        entry.difference_from(self.entry(&entry.dataset, entry.against.as_ref()?)?)
    }

    /// The table as it is printed, with means, differences and footnotes.
    pub fn results(&self) -> ResultTable {
        ResultTable {
            name: self.experiment.clone(),
            title: self.title.clone(),
            protocol: self.protocol.name().into(),
            unit: self.unit.clone(),
            rows: self.rows.clone(),
            datasets: self.datasets.clone(),
            entries: self.entries.iter().map(|entry| self.result(entry)).collect(),
            footnotes: self.footnotes(),
        }
    }

    fn result(&self, entry: &Entry) -> ResultEntry {
        let found = entry.mean_and_deviation();
        let from_row = self.against(entry);
        ResultEntry {
            found: fiedler_report::Entry {
                dataset: entry.dataset.clone(),
                row: entry.row.clone(),
                mean: found.map(|(mean, _)| mean),
                deviation: found.map(|(_, std)| std),
                seeds: entry.num_seeds(),
                paper: entry.paper.map(|paper| paper.mean),
                paper_deviation: entry.paper.and_then(|paper| paper.std),
                from_paper: entry.paper_difference().map(|found| found.standard_errors),
                interval: entry.interval,
                against: entry.against.clone().unwrap_or_default(),
                difference: from_row.map(|found| found.of_means),
                from_row: from_row.map(|found| found.standard_errors),
            },
            values: entry.values(),
            failed: !entry.failed.is_empty(),
            recipe: entry.recipe.clone(),
            settings: entry.settings.clone(),
            splits: entry.splits.clone(),
        }
    }

    /// What stands below the table.
    fn footnotes(&self) -> Vec<String> {
        let mut notes = vec![
            "Ours: mean ± sample deviation over seeds, or seeds × splits; their number in parentheses.".to_owned(),
        ];
        if self.entries.iter().any(|entry| entry.paper.is_some()) {
            notes.push(format!(
                "Difference: (ours − paper) / √(s₁²/n₁ + s₂²/n₂), with n₂ = {} as the paper says; not told of a single run.",
                paper::RUNS
            ));
        }
        if self.entries.iter().any(|entry| entry.against.is_some()) {
            notes.push(
                "Less another row: the mean of the differences of equal seeds and splits, over its standard error; splits of one \
                 seed overlap, so that the error is somewhat too small."
                    .to_owned(),
            );
        }
        if self.entries.iter().any(|entry| entry.interval.is_some()) {
            notes.push(
                "Interval: 95 %, by the bootstrap over test items, the mean of its ends over seeds: what other test items of the same kind would \
                 change, which seeds do not show."
                    .to_owned(),
            );
        }
        let corrected = |entry: &Entry| entry.test_to_train.is_some() && !entry.folds.is_empty();
        if self.entries.iter().any(|entry| corrected(entry) && entry.against.is_some()) {
            notes.push(
                "Where folds are known, differences are those of equal seeds and folds, and their error is corrected for training sets that \
                 overlap (Nadeau and Bengio)."
                    .to_owned(),
            );
        }
        notes.extend(self.notes.iter().cloned());
        notes.extend(self.below_floors());
        for entry in &self.entries {
            notes.extend(entry.failed.iter().map(|why| format!("{}, {}: {why}", entry.dataset, entry.row)));
        }
        notes
    }

    /// For each dataset the rows that are worse than a row without training.
    fn below_floors(&self) -> Vec<String> {
        let below = |dataset: &String| {
            let of_row = |row: &String| self.entry(dataset, row);
            let found = |entry: &Entry| {
                let sign = if entry.lower_is_better { -1.0 } else { 1.0 };
                entry.mean_and_deviation().map(|(mean, _)| sign * mean)
            };
            let floors = self.floors.iter().filter_map(of_row).filter_map(|entry| Some((found(entry)?, &entry.row)));
            let (bar, best) = floors.max_by(|one, other| one.0.total_cmp(&other.0))?;
            let is_below = |row: &&String| {
                !self.floors.contains(row) && of_row(row).and_then(found).is_some_and(|value| value < bar)
            };
            let rows: Vec<&str> = self.rows.iter().filter(is_below).map(String::as_str).collect();
            (!rows.is_empty()).then(|| format!("{dataset}: below {best}, which is not trained: {}.", rows.join(", ")))
        };
        self.datasets.iter().filter_map(below).collect()
    }

    /// One object: the table with means and differences filled in.
    pub fn to_json(&self) -> serde_json::Value {
        let mut value = serde_json::json!(self);
        for (at, entry) in self.entries.iter().enumerate() {
            let found = entry.mean_and_deviation();
            value["entries"][at]["mean"] = serde_json::json!(found.map(|(mean, _)| mean));
            value["entries"][at]["std"] = serde_json::json!(found.map(|(_, std)| std));
            value["entries"][at]["from_paper"] = serde_json::json!(entry.paper_difference());
            value["entries"][at]["from_row"] = serde_json::json!(self.against(entry));
        }
        value
    }

    /// Takes over what an earlier table has and this one has not, so that several commands can fill one table.
    pub fn merge(&mut self, earlier: Table) {
        if (&earlier.experiment, earlier.protocol) != (&self.experiment, self.protocol) {
            return;
        }
        for entry in earlier.entries {
            if self.entry(&entry.dataset, &entry.row).is_none() {
                self.entries.push(entry);
            }
        }
        let mut commands = earlier.commands;
        commands.retain(|command| !self.commands.contains(command));
        commands.append(&mut self.commands);
        self.commands = commands;
        include(&mut self.rows, earlier.rows);
        include(&mut self.datasets, earlier.datasets);
        include(&mut self.notes, earlier.notes);
    }
}

/// Puts what is missing where it stood before, after what it followed.
fn include(names: &mut Vec<String>, earlier: Vec<String>) {
    let mut place = 0;
    for name in earlier {
        match names.iter().position(|known| *known == name) {
            Some(known) => place = known + 1,
            None => {
                names.insert(place, name);
                place += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(values: &[f64], paper: Option<PrintedFigure>) -> Entry {
        let values =
            values.iter().enumerate().map(|(seed, &value)| Value { seed: seed as u64, split: 0, value }).collect();
        Entry {
            dataset: "Cora".into(),
            row: "GCL-SPAN".into(),
            recipe: String::new(),
            about: String::new(),
            settings: String::new(),
            judged: String::new(),
            data: String::new(),
            splits: Vec::new(),
            values,
            paper,
            against: None,
            lower_is_better: false,
            folds: Vec::new(),
            interval: None,
            test_to_train: None,
            failed: Vec::new(),
        }
    }

    #[test]
    fn differences_are_told_in_standard_errors() {
        let paper = PrintedFigure { mean: 80.0, std: Some(1.0) };
        let found =
            entry(&[82.0, 84.0], Some(paper)).paper_difference().map(|found| (found.of_means, found.standard_errors));
        // The deviation of 82 and 84 is √2, so the error is √(2/2 + 1/10).
        assert_eq!(found, Some((3.0, 3.0 / 1.1f64.sqrt())));
        assert_eq!(entry(&[82.0], Some(paper)).paper_difference(), None);
        let paired = entry(&[82.0, 84.0], None).difference_from(&entry(&[81.0, 81.0], None));
        assert_eq!(paired, Some(Difference { of_means: 2.0, standard_errors: 2.0 }));
    }

    #[test]
    fn names_keep_their_places() {
        let mut names = vec!["a".to_owned(), "d".to_owned()];
        include(&mut names, ["a", "b", "d", "e"].map(str::to_owned).to_vec());
        assert_eq!(names, ["a", "b", "d", "e"]);
    }
}
