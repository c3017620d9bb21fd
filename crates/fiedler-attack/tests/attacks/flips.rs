//! Which flips attacks make: as many as the budget, no pair twice, no node left alone, the right classes.

use std::collections::BTreeSet;

use fiedler_attack::{Additions, AttackSettings, Dice, Mettack, RandomFlips, RandomMode, budget};
use fiedler_graph::Graph;
use proptest::prelude::*;

use crate::common::{Target, all, on_one_and_two_threads};

fn isolated(graph: &Graph) -> usize {
    (0..graph.num_nodes() as u32).filter(|&node| graph.degree(node) == 0).count()
}

/// All that an attack promises, whatever the graph.
fn check(target: &Target, settings: &AttackSettings, ratio: f64) {
    let outcome = target.attack(settings);
    let name = format!("{settings:?}");
    assert!(outcome.complete, "{name}");
    assert_eq!(outcome.budget, budget(ratio, target.graph.num_edges()), "{name}");
    assert!(outcome.flips.len() <= outcome.budget, "{name}");
    assert_eq!(outcome.flips.len() < outcome.budget, !outcome.notes.is_empty(), "{name}: {:?}", outcome.notes);
    let distinct: BTreeSet<(u32, u32)> = outcome.flips.iter().map(|flip| flip.pair()).collect();
    assert_eq!(distinct.len(), outcome.flips.len(), "{name}");
    let poisoned = outcome.poison(&target.graph).unwrap();
    for flip in &outcome.flips {
        assert!(flip.low < flip.high, "{name}");
        assert_eq!(flip.added, poisoned.has_edge(flip.low, flip.high), "{name}");
        assert_ne!(flip.added, target.graph.has_edge(flip.low, flip.high), "{name}");
    }
    assert!(isolated(&poisoned) <= isolated(&target.graph), "{name} leaves a node alone");
}

#[test]
fn graphs_of_every_shape_are_attacked_within_the_budget() {
    let star = Target::new(9, (1..9).map(|leaf| (0, leaf)).collect());
    let complete = Target::new(7, (0..7).flat_map(|a| (a + 1..7).map(move |b| (a, b))).collect());
    let parts = Target::new(12, vec![(0, 1), (1, 2), (2, 0), (4, 5), (5, 6), (6, 7), (7, 4), (9, 10)]);
    let pair = Target::new(2, vec![(0, 1)]);
    let empty = Target::new(6, Vec::new());
    for target in [star, complete, parts, pair, empty, Target::karate()] {
        for ratio in [0.0, 0.3, 1.0] {
            all(ratio).iter().for_each(|settings| check(&target, settings, ratio));
        }
    }
}

#[test]
fn two_nodes_cannot_be_parted() {
    let pair = Target::new(2, vec![(0, 1)]);
    for settings in all(1.0) {
        let outcome = pair.attack(&settings);
        assert!(outcome.flips.is_empty() && outcome.notes[0].starts_with("0 of 1 flips were made"), "{outcome:?}");
    }
}

#[test]
fn the_whole_budget_is_spent_where_it_can_be() {
    let karate = Target::karate();
    for settings in all(0.2) {
        assert_eq!(karate.attack(&settings).flips.len(), 15, "{settings:?}");
    }
}

#[test]
fn random_modes_do_what_they_say() {
    let karate = Target::karate();
    let added = |mode| {
        let settings = AttackSettings::Random(RandomFlips { ratio: 0.3, mode, ..RandomFlips::default() });
        karate.attack(&settings).flips.iter().filter(|flip| flip.added).count()
    };
    assert_eq!((added(RandomMode::Add), added(RandomMode::Remove)), (23, 0));
    assert!((12..=22).contains(&added(RandomMode::Flip)), "of 561 pairs 78 are edges");
}

#[test]
fn random_flips_choose_every_pair_alike() {
    let target = Target::new(5, vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
    let mut counts = std::collections::BTreeMap::new();
    for seed in 0..4000 {
        let settings = AttackSettings::Random(RandomFlips { ratio: 0.2, seed, ..RandomFlips::default() });
        *counts.entry(target.attack(&settings).flips[0].pair()).or_insert(0) += 1;
    }
    // Ten pairs, 400 expected of each, deviation 19.
    assert!(counts.len() == 10 && counts.values().all(|count| (310..490).contains(count)), "{counts:?}");
}

#[test]
fn dice_deletes_internally_and_connects_externally() {
    let karate = Target::karate();
    for (additions, add_ratio) in [(Additions::Binomial, 0.5), (Additions::Fixed, 0.6), (Additions::Fixed, 0.0)] {
        let settings = AttackSettings::Dice(Dice { ratio: 0.3, add_ratio, additions, ..Dice::default() });
        let outcome = karate.attack(&settings);
        for flip in &outcome.flips {
            assert_eq!(karate.class(flip.low) == karate.class(flip.high), !flip.added, "{flip:?}");
        }
        let added = outcome.flips.iter().filter(|flip| flip.added).count();
        if additions == Additions::Fixed {
            assert_eq!(added, (add_ratio * 23.0).round() as usize);
        }
    }
}

#[test]
fn dice_says_when_a_class_has_no_edges_left() {
    // Classes alternate, so that no edge is within one.
    let ring = Target::new(8, (0..8).map(|node| (node, (node + 1) % 8)).collect());
    let settings = AttackSettings::Dice(Dice { ratio: 1.0, additions: Additions::Fixed, ..Dice::default() });
    let outcome = ring.attack(&settings);
    assert_eq!(outcome.flips.len(), 4);
    assert!(outcome.notes[0].contains("4 of 8"), "{:?}", outcome.notes);
}

#[test]
fn the_same_flips_on_one_thread_and_on_two() {
    let karate = Target::karate();
    for settings in all(0.1) {
        let [one, two] = on_one_and_two_threads(|| karate.attack(&settings));
        assert_eq!(one, two, "{settings:?}");
    }
}

#[test]
fn seeds_and_start_weights_matter() {
    let karate = Target::karate();
    let flips = |seed| {
        let settings = AttackSettings::Mettack(Mettack { ratio: 0.2, seed, ..Mettack::default() });
        karate.attack(&settings).flips.iter().map(|flip| flip.pair()).collect::<Vec<_>>()
    };
    assert_eq!(flips(1), flips(1));
    assert_ne!(flips(1), flips(2));
}

#[test]
fn a_batch_makes_the_same_first_flip() {
    let karate = Target::karate();
    let flips = |batch| {
        let settings = AttackSettings::Mettack(Mettack { ratio: 0.1, batch, ..Mettack::default() });
        karate.attack(&settings).flips
    };
    assert_eq!(flips(1)[0], flips(5)[0]);
    assert_eq!(flips(5).len(), 7);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_graphs_are_attacked_within_the_budget(
        pairs in proptest::collection::vec((0u32..14, 0u32..14), 1..40),
        ratio in 0.0..1.0f64,
        which in 0usize..10,
    ) {
        let target = Target::new(14, pairs);
        check(&target, &all(ratio)[which], ratio);
    }
}
