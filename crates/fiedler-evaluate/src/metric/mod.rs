//! Metrics: how well scores agree with labels.

mod area;
mod counts;

pub use area::roc_auc;
pub use counts::{Average, accuracy, f1, top1_accuracy};

use fiedler_graph::{Classes, Labels, MultiLabel, Regression};

use crate::error::{Error, Result};
use crate::list::named_enum;
use crate::matrix::Matrix;

named_enum! {
    /// Metric: how well scores agree with labels.
    pub enum Metric as "metric" {
        /// Accuracy: share of labels that are predicted rightly
        "accuracy" => Accuracy,
        /// Micro-averaged F1: all labels counted together; of single classes the same as accuracy
        "micro-f1" => MicroF1,
        /// Macro-averaged F1: mean of the F1 of every class or task
        "macro-f1" => MacroF1,
        /// ROC-AUC: area under the receiver operating characteristic, mean over tasks
        "roc-auc" => RocAuc,
        /// RMSE: root of the mean squared error, mean over columns
        "rmse" => Rmse,
    }
}

impl Metric {
    /// What the field reports for labels of this kind: accuracy of classes, ROC-AUC of tasks, RMSE of values.
    pub fn usual(labels: &Labels) -> Metric {
        match labels {
            Labels::Classes(_) => Metric::Accuracy,
            Labels::MultiLabel(_) => Metric::RocAuc,
            Labels::Regression(_) => Metric::Rmse,
        }
    }

    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        self != Metric::Rmse
    }

    /// Whether values are shares, which reports give in per cent.
    pub fn is_share(self) -> bool {
        self != Metric::Rmse
    }

    /// Whether the first value is better than the second.
    pub fn is_better(self, value: f64, than: f64) -> bool {
        if self.higher_is_better() { value > than } else { value < than }
    }

    /// Checks that the metric can be told of labels of this kind.
    ///
    /// # Errors
    /// Names the metrics that can.
    pub fn check(self, labels: &Labels) -> Result<()> {
        let of_values = matches!(labels, Labels::Regression(_));
        if of_values == (self == Metric::Rmse) {
            return Ok(());
        }
        let expected = if of_values {
            "rmse, since labels are regression"
        } else {
            "accuracy, micro-f1, macro-f1 or roc-auc, since labels are classes or multi-label"
        };
        Err(Error::setting("metric", self, expected))
    }

    /// The metric of scores for the given rows of the labels; `None` where it has no meaning, as when all are of one class.
    ///
    /// Scores have one column for each class, task or column of values. A task is answered yes where its score is positive.
    pub fn measure(self, labels: &Labels, rows: &[u32], scores: &Matrix) -> Option<f64> {
        match labels {
            Labels::Classes(classes) => self.of_classes(classes, rows, scores),
            Labels::MultiLabel(tasks) => self.of_tasks(tasks, rows, scores),
            Labels::Regression(values) => of_values(values, rows, scores),
        }
    }

    fn of_classes(self, classes: &Classes, rows: &[u32], scores: &Matrix) -> Option<f64> {
        let known: Vec<(usize, u32)> =
            rows.iter().enumerate().filter_map(|(at, &row)| Some((at, classes.of()[row as usize]?))).collect();
        let truth: Vec<u32> = known.iter().map(|(_, class)| *class).collect();
        if self == Metric::RocAuc {
            return area::of_classes(
                &truth,
                classes.count(),
                &known.iter().map(|(at, _)| scores.row(*at)).collect::<Vec<_>>(),
            );
        }
        let predicted: Vec<u32> = known.iter().map(|(at, _)| largest(scores.row(*at))).collect();
        match self {
            Metric::MicroF1 => f1(&predicted, &truth, Average::Micro),
            Metric::MacroF1 => f1(&predicted, &truth, Average::Macro),
            _ => accuracy(&predicted, &truth),
        }
    }

    fn of_tasks(self, tasks: &MultiLabel, rows: &[u32], scores: &Matrix) -> Option<f64> {
        let known = |task: usize| {
            let answer = move |(at, &row): (usize, &u32)| Some((scores.row(at)[task], tasks.row(row as usize)[task]?));
            rows.iter().enumerate().filter_map(answer)
        };
        let each = 0..tasks.names().len();
        match self {
            Metric::RocAuc => mean(each.filter_map(|task| {
                let (scores, truth): (Vec<f64>, Vec<bool>) = known(task).unzip();
                roc_auc(&scores, &truth)
            })),
            Metric::Accuracy => mean(each.flat_map(known).map(|(score, truth)| f64::from((score > 0.0) == truth))),
            _ => {
                let average = if self == Metric::MicroF1 { Average::Micro } else { Average::Macro };
                counts::f1_of_tasks(each.map(|task| known(task).map(|(score, truth)| (score > 0.0, truth))), average)
            }
        }
    }
}

/// RMSE of every column with known values, and their mean, as OGB has it.
fn of_values(values: &Regression, rows: &[u32], scores: &Matrix) -> Option<f64> {
    mean((0..values.names().len()).filter_map(|column| {
        let error = |(at, &row): (usize, &u32)| {
            let truth = values.row(row as usize)[column]?;
            Some(scores.row(at)[column] - f64::from(truth))
        };
        let squares = rows.iter().enumerate().filter_map(error).map(|error| error * error);
        mean(squares).map(f64::sqrt)
    }))
}

/// The first of the largest scores.
pub(crate) fn largest(scores: &[f64]) -> u32 {
    let mut best = 0;
    for (class, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = class;
        }
    }
    best as u32
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}
