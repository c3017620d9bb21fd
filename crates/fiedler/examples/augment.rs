//! Only the augmentation: the paper's scheme for a graph, and views drawn from it, as PyTorch Geometric's `edge_index`.

use fiedler::augment::scheme::{SchemeSettings, Spectral, ViewKey};
use fiedler::graph::{NoObserver, generate};

/// Runs the example; the tests call it too.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let karate = generate::karate_club();
    let settings = SchemeSettings::Opposite(Spectral { ratio: 0.2, ..Spectral::default() });
    let scheme = settings.compute(&karate.graphs, &NoObserver)?;
    let batch = karate.graphs.whole();
    for (view, report) in scheme.report().views.iter().enumerate() {
        let drawn = scheme.draw(&batch, ViewKey::new(7, 0, view as u32))?;
        let [rows, _] = drawn.graph.edge_index();
        println!("{}: {} of {} directed edges", report.name, rows.len(), 2 * karate.graphs.num_edges());
    }
    Ok(())
}
