//! What a search may judge by: labels without those of the test part.

use fiedler_evaluate::{Metric, Protocol, Settings, Stage, Target, evaluate};
use fiedler_graph::{Classes, Dense, Labels, MultiLabel, Regression, Split};
use fiedler_learn::Embeddings;

use crate::program::failure::{Exit, Failure};
use crate::program::interrupt;
use crate::program::ledger::Ledger;
use crate::program::run::fingerprint;

/// Labels to learn from and to choose on. Those of the test part are not here any more: something that does not depend on them stands in
/// their place, so whatever is computed from this cannot depend on them either.
struct Blind {
    target: Target,
    evaluation: Settings,
    fingerprint: String,
}

/// Splits that a run is judged on where they are drawn at random: probes are cheap beside training, and one split tells little.
const SPLITS: u64 = 10;

/// What the runs of one seed are judged by.
pub struct Panel(Vec<Blind>);

impl Panel {
    pub fn new(target: &Target, ledger: Ledger, first: u64, at: u64) -> Result<Panel, Failure> {
        let splits = if ledger == Ledger::Random { SPLITS } else { 1 };
        let seeds = (0..splits).map(|split| first + at * splits + split);
        Ok(Panel(seeds.map(|seed| Blind::new(target, ledger, seed)).collect::<Result<_, _>>()?))
    }

    /// What tells this from other labels and splits.
    pub fn fingerprint(&self) -> String {
        fingerprint::of(&self.0.iter().map(|blind| &blind.fingerprint).collect::<Vec<_>>())
    }

    pub fn metric(&self) -> Metric {
        Metric::usual(&self.0[0].target.labels)
    }

    /// The mean over all splits.
    pub fn value(&self, embeddings: &Embeddings) -> Result<f64, Failure> {
        let values: Vec<f64> = self.0.iter().map(|blind| blind.value(embeddings)).collect::<Result<_, _>>()?;
        Ok(values.iter().sum::<f64>() / values.len() as f64)
    }
}

impl Blind {
    /// Hides the test part of a seed's split for good.
    fn new(target: &Target, ledger: Ledger, seed: u64) -> Result<Blind, Failure> {
        let protocol = match ledger {
            // Folds that are even over classes would tell of labels that must not be known.
            Ledger::Folds => Protocol::KFOLD.with_stratified(false)?,
            _ => ledger.protocol(),
        };
        let mut splits = protocol.splits(target, seed)?;
        let at = seed as usize % splits.len().max(1);
        if at >= splits.len() {
            return Err(Failure::new(Exit::Data, "there is no split to choose on", None));
        }
        let split = splits.swap_remove(at);
        let labels = covered(&target.labels, &split)?;
        let fingerprint = fingerprint::of_labels(&labels) + &split.fingerprint();
        let target = Target { labels, splits: vec![split], names: None, ..target.clone() };
        let evaluation = Settings { protocol: Some(Protocol::Public), seed, ..Settings::default() };
        Ok(Blind { target, evaluation, fingerprint })
    }

    /// How well labels of the part to choose on are predicted; where there is no such part, those of folds inside what is learnt from.
    fn value(&self, embeddings: &Embeddings) -> Result<f64, Failure> {
        let rows = Dense::new(embeddings.rows(), embeddings.columns(), embeddings.values().to_vec())?;
        let score = evaluate(&rows, &self.target, &self.evaluation, &|_: Stage| !interrupt::asked())?;
        let splits = score.splits.len() as f64;
        Ok(score.splits.iter().map(|split| split.validation).sum::<f64>() / splits)
    }
}

/// The labels with something else in place of those of the test part.
fn covered(labels: &Labels, split: &Split) -> Result<Labels, Failure> {
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
    use fiedler_graph::generate;
    use fiedler_learn::Embeddings;

    use super::*;

    #[test]
    fn nothing_depends_on_labels_of_the_test_part() -> Result<(), Failure> {
        let dataset = generate::citation(0);
        let target = Target::of(&dataset)?;
        let split = Ledger::Random.protocol().splits(&target, 3)?.remove(0);
        let Labels::Classes(classes) = &target.labels else { unreachable!("classes") };
        let other = |item: usize| classes.of()[item].map(|class| (class + 1) % classes.count() as u32);
        let of = (0..target.labels.len()).map(|item| match split.test.contains(&(item as u32)) {
            true => other(item).map(i64::from),
            false => classes.of()[item].map(i64::from),
        });
        let changed = Target { labels: Labels::Classes(Classes::from_integers(of)), ..target.clone() };
        let rows = Embeddings::new(2, (0..2 * target.labels.len()).map(|at| (at as f32).sin()).collect());
        let [one, two] = [Blind::new(&target, Ledger::Random, 3)?, Blind::new(&changed, Ledger::Random, 3)?];
        assert_eq!(one.fingerprint, two.fingerprint);
        assert_eq!(one.value(&rows)?, two.value(&rows)?);
        Ok(())
    }
}
