//! Supervised scores: an encoder that was trained with labels is evaluated by its own predictions.

use std::collections::BTreeMap;

use fiedler_graph::{Classes, Dense, Split};

use crate::error::{Error, Result};
use crate::metric::{Metric, top1_accuracy};
use crate::protocol::Protocol;
use crate::scaling::Scaling;
use crate::score::{Score, SplitScore, mean_and_deviation};
use crate::target::{LabelKind, Target};

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
/// let classes = supervised.classes();
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
    classes: &'a Classes,
    splits: Vec<Split>,
    protocol: Protocol,
    description: String,
}

impl<'a> SupervisedScores<'a> {
    /// The splits of a protocol, each with a validation set.
    ///
    /// # Errors
    /// When labels are not classes, or there are no splits.
    pub fn new(target: &'a Target, protocol: Protocol, seed: u64) -> Result<SupervisedScores<'a>> {
        let Some(classes) = target.labels.classes() else {
            let error = Error::data("labels", target.kind().name(), LabelKind::Classes.name());
            return Err(error.advise("only classes can be trained on"));
        };
        let mut splits = protocol.splits(target, seed)?;
        splits.iter_mut().for_each(set_aside);
        let description = protocol.describe(target) + "; the predictions of the encoder itself";
        Ok(SupervisedScores { classes, splits, protocol, description })
    }

    /// The splits, each with a validation set.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// The classes to train on.
    pub fn classes(&self) -> &'a Classes {
        self.classes
    }

    /// Top-1 accuracy of an encoder's scores, one a class, on the parts of a split.
    ///
    /// # Errors
    /// When there is not one row of scores for each item, or a part is empty or has other items.
    pub fn score(&self, split: &Split, scores: &Dense) -> Result<SplitScore> {
        let items = self.classes.of().len();
        if scores.rows() != items {
            return Err(Error::data(
                "scores",
                format!("{} rows", scores.rows()),
                format!("{items}, one for each item"),
            ));
        }
        split.check(items)?;
        let accuracy = |part: &str, items: &[u32]| {
            let empty = || Error::data(format!("{part} set of split {}", split.name), "no items", "at least one");
            top1_accuracy(self.classes, items, scores).ok_or_else(empty)
        };
        Ok(SplitScore {
            name: split.name.clone(),
            value: accuracy("test", &split.test)?,
            interval: None,
            validation: accuracy("validation", &split.validation)?,
            hyperparameters: BTreeMap::new(),
            scaling: Scaling::None,
            train_items: split.train.len(),
            validation_items: split.validation.len(),
            test_items: split.test.len(),
            fingerprint: split.fingerprint(),
        })
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
            metric: Metric::Accuracy,
            mean,
            std,
            protocol: self.protocol.name().into(),
            probe: String::new(),
            description: self.description.clone(),
            rows: self.classes.of().len(),
            columns: self.classes.count(),
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
