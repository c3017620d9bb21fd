//! Encoders, contrastive objectives and the sparse kernels under them, for self-supervised learning on graphs.
//!
//! A graph becomes a [`Structure`] to pass messages along, its features an [`Input`]; an [`encoder`] makes of both one vector a
//! node, a [`readout`] one a graph, and an [`objective`] says how well two views agree. One graph is a batch of one: which nodes
//! belong to which graph is told by [`Segments`]. Under all of this lie a few operations with derivatives of their own
//! ([`ops`]), and [`optimizer`] moves the weights.
//!
//! ```
//! use burn::tensor::Device;
//! use fiedler_graph::{Features, generate, random};
//! use fiedler_learn::encoder::{EncoderSettings, GcnSettings, Widths};
//! use fiedler_learn::objective::{Contrast, Negatives, Objective, Side};
//! use fiedler_learn::optimizer::{Adam, AdamSettings};
//! use fiedler_learn::readout::{Readout, ReadoutSettings};
//! use fiedler_learn::{Initializer, Input, Segments, Structure};
//!
//! let karate = generate::karate_club();
//! let graph = karate.graph().expect("one graph");
//! let device = Device::flex().autodiff();
//! let input = Input::new(&Features::degrees(graph, 20), &device);
//!
//! let settings = EncoderSettings::Gcn(GcnSettings { hidden: 16, ..GcnSettings::default() });
//! let mut initializer = Initializer::new(7, &device);
//! let mut encoder = settings.build(Widths { nodes: input.columns(), edges: None }, &mut initializer)?;
//! let readout = Readout::new(&ReadoutSettings::default(), &settings, &mut initializer)?;
//!
//! let structure = Structure::new(graph, settings.weighting());
//! let segments = Segments::single(graph.num_nodes());
//! let twin = structure.shuffled(&segments, &mut random::stream(7, "corruption", 0))?;
//! let [nodes, corrupted] = &encoder.forward_each(&[&structure, &twin], &input, None)?[..] else { unreachable!() };
//! let side = Side {
//!     graphs: readout.forward(nodes, &segments),
//!     nodes: nodes.last(),
//!     negatives: Negatives::Corrupted(corrupted.last()),
//! };
//! let loss = Objective::default().loss(&Contrast { sides: [side.clone(), side], segments })?;
//! encoder = Adam::new(AdamSettings::default())?.step(encoder, loss.backward());
//! # Ok::<(), fiedler_learn::Error>(())
//! ```

// A tensor's handle is 256 bytes. The enums that hold one are few and never many at once: boxes would only hide them.
#![allow(clippy::large_enum_variant)]

mod adjacency;
pub mod data;
mod dropout;
mod edge_table;
mod embeddings;
pub mod encoder;
pub mod error;
mod features;
mod initialize;
pub mod layer;
pub mod method;
pub mod objective;
pub mod ops;
pub mod optimizer;
pub mod readout;
pub mod run;
mod segments;
mod structure;
pub mod trainer;
pub mod weights;

pub use adjacency::{Adjacency, Weighting};
pub use dropout::Draws;
pub use embeddings::Embeddings;
pub use error::{Error, Result};
pub use features::{Input, SparseFeatures};
pub use initialize::Initializer;
pub use segments::Segments;
pub use structure::Structure;
