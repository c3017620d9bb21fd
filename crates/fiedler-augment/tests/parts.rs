//! A scheme whose pairs are held in parts, against the same in one piece; with parts that are lost on the way.
#![allow(clippy::unwrap_used)]

use std::sync::Mutex;

use fiedler_augment::scheme::{Augmentation, Spectral, SupportChoice};
use fiedler_augment::support::{Answer, Holders, Part, Question};
use fiedler_augment::{Error, Result, Scheme, SchemeSettings};
use fiedler_graph::{Dataset, NoObserver, generate};

/// Parts in this process. What travels does so as bytes; a part can be lost before any question, and comes back from its last copy.
struct Local {
    count: usize,
    /// A part is lost at every so many questions, and copied at every so many.
    lost_every: Option<usize>,
    copied_every: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    parts: Vec<Part>,
    copies: Vec<Vec<u8>>,
    /// Questions that changed parts since they were copied.
    since: Vec<Vec<u8>>,
    asked: usize,
    lost: usize,
}

impl Local {
    fn new(count: usize, lost_every: Option<usize>) -> Local {
        Local { count, lost_every, copied_every: 5, state: Mutex::default() }
    }
}

impl Holders for Local {
    fn count(&self) -> usize {
        self.count
    }

    fn hold(&self, parts: Vec<Part>) -> Result<()> {
        assert_eq!(parts.len(), self.count);
        let mut state = self.state.lock().unwrap();
        state.copies = parts.iter().map(Part::to_bytes).collect::<Result<_>>()?;
        (state.parts, state.since) = (parts, Vec::new());
        Ok(())
    }

    fn ask(&self, question: &Question) -> Result<Vec<Answer>> {
        let mut state = self.state.lock().unwrap();
        state.asked += 1;
        if self.lost_every.is_some_and(|every| state.asked.is_multiple_of(every)) {
            let lost = state.asked % self.count;
            let mut part = Part::from_bytes(&state.copies[lost])?;
            for question in &state.since {
                part.ask(&Question::from_bytes(question)?)?;
            }
            (state.parts[lost], state.lost) = (part, state.lost + 1);
        }
        let bytes = question.to_bytes()?;
        let question = Question::from_bytes(&bytes)?;
        let answers = state.parts.iter_mut().map(|part| part.ask(&question)?.to_bytes());
        let answers = answers.collect::<Result<Vec<_>>>()?;
        if question.changes() {
            state.since.push(bytes);
        }
        if state.asked.is_multiple_of(self.copied_every) {
            state.copies = state.parts.iter().map(Part::to_bytes).collect::<Result<_>>()?;
            state.since.clear();
        }
        answers.iter().map(|answer| Answer::from_bytes(answer)).collect()
    }
}

/// More nodes than one piece has, and more pairs.
fn graph() -> Result<Dataset> {
    Ok(generate::from_spec("sbm:nodes=9000,classes=3,degree=5", 1)?)
}

fn settings() -> Spectral {
    Spectral { steps: 6, support: SupportChoice::Candidates, candidates: 3, ..Spectral::default() }
}

/// The probabilities of all pairs, bit by bit.
fn bits(scheme: &Scheme) -> Vec<Vec<(u32, u32, u32)>> {
    let of_view = |view: &Augmentation| {
        let Augmentation::Pairs(pairs) = view else { panic!("pairs") };
        let mut found = Vec::new();
        pairs.graphs()[0].visit(|(low, high), p| found.push((low, high, p.to_bits())));
        found
    };
    let found: Vec<Vec<_>> = scheme.views().iter().map(of_view).collect();
    assert!(found.iter().any(|pairs| pairs.len() > 1000));
    found
}

#[test]
fn any_number_of_parts_has_the_bits_of_one_piece() -> Result<()> {
    let data = graph()?;
    for settings in [
        settings(),
        Spectral { support: SupportChoice::Edges, operator: fiedler_spectral::Operator::Propagation, ..settings() },
        Spectral { step_size: fiedler_augment::ascent::StepSize::Rate(3.0), max_probability: 0.9, ..settings() },
    ] {
        let settings = SchemeSettings::Opposite(settings);
        let whole = settings.compute(&data.graphs, &NoObserver)?;
        for count in [1, 2, 3, 5] {
            let found = settings.compute_in_parts(&data.graphs, &Local::new(count, None), &NoObserver)?;
            assert_eq!(bits(&found), bits(&whole), "{count} parts");
            for (view, expected) in found.report().views.iter().zip(&whole.report().views) {
                assert_eq!((&view.curve, view.mass, view.gap), (&expected.curve, expected.mass, expected.gap));
            }
        }
    }
    Ok(())
}

#[test]
fn a_start_that_is_left_by_a_perturbation_has_them_too() -> Result<()> {
    // On a ring all pairs are alike.
    let data = generate::from_spec("cycle:nodes=9000", 0)?;
    let settings =
        SchemeSettings::Opposite(Spectral { support: SupportChoice::Edges, steps: 4, ..Spectral::default() });
    let whole = settings.compute(&data.graphs, &NoObserver)?;
    assert!(whole.report().views.iter().any(|view| view.perturbed > 0));
    let found = settings.compute_in_parts(&data.graphs, &Local::new(2, Some(7)), &NoObserver)?;
    assert_eq!(bits(&found), bits(&whole));
    Ok(())
}

#[test]
fn parts_that_are_lost_come_back() -> Result<()> {
    let (data, settings) = (graph()?, SchemeSettings::Opposite(settings()));
    let whole = settings.compute(&data.graphs, &NoObserver)?;
    for every in [1, 3, 4] {
        let holders = Local::new(3, Some(every));
        let found = settings.compute_in_parts(&data.graphs, &holders, &NoObserver)?;
        assert_eq!(bits(&found), bits(&whole));
        assert!(holders.state.lock().unwrap().lost > 20);
    }
    Ok(())
}

/// Holders that give up after some questions.
struct Unreachable(Mutex<usize>);

impl Holders for Unreachable {
    fn count(&self) -> usize {
        1
    }

    fn hold(&self, _: Vec<Part>) -> Result<()> {
        Ok(())
    }

    fn ask(&self, _: &Question) -> Result<Vec<Answer>> {
        *self.0.lock().unwrap() += 1;
        Err(Error::parts("nobody is there"))
    }
}

#[test]
fn what_goes_wrong_is_told() -> Result<()> {
    let data = graph()?;
    let asked = Unreachable(Mutex::new(0));
    let failed = SchemeSettings::Opposite(settings()).compute_in_parts(&data.graphs, &asked, &NoObserver);
    assert!(failed.unwrap_err().to_string().contains("nobody is there"));
    assert_eq!(*asked.0.lock().unwrap(), 1, "nobody is asked again");
    for (settings, expected) in [
        (SchemeSettings::Single(settings()), "scheme is single"),
        (SchemeSettings::Opposite(Spectral { k: Some(4), ..settings() }), "k is given"),
        (
            SchemeSettings::Opposite(Spectral { support: SupportChoice::All, memory: 1 << 40, ..settings() }),
            "support is all",
        ),
        (
            SchemeSettings::Opposite(Spectral {
                objective: Some(fiedler_augment::objective::SpectralObjective::Expected),
                ..settings()
            }),
            "objective is expected",
        ),
    ] {
        let small = generate::karate_club();
        let refused = settings.compute_in_parts(&small.graphs, &asked, &NoObserver).unwrap_err();
        assert!(refused.to_string().contains(expected) && refused.hint().is_some(), "{refused}");
    }
    let one = generate::karate_club();
    let many = Dataset::gather("three", &[&one, &one, &one])?;
    let refused = SchemeSettings::Opposite(settings()).compute_in_parts(&many.graphs, &asked, &NoObserver);
    assert!(refused.unwrap_err().to_string().contains("number of graphs is 3"));
    assert!(Question::from_bytes(b"nothing").is_err() && Part::from_bytes(b"").is_err());
    Ok(())
}
