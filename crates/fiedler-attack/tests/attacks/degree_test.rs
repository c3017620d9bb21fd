//! The degree-distribution constraint against recorded ratios.

use fiedler_attack::{AttackSettings, DegreeTest, Mettack, RandomFlips};
use fiedler_graph::generate;
use serde_json::Value;

use crate::common::Target;

#[test]
fn ratios_of_every_flip_of_karate() {
    let values: Value = serde_json::from_str(include_str!("../fixtures/karate_powerlaw.json")).unwrap();
    let numbers =
        |value: &Value| -> Vec<f64> { value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect() };
    let graph = generate::karate_club().graphs.graph(0);
    let degrees: Vec<usize> = (0..34).map(|node| graph.degree(node)).collect();
    assert_eq!(degrees.iter().map(|&degree| degree as f64).collect::<Vec<_>>(), numbers(&values["degrees"]));
    let test = DegreeTest::new(&degrees);
    let (mut allowed, mut pairs) = (0, (0..34u32).flat_map(|low| (low + 1..34).map(move |high| (low, high))));
    for ratio in numbers(&values["minus"]["ratio_after_flip"]) {
        let (low, high) = pairs.next().unwrap();
        let (a, b) = (degrees[low as usize], degrees[high as usize]);
        let added = !graph.has_edge(low, high);
        let found = test.ratio_after(a, b, added);
        assert!((found - ratio).abs() < 1e-10, "{found} and not {ratio} at {low} {high}");
        allowed += u64::from(test.allows(a, b, added));
    }
    assert_eq!(Some(allowed), values["minus"]["allowed"].as_u64());
}

#[test]
fn attacks_stay_below_the_cutoff() {
    let karate = Target::karate();
    let settings = [
        AttackSettings::Mettack(Mettack { ratio: 0.2, degree_test: true, ..Mettack::default() }),
        AttackSettings::Random(RandomFlips { ratio: 0.2, degree_test: true, ..RandomFlips::default() }),
    ];
    let degrees = |graph: &fiedler_graph::Graph| (0..34).map(|node| graph.degree(node)).collect::<Vec<usize>>();
    for settings in settings {
        let poisoned = karate.attack(&settings).poison(&karate.graph).unwrap();
        let ratio = DegreeTest::between(&degrees(&karate.graph), &degrees(&poisoned));
        assert!(ratio < 0.004, "{settings:?}: {ratio}");
    }
    let free = AttackSettings::Mettack(Mettack { ratio: 0.2, ..Mettack::default() });
    let poisoned = karate.attack(&free).poison(&karate.graph).unwrap();
    assert!(DegreeTest::between(&degrees(&karate.graph), &degrees(&poisoned)) > 0.004, "the constraint does something");
}
