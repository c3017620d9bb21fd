//! What a page says of a fine-tuning: scores of every seed and split, and learning curves.

use crate::figure::Figure;
use crate::number::figure;
use crate::page::{Fact, Section};
use crate::plot::{Axis, Line, Lines, Point};
use crate::run::settings_table;
use crate::table::{Cell, Table};

/// A fine-tuning in figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FinetunePage {
    /// The dataset.
    pub data: String,
    /// What it started from, in words.
    pub start: String,
    /// What was trained: `full`, `frozen` or `head-first`.
    pub mode: String,
    /// Name of the metric.
    pub metric: String,
    /// Mean and deviation over all runs, on the test set and on the validation set.
    pub score: [(f64, f64); 2],
    /// How it was judged.
    pub protocol: String,
    /// The runs, one for each seed and split.
    pub runs: Vec<LearningCurve>,
    /// Settings by their names.
    pub settings: Vec<(String, String)>,
    /// Commands, each with what it does.
    pub commands: Vec<(String, String)>,
}

/// How the run of one seed and split went.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LearningCurve {
    /// The seed.
    pub seed: u64,
    /// Name of the split.
    pub split: String,
    /// The metric on the test set and on the validation set.
    pub scores: [f64; 2],
    /// The epoch whose weights were kept.
    pub kept_epoch: Option<usize>,
    /// Loss of training, and on the validation set where it was looked at, after each epoch.
    pub losses: [Vec<f32>; 2],
}

impl FinetunePage {
    /// What came of it.
    pub fn lead(&self) -> String {
        let [(mean, std), _] = self.score;
        format!(
            "{} predicted by an encoder that started from {}; {} {} over {} runs.",
            self.data,
            self.start,
            self.metric,
            self.with_deviation(mean, std),
            self.runs.len()
        )
    }

    /// The sections: results, and how it was made.
    pub fn sections(&self) -> Vec<Section> {
        let mut results = Section::new("results", "Results");
        results.facts = ["test", "validation"]
            .iter()
            .zip(self.score)
            .map(|(part, (mean, std))| {
                Fact::new(format!("{} on {part}", self.metric), Cell::number(mean, self.with_deviation(mean, std)))
            })
            .collect();
        results.facts.push(Fact::new("trained", Cell::words(self.mode.clone())));
        results.facts.push(Fact::new("runs", Cell::count(self.runs.len())));
        results.figures.extend(self.curves());
        results.tables.push(self.table());
        let mut made = Section::new("settings", "Settings, and how to repeat it");
        made.commands = self.commands.clone();
        made.tables.push(settings_table(&self.settings));
        vec![results, made]
    }

    fn scale(&self) -> f64 {
        if self.metric == "rmse" { 1.0 } else { 100.0 }
    }

    fn with_deviation(&self, mean: f64, std: f64) -> String {
        let (scale, unit) = (self.scale(), if self.metric == "rmse" { "" } else { " %" });
        let deviation = if self.runs.len() > 1 { format!(" ± {:.2}", scale * std) } else { String::new() };
        format!("{}{deviation}{unit}", figure(scale * mean))
    }

    /// The mean over runs of each part's loss, after every epoch that some run came to.
    fn curves(&self) -> Option<Figure> {
        let longest = self.runs.iter().map(|run| run.losses[0].len()).max().filter(|&epochs| epochs > 1)?;
        let line = |part: usize, name: &str| {
            let mean = |epoch: usize| {
                let there: Vec<f64> =
                    self.runs.iter().filter_map(|run| run.losses[part].get(epoch)).map(|&loss| loss.into()).collect();
                let mean = there.iter().sum::<f64>() / there.len() as f64;
                (!there.is_empty()).then(|| Point::new(epoch as f64 + 1.0, mean))
            };
            Line { name: name.into(), points: (0..longest).filter_map(mean).collect() }
        };
        let lines: Vec<Line> =
            [line(0, "training"), line(1, "validation")].into_iter().filter(|line| !line.points.is_empty()).collect();
        Some(Figure {
            name: "curves".into(),
            title: "Learning curves".into(),
            caption:
                "The loss after each epoch, the mean over the runs that came to it; early stopping looks at validation."
                    .into(),
            alternative: format!("Loss of training and validation over at most {longest} epochs."),
            svg: Lines { lines, ..Lines::new(Axis::linear("epoch").of_whole_numbers(), Axis::linear("loss")) }.draw(),
        })
    }

    fn table(&self) -> Table {
        let columns = ["seed", "split", "test", "validation", "epochs", "kept epoch"];
        let mut table = Table::new("runs", "Every seed and split", &columns);
        for run in &self.runs {
            let score = |value: f64| Cell::number(value, figure(self.scale() * value));
            table.push(vec![
                run.seed.to_string().into(),
                run.split.clone().into(),
                score(run.scores[0]),
                score(run.scores[1]),
                Cell::count(run.losses[0].len()),
                run.kept_epoch.map_or(Cell::default(), Cell::count),
            ]);
        }
        table.caption = format!("Judged by: {}.", self.protocol);
        table
    }
}
