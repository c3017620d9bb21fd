//! The test set takes no part in any choice.
#![allow(clippy::unwrap_used)]

use fiedler_graph::{Classes, MultiLabel, NoObserver, Regression};
use proptest::prelude::*;

use super::*;
use crate::probe::{AdamSettings, Probe};
use crate::protocol::{KFold, Protocol, RandomSplits};

const ITEMS: usize = 90;
const COLUMNS: usize = 4;

/// Embeddings, the hidden kind of each item, and random words to spoil things with.
fn some_data() -> impl Strategy<Value = (Vec<f32>, Vec<u8>, Vec<u8>)> {
    let kinds = prop::collection::vec(0..3u8, ITEMS);
    let spoilt = prop::collection::vec(0..3u8, ITEMS);
    let noise = prop::collection::vec(-2.0..2.0f32, ITEMS * COLUMNS);
    (noise, kinds, spoilt).prop_map(|(mut values, kinds, spoilt)| {
        for (row, kind) in kinds.iter().enumerate() {
            values[row * COLUMNS + usize::from(*kind)] += 1.5;
        }
        (values, kinds, spoilt)
    })
}

/// Labels of one sort or another, of the given kinds. Every class is named whether it is there or not.
fn labels(sort: usize, kinds: &[u8]) -> Labels {
    match sort {
        0 => {
            let all = kinds.iter().map(|kind| Some(i64::from(*kind))).chain((0..3).map(Some));
            Labels::Classes(Classes::from_integers(all))
        }
        1 => {
            let answers = kinds.iter().chain(&[0, 1, 2]).flat_map(|kind| [Some(*kind == 0), Some(*kind == 1)]);
            Labels::MultiLabel(MultiLabel::new(vec!["a".into(), "b".into()], answers.collect()).unwrap())
        }
        _ => {
            let values = kinds.iter().chain(&[0, 1, 2]).map(|kind| Some(f32::from(*kind)));
            Labels::Regression(Regression::new(vec!["y".into()], values.collect()).unwrap())
        }
    }
}

/// What is chosen on a split, every digit of it.
fn chosen(values: &[f32], target: &Target, split: &Split, settings: &EvaluationSettings) -> String {
    let values = [values, &[0.0; 3 * COLUMNS]].concat();
    let embeddings = Dense::new(ITEMS + 3, COLUMNS, values).unwrap();
    let (plan, progress) = (settings.plan(target).unwrap(), Progress::begin(1000, &NoObserver));
    let case = Case { embeddings: &embeddings, target, plan: &plan, settings, progress };
    format!("{:?}", case.choose(split, 0).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_choice_depends_on_the_test_part(
        (values, kinds, spoilt) in some_data(), sort in 0..3usize, which in 0..4usize, seed in 0..1000u64,
    ) {
        let random = RandomSplits { splits: 2, train: 0.3, validation: 0.2, stratified: false };
        let protocol: Protocol = [
            random.into(),
            RandomSplits { stratified: true, ..random }.into(),
            KFold { folds: 3, stratified: true }.into(),
            Protocol::REFERENCE,
        ][which];
        prop_assume!(sort == 0 || protocol != Protocol::REFERENCE);
        let adam = || Probe::Adam(AdamSettings { steps: 60, ..Default::default() });
        let probe = (protocol == Protocol::REFERENCE).then(adam);
        let settings = EvaluationSettings { protocol: Some(protocol), probe, seed, ..Default::default() };
        let target = Target::of_labels(labels(sort, &kinds));
        for split in protocol.splits(&target, seed).unwrap() {
            let (mut other_values, mut other_kinds) = (values.clone(), kinds.clone());
            for &item in split.test.iter().filter(|&&item| (item as usize) < ITEMS) {
                let item = item as usize;
                other_kinds[item] = spoilt[item];
                other_values[item * COLUMNS..(item + 1) * COLUMNS].fill(f32::from(spoilt[item]) * 100.0);
            }
            let other = Target::of_labels(labels(sort, &other_kinds));
            let honest = chosen(&values, &target, &split, &settings);
            prop_assert_eq!(chosen(&other_values, &other, &split, &settings), honest);
        }
    }
}
