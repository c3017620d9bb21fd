//! What a search may choose by: labels without those of the test set.

use fiedler_evaluate::{EvaluationSettings, Metric, Protocol, Target, evaluate};
use fiedler_graph::{Classes, Labels, MultiLabel, Observer, Regression, Split};
use fiedler_learn::Embeddings;

use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use fiedler_evaluate::ProtocolPreset;
use fiedler_graph::fingerprint::short_hash;

/// Labels of the train and validation sets. Those of the test set are not here any more: something that does not depend on them stands in
/// their place, so whatever is computed from this cannot depend on them either.
struct ValidationScorer {
    target: Target,
    evaluation: EvaluationSettings,
    fingerprint: String,
}

/// Splits that a run is judged on where they are drawn at random: probes are cheap beside training, and one split tells little.
const SPLITS: u64 = 10;

/// What the runs of one seed are judged by.
pub struct ValidationScorers(Vec<ValidationScorer>);

impl ValidationScorers {
    pub fn new(target: &Target, preset: ProtocolPreset, first: u64, at: u64) -> Result<ValidationScorers> {
        let splits = if preset.counts_splits() { SPLITS } else { 1 };
        let seeds = (0..splits).map(|split| first + at * splits + split);
        Ok(ValidationScorers(seeds.map(|seed| ValidationScorer::new(target, preset, seed)).collect::<Result<_>>()?))
    }

    /// What tells this from other labels and splits.
    pub fn fingerprint(&self) -> String {
        short_hash(&self.0.iter().map(|scorer| &scorer.fingerprint).collect::<Vec<_>>())
    }

    pub fn metric(&self) -> Metric {
        Metric::usual(&self.0[0].target.labels)
    }

    /// The mean over all splits.
    pub fn value(&self, embeddings: &Embeddings, observer: &dyn Observer) -> Result<f64> {
        let values: Vec<f64> = self.0.iter().map(|scorer| scorer.value(embeddings, observer)).collect::<Result<_>>()?;
        Ok(values.iter().sum::<f64>() / values.len() as f64)
    }
}

impl ValidationScorer {
    /// Hides the test set of a seed's split for good.
    fn new(target: &Target, preset: ProtocolPreset, seed: u64) -> Result<ValidationScorer> {
        let protocol = match preset {
            // Folds that are even over classes would tell of labels that must not be known.
            ProtocolPreset::Kfold | ProtocolPreset::KfoldSvm | ProtocolPreset::KfoldLinearSvm => {
                Protocol::KFOLD.with_stratified(false)?
            }
            _ => preset.protocol(),
        };
        let mut splits = protocol.splits(target, seed)?;
        let at = seed as usize % splits.len().max(1);
        if at >= splits.len() {
            return Err(Error::new(ErrorKind::Data, "there is no split to choose on", None));
        }
        let split = splits.swap_remove(at);
        check_labels(target, &split)?;
        let labels = covered(&target.labels, &split)?;
        let fingerprint = labels.fingerprint() + &split.fingerprint();
        let target = Target { labels, splits: vec![split], names: None, ..target.clone() };
        let evaluation = EvaluationSettings { protocol: Some(Protocol::PUBLIC), seed, ..EvaluationSettings::default() };
        Ok(ValidationScorer { target, evaluation, fingerprint })
    }

    /// How well labels of the validation set are predicted; where there is no such part, those of folds inside what is trained on.
    fn value(&self, embeddings: &Embeddings, observer: &dyn Observer) -> Result<f64> {
        let _stage = observer.stage("evaluation", "");
        let score = evaluate(&embeddings.to_dense()?, &self.target, &self.evaluation, observer)?;
        let splits = score.splits.len() as f64;
        Ok(score.splits.iter().map(|split| split.validation).sum::<f64>() / splits)
    }
}

/// Refuses labels that a split cannot be judged with, before anything is trained.
fn check_labels(target: &Target, split: &Split) -> Result<()> {
    let target = Target { splits: vec![split.clone()], ..target.clone() };
    let settings = EvaluationSettings { protocol: Some(Protocol::PUBLIC), ..EvaluationSettings::default() };
    settings.check_splits(&target).map_err(|error| {
        let message = format!("too few labels to choose settings by: {error}");
        let hint = "label more, or choose another --protocol: kfold trains on more than random does".to_owned();
        Error::new(ErrorKind::Data, message, hint)
    })
}

/// The labels with something else in place of those of the test set.
fn covered(labels: &Labels, split: &Split) -> Result<Labels> {
    let hidden = labels.without(&split.test);
    Ok(match &hidden {
        Labels::Classes(classes) => {
            let known = split.train.iter().find_map(|&item| classes.of()[item as usize]);
            let name = |class: u32| classes.names()[class as usize].as_str();
            let mut of: Vec<Option<&str>> = classes.of().iter().map(|class| class.map(name)).collect();
            for &item in &split.test {
                of[item as usize] = known.map(name);
            }
            Labels::Classes(Classes::from_labels(of))
        }
        Labels::MultiLabel(tasks) => {
            let mut answers: Vec<Option<bool>> =
                (0..hidden.len()).flat_map(|item| tasks.row(item).iter().copied()).collect();
            let width = tasks.names().len();
            for (place, &item) in split.test.iter().enumerate() {
                // Both answers, because some metrics mean nothing without.
                answers[item as usize * width..][..width].fill(Some(place % 2 == 0));
            }
            Labels::MultiLabel(MultiLabel::new(tasks.names().to_vec(), answers)?)
        }
        Labels::Regression(values) => {
            let mut numbers: Vec<Option<f32>> =
                (0..hidden.len()).flat_map(|item| values.row(item).iter().copied()).collect();
            let width = values.names().len();
            for &item in &split.test {
                numbers[item as usize * width..][..width].fill(Some(0.0));
            }
            Labels::Regression(Regression::new(values.names().to_vec(), numbers)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use fiedler_graph::{NoObserver, generate};
    use fiedler_learn::Embeddings;

    use super::*;

    #[test]
    fn nothing_depends_on_labels_of_the_test_part() -> Result<()> {
        let dataset = generate::citation(0);
        let target = Target::of(&dataset)?;
        let split = ProtocolPreset::Random.protocol().splits(&target, 3)?.swap_remove(3);
        let Labels::Classes(classes) = &target.labels else { unreachable!("classes") };
        let other = |item: usize| classes.of()[item].map(|class| (class + 1) % classes.count() as u32);
        let of = (0..target.labels.len()).map(|item| match split.test.contains(&(item as u32)) {
            true => other(item).map(i64::from),
            false => classes.of()[item].map(i64::from),
        });
        let changed = Target { labels: Labels::Classes(Classes::from_integers(of)), ..target.clone() };
        let rows = Embeddings::new(2, (0..2 * target.labels.len()).map(|at| (at as f32).sin()).collect());
        let [one, two] = [
            ValidationScorer::new(&target, ProtocolPreset::Random, 3)?,
            ValidationScorer::new(&changed, ProtocolPreset::Random, 3)?,
        ];
        assert_eq!(one.fingerprint, two.fingerprint);
        assert_eq!(one.value(&rows, &NoObserver)?, two.value(&rows, &NoObserver)?);
        Ok(())
    }
}
