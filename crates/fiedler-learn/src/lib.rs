//! Self-supervised learning on graphs: encoders, contrastive losses, methods and the trainer that is written once for all of them.
//!
//! Settings and a dataset go in, embeddings and an encoder come out ([`run`]). Between them: a [`data::Data`] is what encoders see of a
//! dataset, a [`Task`] what there is to learn, a [`Method`](method::Method) what is learned and how, a [`Sample`] one view as encoders
//! take it. Under all of this lie a few operations with derivatives of their own ([`ops`]). One graph is a set of one: which nodes belong
//! to which graph is told by [`GraphOffsets`]. Nothing here touches a file.
//!
//! ```
//! use fiedler_graph::generate;
//! use fiedler_learn::method::Dgi;
//! use fiedler_learn::run::{Run, Settings};
//! use fiedler_learn::trainer::TrainingSettings;
//!
//! let karate = generate::karate_club();
//! let training = TrainingSettings { epochs: 5, ..TrainingSettings::default() };
//! let settings = Settings { method: Dgi::default().into(), training, ..Settings::default() };
//! let result = Run::new(&settings, &karate).fit()?;
//! assert_eq!((result.embeddings.rows(), result.embeddings.columns()), (34, 512));
//! assert_eq!(result.encoder.embed(&karate)?, result.embeddings);
//! # Ok::<(), fiedler_learn::Error>(())
//! ```

// A tensor's handle is 256 bytes. The enums that hold one are few and never many at once: boxes would only hide them.
#![allow(clippy::large_enum_variant)]

mod beside;
pub mod data;
pub mod descriptor;
mod device;
mod discriminator;
mod edge_table;
mod eigenvectors;
mod ema;
mod embeddings;
pub mod encoder;
pub mod error;
mod feature_matrix;
mod feed_forward;
mod graph_offsets;
mod initialize;
pub mod layer;
pub mod loss;
mod message_graph;
pub mod method;
mod molecule_features;
mod operator;
pub mod ops;
pub mod optimizer;
pub mod pass;
pub mod pca;
mod perturbed;
mod predictor;
mod pretrained;
pub mod published;
pub mod readout;
pub mod run;
mod sample;
mod saved;
mod sources;
mod standardize;
pub mod state_dict;
mod strict;
mod structural;
mod supervision;
mod task;
pub mod trainer;
pub mod version1;
mod views;

pub use beside::{Beside, EmbeddingSettings};
pub use burn;
pub use device::DeviceSettings;
pub use discriminator::Discriminator;
pub use eigenvectors::{EigenvectorSettings, WARNING, eigenvectors, eigenvectors_watched};
pub use ema::{cosine_momentum, deep_copy, ema};
pub use embeddings::Embeddings;
pub use error::{Error, Result};
pub use feature_matrix::{FeatureMatrix, SparseMatrix};
pub use feed_forward::FeedForward;
pub use graph_offsets::GraphOffsets;
pub use initialize::Initializer;
pub use message_graph::MessageGraph;
pub use molecule_features::MoleculeFeatures;
pub use operator::{Normalization, Operator};
pub use perturbed::perturbed_copy;
pub use predictor::Predictor;
pub use pretrained::PretrainedEncoder;
pub use sample::{KeptNodes, Loaded, Sample};
pub use saved::SavedEncoder;
pub use sources::{FeatureSource, FeatureSources};
pub use standardize::have_units;
pub use structural::{STRUCTURAL_COLUMNS, structural_features};
pub use supervision::{BatchLabels, LabelValues, Supervision};
pub use task::{Target, Task, TaskLevel};
