//! Deep Graph Infomax against its definition, in 64 bits, and the same bits however it is run.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::sync::Mutex;

use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_graph::random::stream;
use fiedler_graph::{Dataset, Dense, Event, Features, Graph, GraphSet, NoObserver, Observer, generate};
use fiedler_learn::encoder::{EncoderSettings, GcnSettings};
use fiedler_learn::method::Dgi;
use fiedler_learn::run::{Fitting, Run, RunResult, Settings};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::trainer::{CheckpointStore, Checkpointing, TrainingSettings};
use fiedler_learn::{Error, Normalization, Operator, SavedEncoder};
use rand::seq::SliceRandom;

const WIDTH: usize = 3;
const COLUMNS: usize = 4;

#[derive(Default)]
struct Memory(Mutex<Option<Vec<u8>>>);

impl CheckpointStore for Memory {
    fn load(&self) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn save(&self, bytes: &[u8]) -> Result<(), String> {
        *self.0.lock().unwrap() = Some(bytes.to_vec());
        Ok(())
    }
}

fn settings(width: usize, epochs: usize) -> Settings {
    let gcn = GcnSettings { hidden_channels: width, num_layers: 1, ..GcnSettings::default() };
    let training = TrainingSettings { epochs, batch_size: 3, min_relative_std: 0.0, ..TrainingSettings::default() };
    let method = Dgi { encoder: EncoderSettings::Gcn(gcn), ..Dgi::default() };
    Settings { seed: 6, method: method.into(), training, ..Settings::default() }
}

/// A path, or three of them.
fn paths(sizes: &[u32]) -> Dataset {
    let (mut pairs, mut first) = (Vec::new(), 0);
    for size in sizes {
        pairs.extend((1..*size).map(|node| (first + node - 1, first + node)));
        first += size;
    }
    let arena = Graph::from_pairs(first as usize, pairs).unwrap().0;
    let mut dataset = match sizes {
        [_] => Dataset::single("path", arena),
        sizes => Dataset::set("paths", GraphSet::from_block_diagonal(arena, sizes.to_vec()).unwrap()),
    };
    let values = (0..first as usize * COLUMNS).map(|at| (at as f32 * 1.3 + 0.2).sin() * 2.0).collect();
    dataset.features = Some(Features::Dense(Dense::new(first as usize, COLUMNS, values).unwrap()));
    dataset
}

fn tensor(result: &RunResult, name: &str) -> Vec<f64> {
    let file = StateDict::from_bytes(&result.encoder.to_bytes().unwrap()).unwrap();
    let found = file.iter().find(|(other, _, _)| *other == name).map(|(_, _, values)| values.to_vec());
    found.unwrap_or_else(|| panic!("no {name}")).into_iter().map(f64::from).collect()
}

/// The loss of the publication, node by node; `order` is the order of the graphs in the batch.
fn definition(result: &RunResult, dataset: &Dataset, order: &[usize], seed: u64) -> f64 {
    let weight = tensor(result, "encoder.Gcn.layers.0.weight");
    let slope = tensor(result, "encoder.Gcn.activations.0.slope")[0];
    let discriminator = tensor(result, "discriminator.weight");
    let operator = Operator::new(dataset.graphs.block_diagonal(), Normalization::Symmetric);
    let dense = dataset.features.as_ref().unwrap().to_dense();
    let row = |node: usize| &dense.values()[node * COLUMNS..(node + 1) * COLUMNS];
    // Where each row of the batch comes from, and whose features it has in the corruption.
    let rows: Vec<usize> =
        order.iter().flat_map(|&graph| dataset.graphs.node_range(graph)).map(|node| node as usize).collect();
    let mut names: Vec<u32> = (0..rows.len() as u32).collect();
    let (mut random, mut first) = (stream(seed, "corruption", 0), 0);
    for &graph in order {
        let size = dataset.graphs.node_range(graph).len();
        names[first..first + size].shuffle(&mut random);
        first += size;
    }
    let mut features_of: Vec<usize> = (0..rows.len()).collect();
    for (place, &node) in rows.iter().enumerate() {
        features_of[node] = rows[names[place] as usize];
    }
    let encode = |node: usize, of: &dyn Fn(usize) -> usize| -> Vec<f64> {
        let (columns, values) = operator.row(node);
        let mut sums = vec![0.0; WIDTH];
        for (&other, &value) in columns.iter().zip(values) {
            for (k, &feature) in row(of(other as usize)).iter().enumerate() {
                for at in 0..WIDTH {
                    sums[at] += f64::from(value) * f64::from(feature) * weight[k * WIDTH + at];
                }
            }
        }
        sums.into_iter().map(|sum| if sum > 0.0 { sum } else { slope * sum }).collect()
    };
    let mut sum = 0.0;
    for &graph in order {
        let nodes: Vec<usize> = dataset.graphs.node_range(graph).map(|node| node as usize).collect();
        let real: Vec<Vec<f64>> = nodes.iter().map(|&node| encode(node, &|other| other)).collect();
        let corrupted: Vec<Vec<f64>> = nodes.iter().map(|&node| encode(node, &|other| features_of[other])).collect();
        let summary: Vec<f64> = (0..WIDTH)
            .map(|at| real.iter().map(|row| row[at]).sum::<f64>() / nodes.len() as f64)
            .map(|mean| 1.0 / (1.0 + (-mean).exp()))
            .collect();
        let score = |row: &[f64]| -> f64 {
            (0..WIDTH)
                .flat_map(|i| (0..WIDTH).map(move |j| (i, j)))
                .map(|(i, j)| row[i] * discriminator[i * WIDTH + j] * summary[j])
                .sum()
        };
        sum -= real.iter().map(|row| (1.0 / (1.0 + (-score(row)).exp())).ln()).sum::<f64>();
        sum -= corrupted.iter().map(|row| (1.0 - 1.0 / (1.0 + (-score(row)).exp())).ln()).sum::<f64>();
    }
    sum / (2 * rows.len()) as f64
}

#[test]
fn the_loss_is_that_of_the_publication() {
    for (sizes, order) in [(vec![5], vec![0]), (vec![4, 6, 3], vec![0, 1, 2])] {
        let dataset = paths(&sizes);
        let mut order: Vec<usize> = order;
        if order.len() > 1 {
            order.shuffle(&mut stream(6, "order of graphs", 0));
        }
        let start = Run::new(&settings(WIDTH, 0), &dataset).fit().unwrap();
        let result = Run::new(&settings(WIDTH, 1), &dataset).fit().unwrap();
        let (found, expected) = (f64::from(result.history.losses[0]), definition(&start, &dataset, &order, 6));
        assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
        // Not the value of a discriminator that knows nothing.
        assert!((expected - 2f64.ln()).abs() > 1e-3, "{expected}");
    }
}

fn fit(run: &Run<'_, '_>, store: &Memory, observer: &dyn Observer) -> Result<RunResult, Error> {
    let mut schemes = ComputeSchemes::new(&run.dataset.graphs, &NoObserver);
    let checkpoint = Some(Checkpointing { store, run: "dgi" });
    run.check()?.fit(Fitting { schemes: &mut schemes, checkpoint, observer })
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn assert_same(one: &RunResult, other: &RunResult) {
    assert_eq!(one.history.losses, other.history.losses);
    assert_eq!(one.embeddings, other.embeddings);
    assert_eq!(one.encoder.to_bytes().unwrap(), other.encoder.to_bytes().unwrap());
}

#[test]
fn one_thread_or_two_stopped_or_not_the_bits_are_the_same() {
    for (dataset, width) in [(generate::from_spec("citation", 3).unwrap(), 64), (paths(&[40; 10]), 16)] {
        let mut settings = settings(width, 8);
        settings.training.patience = Some(8);
        let run = Run::new(&settings, &dataset);
        let whole = on_threads(2, || run.fit().unwrap());
        assert_same(&whole, &on_threads(1, || run.fit().unwrap()));
        let store = Memory::default();
        for stop in [1, 4, 5] {
            let watch = |event: &Event<'_>| match event {
                Event::Progress { done, .. } if *done >= stop => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            };
            match on_threads(2, || fit(&run, &store, &watch)) {
                Err(Error::Stopped { epoch, saved: true, .. }) => assert_eq!(epoch, stop),
                other => panic!("{other:?}"),
            }
        }
        assert_same(&whole, &fit(&run, &store, &NoObserver).unwrap());
        assert!(whole.history.losses.last() < whole.history.losses.first(), "{:?}", whole.history.losses);
        assert_eq!(whole.encoder.embed(&dataset).unwrap(), whole.embeddings);
    }
}

#[test]
fn encoders_stored_before_the_discriminator_had_a_bias_are_read() {
    let dataset = paths(&[12]);
    let result = Run::new(&settings(WIDTH, 3), &dataset).fit().unwrap();
    let today = StateDict::from_bytes(&result.encoder.to_bytes().unwrap()).unwrap();
    let mut before = StateDict::default();
    before.note = today.note.clone();
    for (name, shape, values) in today.iter().filter(|(name, ..)| *name != "discriminator.bias") {
        let name = if name == "discriminator.weight" { "discriminator" } else { name };
        before.insert(name, shape.to_vec(), values.to_vec()).unwrap();
    }
    let saved = SavedEncoder::from_bytes(&before.to_bytes().unwrap()).unwrap();
    assert_eq!(saved.embed(&dataset).unwrap(), result.embeddings);
}

#[test]
fn at_first_the_discriminator_knows_next_to_nothing() {
    let dataset = generate::from_spec("citation", 3).unwrap();
    let result = Run::new(&settings(512, 1), &dataset).fit().unwrap();
    let loss = f64::from(result.history.losses[0]);
    assert!((loss - 2f64.ln()).abs() < 1e-2, "{loss}");
}
