//! A trained embedding beside multi-hop features: what it is, that other graphs get the same, and what it is not for.
#![allow(clippy::unwrap_used)]

use fiedler_graph::{Dataset, Graph, GraphSet, Split, generate};
use fiedler_learn::encoder::{DecoupledSettings, EncoderSettings};
use fiedler_learn::method::{CcaSsg, Dgi, Hops, MethodSettings, Raw, Supervised, Untrained};
use fiedler_learn::run::{Run, Settings};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::{Beside, EmbeddingSettings, Embeddings, SavedEncoder, Supervision};

fn settings(method: impl Into<MethodSettings>, beside: Option<Beside>) -> Settings {
    let mut settings = Settings::of_method(method);
    settings.training.epochs = 4;
    settings.seed = 3;
    settings.embedding.beside = beside;
    settings
}

fn cca() -> CcaSsg {
    let encoder = DecoupledSettings { hidden_channels: 24, ..DecoupledSettings::default() };
    CcaSsg { encoder: EncoderSettings::Decoupled(encoder), ..CcaSsg::default() }
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn rows(embeddings: &Embeddings) -> Vec<Vec<f64>> {
    (0..embeddings.rows()).map(|row| embeddings.row(row).iter().map(|&value| f64::from(value)).collect()).collect()
}

/// Columns standardized by the sample deviation, then rows to length one.
fn normalized(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let count = rows.len() as f64;
    for column in 0..rows[0].len() {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
        let variance = rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / (count - 1.0);
        rows.iter_mut().for_each(|row| row[column] = (row[column] - mean) / (variance.sqrt() + 1e-5));
    }
    for row in &mut rows {
        let length = row.iter().map(|value| value * value).sum::<f64>().sqrt().max(1e-12);
        row.iter_mut().for_each(|value| *value /= length);
    }
    rows
}

#[test]
fn distances_are_those_of_both_embeddings_side_by_side() {
    let dataset = generate::from_spec("citation:nodes=300", 3).unwrap();
    let alone = Run::new(&settings(cca(), None), &dataset).fit().unwrap();
    let hops = Run::new(&settings(Hops { seed: 3, ..Hops::default() }, None), &dataset).fit().unwrap();
    let mut both = settings(cca(), Some(Beside::Hops));
    // With room for every direction, projection and rotation keep all distances.
    both.embedding.dimensions = 2000;
    let joined = Run::new(&both, &dataset).fit().unwrap();
    assert_eq!(joined.history.losses, alone.history.losses, "training knows nothing of what it stands beside");
    let expected: Vec<Vec<f64>> = normalized(rows(&alone.embeddings))
        .into_iter()
        .zip(rows(&hops.embeddings))
        .map(|(trained, hops)| trained.into_iter().map(|value| 2.0 * value).chain(hops).collect())
        .collect();
    let found = rows(&joined.embeddings);
    for (one, other) in [(0, 1), (5, 200), (17, 18), (299, 3), (100, 150)] {
        let (found, expected) = (distance(&found[one], &found[other]), distance(&expected[one], &expected[other]));
        assert!((found - expected).abs() < 2e-3 * (1.0 + expected), "{one}, {other}: {found}, expected {expected}");
    }
    // Rotated columns are alike: none has much more of the variance than its share, as the first component would.
    let columns = found[0].len();
    let of = |column: usize| found.iter().map(|row| row[column].powi(2)).sum::<f64>();
    let squares: Vec<f64> = (0..columns).map(of).collect();
    let most = squares.iter().copied().fold(0.0, f64::max);
    assert!(most < 8.0 * squares.iter().sum::<f64>() / columns as f64, "{most}");
}

#[test]
fn it_is_stored_with_the_encoder_and_the_same_bits_on_any_number_of_threads() {
    let dataset = generate::from_spec("citation", 3).unwrap();
    let other = generate::from_spec("citation", 8).unwrap();
    let methods: [MethodSettings; 3] = [cca().into(), Dgi::default().into(), Untrained::default().into()];
    for method in methods {
        let mut settings = settings(method, Some(Beside::Hops));
        settings.embedding.dimensions = 64;
        let run = || Run::new(&settings, &dataset).fit().unwrap();
        let (one, two) = (on_threads(1, run), on_threads(2, run));
        let bytes = one.encoder.to_bytes().unwrap();
        assert_eq!(one.embeddings, two.embeddings);
        assert_eq!(bytes, two.encoder.to_bytes().unwrap());
        assert_eq!((one.embeddings.rows(), one.embeddings.columns()), (1000, 64));
        let saved = SavedEncoder::from_bytes(&bytes).unwrap();
        assert_eq!(saved, one.encoder);
        assert_eq!(saved.embed(&dataset).unwrap(), one.embeddings);
        let of_other = saved.embed(&other).unwrap();
        assert_eq!((of_other.rows(), of_other.columns()), (1000, 64));
        assert!(of_other.are_finite() && of_other != one.embeddings);
    }
}

#[test]
fn small_and_featureless_graphs_have_it_too() {
    let karate = generate::karate_club();
    let result = Run::new(&settings(cca(), Some(Beside::Hops)), &karate).fit().unwrap();
    assert!(result.embeddings.are_finite() && result.embeddings.rows() == 34);
    assert_eq!(result.encoder.embed(&karate).unwrap(), result.embeddings);
    let path = Dataset::single("path", Graph::from_pairs(3, vec![(0, 1)]).unwrap().0);
    let result = Run::new(&settings(cca(), Some(Beside::Hops)), &path).fit().unwrap();
    assert!(result.embeddings.are_finite() && result.embeddings.rows() == 3);
}

/// Two triangles.
fn triangles() -> Dataset {
    let pairs = vec![(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)];
    let arena = Graph::from_pairs(6, pairs).unwrap().0;
    Dataset::set("triangles", GraphSet::from_block_diagonal(arena, vec![3, 3]).unwrap())
}

#[test]
fn what_it_is_not_for_is_refused_before_training() {
    let reason =
        |settings: &Settings, dataset: &Dataset| Run::new(settings, dataset).check().err().unwrap().to_string();
    let error = reason(&settings(cca(), Some(Beside::Hops)), &triangles());
    assert!(error.contains("embedding.beside is hops") && error.contains("sets of graphs"), "{error}");
    let mut none = settings(cca(), Some(Beside::Hops));
    none.embedding.dimensions = 0;
    assert!(reason(&none, &generate::karate_club()).contains("embedding.dimensions is 0"));
    let labelled = generate::karate_club();
    let (train, validation, test) = ((0..10).collect(), (10..20).collect(), (20..34).collect());
    let (labels, split) = (
        labelled.labels().unwrap().clone(),
        Split { name: "split".into(), train, validation, test, stopping: Vec::new() },
    );
    let supervision = Some(Supervision { labels: &labels, split: &split });
    let supervised = settings(Supervised::default(), Some(Beside::Hops));
    let error = Run { supervision, ..Run::new(&supervised, &labelled) }.check().err().unwrap().to_string();
    assert!(error.contains("embedding.beside is hops") && error.contains("predicts"), "{error}");
    for (text, words) in [
        (r#"{"embedding": {"beside": "hop"}}"#, "hops"),
        (r#"{"embedding": {"besides": "hops"}}"#, "beside"),
        (r#"{"embedding": "hops"}"#, "string"),
    ] {
        let error = serde_json::from_str::<Settings>(text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    // Settings that say nothing of it are written as they were before.
    assert!(!serde_json::to_string(&Settings::default()).unwrap().contains("embedding"));
    let written = serde_json::to_string(&settings(Raw::default(), Some(Beside::Hops))).unwrap();
    let read: Settings = serde_json::from_str(&written).unwrap();
    assert_eq!(read.embedding, EmbeddingSettings { beside: Some(Beside::Hops), ..EmbeddingSettings::default() });
}

/// Gives shape and values in place of those of a tensor, or none to leave it out.
type Change<'a> = &'a dyn Fn(&str, &[usize], &[f32]) -> Option<(Vec<usize>, Vec<f32>)>;

#[test]
fn stored_parts_that_are_missing_or_do_not_fit_are_refused() {
    let dataset = generate::from_spec("citation:nodes=300", 3).unwrap();
    let encoder = Run::new(&settings(cca(), Some(Beside::Hops)), &dataset).fit().unwrap().encoder;
    let whole = StateDict::from_bytes(&encoder.to_bytes().unwrap()).unwrap();
    let changed = |change: Change<'_>| {
        let mut weights = StateDict::default();
        weights.note = whole.note.clone();
        for (name, shape, values) in whole.iter() {
            if let Some((shape, values)) = change(name, shape, values) {
                weights.insert(name, shape, values).unwrap();
            }
        }
        SavedEncoder::from_bytes(&weights.to_bytes().unwrap()).and_then(|encoder| encoder.embed(&dataset))
    };
    assert!(changed(&|_, shape, values| Some((shape.to_vec(), values.to_vec()))).is_ok());
    let parts: Vec<&str> = whole.iter().map(|(name, ..)| name).filter(|name| name.starts_with("beside.")).collect();
    assert!(parts.len() > 6, "{parts:?}");
    for part in parts {
        let missing = changed(&|name, shape, values| (name != part).then(|| (shape.to_vec(), values.to_vec())));
        assert!(missing.is_err(), "without {part}");
        let cut = changed(&|name, shape, values| match name == part {
            true => {
                let mut shape = shape.to_vec();
                shape[0] -= 1;
                let count = shape.iter().product();
                Some((shape, values[..count].to_vec()))
            }
            false => Some((shape.to_vec(), values.to_vec())),
        });
        assert!(cut.is_err(), "with a shorter {part}");
    }
    // An encoder of one graph is not one of sets.
    let mut set = triangles();
    set.features = dataset.features.as_ref().map(|features| features.gather(&[0, 1, 2, 3, 4, 5]));
    let error = encoder.embed(&set).unwrap_err().to_string();
    assert!(error.contains("embedding.beside"), "{error}");
}
