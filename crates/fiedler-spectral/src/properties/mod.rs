//! What the spectrum tells of a graph: connectivity, cuts, distances, clusters, diffusion.

mod bounds;
mod clusters;
mod diffusion;
mod distance;
mod fourier;
mod summary;

pub use bounds::{Cheeger, DiameterBounds, Known, clusters_by_gap, distinct, eigengaps, sweep_conductance};
pub use clusters::ClusterCount;
pub use diffusion::Diffusion;
pub use distance::{Diameter, diameter, largest_component};
pub use fourier::{fourier, inverse_fourier};
pub use summary::{Extremes, Summary, SummarySettings, summarize, summarize_watched};
