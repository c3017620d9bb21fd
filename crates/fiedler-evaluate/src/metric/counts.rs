//! Metrics that count what is right and what is wrong.

use std::collections::BTreeMap;

use fiedler_graph::{Classes, Dense};

/// How the F1 of several classes becomes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// All decisions counted together.
    Micro,
    /// The mean over classes.
    Macro,
}

/// Decisions on one class or task.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    right: usize,
    wrongly_yes: usize,
    wrongly_no: usize,
}

impl Counts {
    /// F1; zero where the class is neither there nor predicted, as in scikit-learn.
    fn f1(self) -> f64 {
        let all = 2 * self.right + self.wrongly_yes + self.wrongly_no;
        if all == 0 { 0.0 } else { 2.0 * self.right as f64 / all as f64 }
    }
}

/// Share of predictions that are right; `None` of none.
pub fn accuracy(predicted: &[u32], truth: &[u32]) -> Option<f64> {
    let right = predicted.iter().zip(truth).filter(|(predicted, truth)| predicted == truth).count();
    (!truth.is_empty()).then(|| right as f64 / truth.len() as f64)
}

/// Top-1 accuracy: share of the items whose class has the highest score, the first of equals; `None` of no items. Row k of the scores
/// belongs to item k and has one column a class. An item without a label counts as wrong.
///
/// ```
/// use fiedler_evaluate::metric::top1_accuracy;
/// use fiedler_graph::{Classes, Dense};
///
/// let classes = Classes::from_integers([Some(0), Some(1), Some(1)]);
/// let scores = Dense::new(3, 2, vec![0.9, 0.1, 0.2, 0.8, 0.6, 0.4])?;
/// assert_eq!(top1_accuracy(&classes, &[1, 2], &scores), Some(0.5));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn top1_accuracy(classes: &Classes, items: &[u32], scores: &Dense) -> Option<f64> {
    let highest = |row: &[f32]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
    let is_right =
        |&&item: &&u32| highest(scores.row(item as usize)) == classes.of()[item as usize].map(|class| class as usize);
    (!items.is_empty()).then(|| items.iter().filter(is_right).count() as f64 / items.len() as f64)
}

/// F1 over the classes that are there or predicted; `None` of none.
///
/// ```
/// use fiedler_evaluate::metric::{Average, f1};
/// // Class 0: 2 right, 1 wrongly yes; class 1: 0 right, 1 wrongly no. F1 is 4/5 and 0.
/// assert_eq!(f1(&[0, 0, 0], &[0, 0, 1], Average::Macro), Some(0.4));
/// ```
pub fn f1(predicted: &[u32], truth: &[u32], average: Average) -> Option<f64> {
    let mut of_class: BTreeMap<u32, Counts> = BTreeMap::new();
    for (&predicted, &truth) in predicted.iter().zip(truth) {
        if predicted == truth {
            of_class.entry(truth).or_default().right += 1;
        } else {
            of_class.entry(predicted).or_default().wrongly_yes += 1;
            of_class.entry(truth).or_default().wrongly_no += 1;
        }
    }
    combine(of_class.into_values(), average)
}

/// F1 of yes-or-no tasks, each with its predictions and truths.
pub(super) fn f1_of_tasks(
    tasks: impl Iterator<Item = impl Iterator<Item = (bool, bool)>>,
    average: Average,
) -> Option<f64> {
    let count = |task: &mut dyn Iterator<Item = (bool, bool)>| {
        let (mut counts, mut any) = (Counts::default(), false);
        for decision in task {
            any = true;
            match decision {
                (true, true) => counts.right += 1,
                (true, false) => counts.wrongly_yes += 1,
                (false, true) => counts.wrongly_no += 1,
                (false, false) => {}
            }
        }
        any.then_some(counts)
    };
    combine(tasks.filter_map(|mut task| count(&mut task)), average)
}

fn combine(counts: impl Iterator<Item = Counts>, average: Average) -> Option<f64> {
    match average {
        Average::Macro => super::mean(counts.map(Counts::f1)),
        Average::Micro => {
            let add = |sum: Counts, one: Counts| Counts {
                right: sum.right + one.right,
                wrongly_yes: sum.wrongly_yes + one.wrongly_yes,
                wrongly_no: sum.wrongly_no + one.wrongly_no,
            };
            counts.reduce(add).map(Counts::f1)
        }
    }
}
