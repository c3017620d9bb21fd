//! A scheme of one's own: edges between nodes of similar degree are removed more often. Its views train GCL-SPAN.

use std::sync::Arc;

use fiedler::augment::pipeline::ComputeSchemes;
use fiedler::augment::sample::EdgeFlips;
use fiedler::augment::scheme::{Augmentation, PairProbabilities, Scheme};
use fiedler::graph::{NoObserver, generate};
use fiedler::learn::run::{Fitting, Run, Settings};

/// Runs the example; the tests call it too.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let karate = generate::karate_club();
    let graph = karate.graph().ok_or("one graph")?;
    let probability = |(low, high)| 0.5 / (1.0 + graph.degree(low).abs_diff(graph.degree(high)) as f32);
    let flips = EdgeFlips::of_pairs(graph.num_nodes(), graph.edge_pairs().map(|pair| (pair, probability(pair))));
    let view = Augmentation::Pairs(PairProbabilities::new(vec![flips]));
    let scheme = Arc::new(Scheme::custom("similar-degree", &karate.graphs, vec![view.clone(), view]));

    let mut settings = Settings { scheme: Some(scheme.settings().clone()), ..Settings::default() };
    settings.training.epochs = 20;
    let mut schemes = ComputeSchemes::new(&karate.graphs, &NoObserver).with(scheme)?;
    let run = Run::new(&settings, &karate).check()?;
    let result = run.fit(Fitting { schemes: &mut schemes, checkpoint: None, observer: &NoObserver })?;
    println!("{} embeddings of {} columns", result.embeddings.rows(), result.embeddings.columns());
    Ok(())
}
