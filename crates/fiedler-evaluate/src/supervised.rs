//! Supervised scores: an encoder that was trained with labels is evaluated by its own predictions.

use std::collections::BTreeMap;

use fiedler_graph::{Dense, Labels, Split};

use crate::compare::{Interval, bootstrap_interval};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::metric::{Metric, top1_accuracy};
use crate::probe::meaningless;
use crate::protocol::{self, Protocol};
use crate::scaling::Scaling;
use crate::score::{Score, SplitScore, mean_and_deviation};
use crate::target::Target;

/// Where a split has no validation set, one in so many training items becomes validation, for early stopping.
const SET_ASIDE: usize = 10;

/// Supervised scores: the splits on which encoders are trained with labels, and the score of what they predict.
///
/// ```
/// use fiedler_evaluate::{Protocol, SupervisedScores, Target};
/// use fiedler_graph::{Dense, generate};
///
/// let target = Target::of(&generate::citation(0))?;
/// let supervised = SupervisedScores::new(&target, Protocol::KFOLD, 0)?;
/// let classes = supervised.labels().classes().expect("classes");
/// // A perfect encoder: a score of one for the right class.
/// let right = |item: &Option<u32>| (0..classes.count() as u32).map(|class| f32::from(u8::from(*item == Some(class)))).collect();
/// let scores: Vec<Vec<f32>> = classes.of().iter().map(right).collect();
/// let scores = Dense::new(classes.of().len(), classes.count(), scores.concat())?;
/// let found = supervised.splits().iter().map(|split| supervised.score(split, &scores)).collect::<Result<_, _>>()?;
/// assert_eq!(supervised.gather(found)?.mean, 1.0);
/// # Ok::<(), fiedler_evaluate::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SupervisedScores<'a> {
    labels: &'a Labels,
    metric: Metric,
    splits: Vec<Split>,
    protocol: Protocol,
    description: String,
    /// Resamples of test items and their seed.
    bootstrap: (usize, u64),
}

impl<'a> SupervisedScores<'a> {
    /// The splits of a protocol, each with a validation set.
    ///
    /// # Errors
    /// When there are no splits.
    pub fn new(target: &'a Target, protocol: Protocol, seed: u64) -> Result<SupervisedScores<'a>> {
        let mut splits = protocol.splits(target, seed)?;
        splits.iter_mut().for_each(set_aside);
        let description = protocol.describe(target) + "; the predictions of the encoder itself";
        let (labels, metric) = (&target.labels, Metric::usual(&target.labels));
        Ok(SupervisedScores { labels, metric, splits, protocol, description, bootstrap: (0, 0) })
    }

    /// The same splits with labels of a share of each training set only; validation and test sets stay as they are. Every class keeps its
    /// share, and at least one item.
    ///
    /// # Errors
    /// When the share is not above 0 and at most 1.
    pub fn with_label_fraction(mut self, fraction: f64, seed: u64) -> Result<SupervisedScores<'a>> {
        if !(fraction > 0.0 && fraction <= 1.0) {
            return Err(Error::setting("label fraction", fraction, "a number above 0 and at most 1, such as 0.1"));
        }
        for (index, split) in (0..).zip(&mut self.splits) {
            split.train = protocol::share(&split.train, fraction, self.labels, (seed, "label-fraction", index));
        }
        if fraction < 1.0 {
            self.description += &format!("; labels of {} % of the training set", (1e5 * fraction).round() / 1e3);
        }
        Ok(self)
    }

    /// The same, with an interval of every score by the bootstrap over test items, of so many resamples.
    pub fn with_bootstrap(self, resamples: usize, seed: u64) -> SupervisedScores<'a> {
        SupervisedScores { bootstrap: (resamples, seed), ..self }
    }

    /// The splits, each with a validation set.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// The protocol, and how labels are used, in words.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The labels to train on.
    pub fn labels(&self) -> &'a Labels {
        self.labels
    }

    /// How well an encoder's scores, one for each class, task or value, predict the parts of a split: by top-1 accuracy of classes, and
    /// otherwise by what is usual for the labels.
    ///
    /// # Errors
    /// When there is not one row of scores for each item, or a part is empty, has other items, or is too small for the metric.
    pub fn score(&self, split: &Split, scores: &Dense) -> Result<SplitScore> {
        let items = self.labels.len();
        if scores.rows() != items {
            return Err(Error::data(
                "scores",
                format!("{} rows", scores.rows()),
                format!("{items}, one for each item"),
            ));
        }
        split.check(items)?;
        let measure = |part: &str, items: &[u32]| match self.labels {
            Labels::Classes(classes) => {
                let empty = || Error::data(format!("{part} set of split {}", split.name), "no items", "at least one");
                top1_accuracy(classes, items, scores).ok_or_else(empty)
            }
            labels => {
                let value = self.metric.measure(labels, items, &Matrix::gather(scores, items));
                value.ok_or_else(|| meaningless(self.metric, part, &split.name))
            }
        };
        Ok(SplitScore {
            name: split.name.clone(),
            value: measure("test", &split.test)?,
            interval: self.interval(split, scores),
            validation: measure("validation", &split.validation)?,
            hyperparameters: BTreeMap::new(),
            scaling: Scaling::None,
            train_items: split.train.len(),
            validation_items: split.validation.len(),
            test_items: split.test.len(),
            fingerprint: split.fingerprint(),
        })
    }

    fn interval(&self, split: &Split, scores: &Dense) -> Option<Interval> {
        let (resamples, seed) = self.bootstrap;
        let of_test = || Matrix::gather(scores, &split.test);
        (resamples > 0)
            .then(|| bootstrap_interval(self.metric, self.labels, &split.test, &of_test(), resamples, seed))
            .flatten()
    }

    /// One score out of those of all splits.
    ///
    /// # Errors
    /// When there is not one for each split.
    pub fn gather(&self, splits: Vec<SplitScore>) -> Result<Score> {
        if splits.len() != self.splits.len() {
            let expected = format!("{}, one for each split", self.splits.len());
            return Err(Error::data("scores to gather", splits.len().to_string(), expected));
        }
        let (mean, std) = mean_and_deviation(&splits.iter().map(|split| split.value).collect::<Vec<f64>>());
        Ok(Score {
            metric: self.metric,
            mean,
            std,
            protocol: self.protocol.name().into(),
            probe: String::new(),
            description: self.description.clone(),
            rows: self.labels.len(),
            columns: match self.labels {
                Labels::Classes(classes) => classes.count(),
                Labels::MultiLabel(tasks) => tasks.names().len(),
                Labels::Regression(values) => values.names().len(),
            },
            splits,
            notes: Vec::new(),
        })
    }
}

fn set_aside(split: &mut Split) {
    if !split.validation.is_empty() {
        return;
    }
    let is_aside = |place: usize| place % SET_ASIDE == SET_ASIDE - 1;
    let part = |aside: bool| {
        let of = split.train.iter().enumerate().filter(move |(place, _)| is_aside(*place) == aside);
        of.map(|(_, &item)| item).collect::<Vec<u32>>()
    };
    (split.validation, split.train) = (part(true), part(false));
}
