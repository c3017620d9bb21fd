//! Refusals, stopping, going on.

use std::ops::ControlFlow;
use std::sync::Mutex;

use fiedler_attack::{
    AttackInput, AttackSettings, Error, Flip, Gf, GrBcd, Knowledge, Known, Mettack, RandomFlips, SurrogateSettings,
    surrogate_accuracy,
};
use fiedler_graph::{Event, Graph, NoObserver, Split};

use crate::common::{Target, all};

fn message(settings: &AttackSettings, input: &AttackInput<'_>) -> String {
    let error = settings.run(input, &NoObserver).unwrap_err();
    format!("{error}; {}", error.hint().unwrap_or_default())
}

#[test]
fn what_is_missing_is_named() {
    let karate = Target::karate();
    let nothing = AttackInput::new(&karate.graph, Knowledge::default());
    for settings in all(0.1) {
        match settings.knows() {
            Known::NoLabels => assert!(settings.check(&nothing).is_ok(), "{settings:?}"),
            _ => assert!(message(&settings, &nothing).contains("must know the classes of nodes"), "{settings:?}"),
        }
    }
    let no_split = Knowledge { split: None, ..karate.input().knowledge };
    let input = AttackInput::new(&karate.graph, no_split);
    assert!(message(&"mettack".parse().unwrap(), &input).contains("name a split"));
    assert!("dice".parse::<AttackSettings>().unwrap().check(&input).is_ok());
}

#[test]
fn settings_out_of_range_are_refused() {
    let karate = Target::karate();
    let refused = |settings: AttackSettings| message(&settings, &karate.input());
    let random = |ratio| AttackSettings::Random(RandomFlips { ratio, ..RandomFlips::default() });
    assert!(refused(random(1.5)).contains("ratio is 1.5") && refused(random(f64::NAN)).contains("ratio is NaN"));
    let mettack = |change: fn(&mut Mettack)| {
        let mut settings = Mettack::default();
        change(&mut settings);
        AttackSettings::Mettack(settings)
    };
    assert!(refused(mettack(|settings| settings.batch = 0)).contains("batch"));
    assert!(refused(mettack(|settings| settings.surrogate.momentum = 1.0)).contains("surrogate.momentum"));
    assert!(
        refused(mettack(|settings| (settings.a_meta, settings.truncated) = (true, Some(3)))).contains("one of the two")
    );
    assert!("metattack".parse::<AttackSettings>().unwrap_err().hint().unwrap().contains("did you mean mettack"));
}

#[test]
fn weighted_graphs_and_wrong_splits_are_refused() {
    let karate = Target::karate();
    let (weighted, _) = Graph::from_weighted_pairs(2, vec![(0, 1)], vec![2.0]).unwrap();
    let input = AttackInput::new(&weighted, Knowledge::default());
    assert!(message(&"random".parse().unwrap(), &input).contains("--unweighted"));
    let everyone = Split { train: (0..34).collect(), ..Split::default() };
    let input = AttackInput::new(&karate.graph, Knowledge { split: Some(&everyone), ..karate.input().knowledge });
    assert!(message(&"mettack".parse().unwrap(), &input).contains("34 of 34 nodes train"));
    let outside = Split { train: vec![99], ..Split::default() };
    let input = AttackInput::new(&karate.graph, Knowledge { split: Some(&outside), ..karate.input().knowledge });
    assert!(message(&"mettack".parse().unwrap(), &input).contains("99"));
}

#[test]
fn an_attack_that_was_stopped_ends_with_the_same_flips() {
    let karate = Target::karate();
    let attacks = [
        AttackSettings::Mettack(Mettack { ratio: 0.1, ..Mettack::default() }),
        AttackSettings::Gf(Gf { ratio: 0.1, smallest: 6, ..Gf::default() }),
        AttackSettings::GrBcd(GrBcd { ratio: 0.1, epochs: 7, block: 100, ..GrBcd::default() }),
    ];
    for settings in attacks {
        let whole = karate.attack(&settings);
        let stop = |event: &Event<'_>| match event {
            Event::Progress { done: 3.., .. } => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let kept = Mutex::new(Vec::<Flip>::new());
        let keep = |flips: &[Flip]| *kept.lock().unwrap() = flips.to_vec();
        let input = AttackInput { checkpoint: Some(&keep), ..karate.input() };
        let first = settings.run(&input, &stop).unwrap();
        assert!(!first.complete && first.flips.len() < whole.flips.len(), "{settings:?}");
        assert_eq!(*kept.lock().unwrap(), first.flips, "{settings:?}");
        let rest = settings.run(&AttackInput { resume: &first.flips, ..karate.input() }, &NoObserver).unwrap();
        assert_eq!(rest, whole, "{settings:?}");
    }
}

#[test]
fn flips_of_another_graph_are_not_gone_on_with() {
    let karate = Target::karate();
    let wrong = [Flip { low: 0, high: 1, added: true, gain: None }];
    let settings = AttackSettings::Mettack(Mettack { ratio: 0.1, ..Mettack::default() });
    let error = settings.run(&AttackInput { resume: &wrong, ..karate.input() }, &NoObserver).unwrap_err();
    assert!(matches!(error, Error::Unsuitable { .. }), "{error}");
}

#[test]
fn progress_counts_flips() {
    let karate = Target::karate();
    let seen = Mutex::new(Vec::new());
    let watch = |event: &Event<'_>| {
        if let Event::Progress { done, total, .. } = event {
            seen.lock().unwrap().push((*done, *total));
        }
        ControlFlow::Continue(())
    };
    AttackSettings::Mettack(Mettack { ratio: 0.05, ..Mettack::default() }).run(&karate.input(), &watch).unwrap();
    assert_eq!(*seen.lock().unwrap(), [(0, Some(3)), (1, Some(3)), (2, Some(3))]);
}

#[test]
fn settings_are_read_as_they_are_written() {
    for settings in all(0.1) {
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<AttackSettings>(&text).unwrap(), settings);
    }
    let misspelled = serde_json::from_str::<AttackSettings>(r#"{"name": "mettack", "ration": 0.1}"#);
    assert!(misspelled.unwrap_err().to_string().contains("ration"));
    let nested = r#"{"name": "mettack", "surrogate": {"hidden": 8}}"#;
    let expected = Mettack { surrogate: SurrogateSettings { hidden: 8, ..Default::default() }, ..Default::default() };
    assert_eq!(serde_json::from_str::<AttackSettings>(nested).unwrap(), AttackSettings::Mettack(expected));
}

#[test]
fn the_surrogate_of_karate_is_better_than_chance() {
    let karate = Target::karate();
    let accuracy = surrogate_accuracy(&karate.graph, &karate.input().knowledge, 0).unwrap().unwrap();
    assert!(accuracy > 0.7, "{accuracy}");
}
