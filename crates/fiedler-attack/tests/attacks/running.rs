//! Refusals, stopping, going on.

use std::ops::ControlFlow;
use std::sync::Mutex;

use fiedler_attack::{
    AttackInput, AttackSettings, AttackState, Error, Flip, Gf, GfRelaxed, GrBcd, Knowledge, Known, Mettack, PrBcd,
    RandomFlips, SurrogateSettings, surrogate_accuracy,
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

/// Stopped where `done` is so many, and gone on with what was kept, as a file would keep it.
fn goes_on(settings: &AttackSettings, stop_at: usize) {
    let karate = Target::karate();
    let whole = karate.attack(settings);
    let stop = |event: &Event<'_>| match event {
        Event::Progress { done, .. } if *done >= stop_at => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let kept = Mutex::new(AttackState::default());
    let keep = |state: &dyn Fn() -> AttackState| *kept.lock().unwrap() = state();
    let input = AttackInput { checkpoint: Some(&keep), ..karate.input() };
    let first = settings.run(&input, &stop).unwrap();
    assert!(!first.complete && first.flips.len() < whole.flips.len(), "{settings:?}");
    assert_eq!(*kept.lock().unwrap(), first.state(), "{settings:?}");
    assert!(!first.state().is_empty());
    let text = serde_json::to_string(&first.state()).unwrap();
    let state: AttackState = serde_json::from_str(&text).unwrap();
    let observed = Mutex::new(None);
    let watch = |event: &Event<'_>| {
        if let Event::Progress { done, .. } = event {
            observed.lock().unwrap().get_or_insert(*done);
        }
        ControlFlow::Continue(())
    };
    let rest = settings.run(&AttackInput { resume: Some(&state), ..karate.input() }, &watch).unwrap();
    assert_eq!(rest, whole, "{settings:?}");
    assert!(observed.lock().unwrap().is_some_and(|done| done >= stop_at), "{settings:?} began anew");
}

#[test]
fn an_attack_that_was_stopped_ends_with_the_same_flips() {
    let attacks = [
        AttackSettings::Mettack(Mettack { ratio: 0.1, ..Mettack::default() }),
        AttackSettings::Gf(Gf { ratio: 0.1, smallest: 6, ..Gf::default() }),
        AttackSettings::GrBcd(GrBcd { ratio: 0.1, epochs: 7, block: 100, ..GrBcd::default() }),
        AttackSettings::GfRelaxed(GfRelaxed { ratio: 0.1, smallest: 6, ..GfRelaxed::default() }),
        AttackSettings::GfRelaxed(GfRelaxed { ratio: 0.1, smallest: 6, block: 200, ..GfRelaxed::default() }),
    ];
    attacks.iter().for_each(|settings| goes_on(settings, 3));
}

/// While pairs are exchanged, where they no longer are, and before the first that was better; with blocks of some pairs and of all.
#[test]
fn an_attack_on_blocks_goes_on_with_its_pairs() {
    for block in [60, 200, 1_000_000] {
        let settings = PrBcd { ratio: 0.15, epochs: 14, resampling: 9, block, learning_rate: 40.0, ..PrBcd::default() };
        for stop_at in [1, 5, 8, 9, 12, 13] {
            goes_on(&AttackSettings::PrBcd(settings.clone()), stop_at);
        }
    }
}

#[test]
fn parts_of_another_attack_are_not_gone_on_with() {
    let karate = Target::karate();
    let settings = PrBcd { ratio: 0.15, epochs: 14, block: 60, ..PrBcd::default() };
    let stop = |event: &Event<'_>| match event {
        Event::Progress { done: 4.., .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let stopped = AttackSettings::PrBcd(PrBcd { block: 400, ..settings.clone() }).run(&karate.input(), &stop).unwrap();
    let state = stopped.state();
    let error =
        AttackSettings::PrBcd(settings).run(&AttackInput { resume: Some(&state), ..karate.input() }, &NoObserver);
    assert!(matches!(error.unwrap_err(), Error::Unsuitable { .. }));
}

#[test]
fn flips_of_another_graph_are_not_gone_on_with() {
    let karate = Target::karate();
    let flips = vec![Flip { low: 0, high: 1, added: true, gain: None }];
    let wrong = AttackState { flips, ..AttackState::default() };
    let settings = AttackSettings::Mettack(Mettack { ratio: 0.1, ..Mettack::default() });
    let error = settings.run(&AttackInput { resume: Some(&wrong), ..karate.input() }, &NoObserver).unwrap_err();
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
