//! Self-supervised learning on graphs, guided by the graph's spectrum.
//!
//! A built-in graph in, embeddings out, and how well classes can be told from them:
//!
//! ```
//! use fiedler::evaluate::QuickProbe;
//! use fiedler::experiment::{ReadOptions, Task, recipe, settings_tree};
//! use fiedler::graph::NoObserver;
//! use fiedler::learn::run::Run;
//!
//! let task = Task::open("citation", &ReadOptions::default(), 0, &NoObserver)?;
//! let settings = settings_tree::assign(&recipe::get("span-small")?.settings, ["training.epochs=5"])?;
//! let embeddings = Run::new(&settings, &task.dataset).fit()?.embeddings;
//! let probe = QuickProbe::new(&task.dataset, 0).expect("labels");
//! let score = probe.score("span", &embeddings.to_dense()?, &NoObserver)?;
//! assert!(embeddings.rows() == 1000 && score.value > 0.4, "{score:?}");
//! # Ok::<(), fiedler::experiment::Error>(())
//! ```
//!
//! This crate gathers the others under one name. Data flow one way through them: [`graph`] → [`spectral`] → [`augment`] → [`learn`] →
//! [`evaluate`] → [`report`]; [`attack`] poisons graphs, and [`experiment`] puts them together into runs, searches and tables. The program `fiedler` is the crate
//! `fiedler-cli`. The features `png`, `fetch`, `parquet` and `molecules` are off unless asked for.
//!
//! # Glossary
//!
//! | here | in the SPAN paper | in PyTorch Geometric, PyGCL or scikit-learn |
//! |---|---|---|
//! | `Graph::{indptr, indices}`, `edge_index` | A | `SparseTensor` in CSR; `edge_index` |
//! | `GraphSet`, `block_diagonal`, `Batch`, `GraphOffsets` | – | `Batch`, `Batch.ptr` |
//! | `Split { train, validation, test }` | – | `train_mask`, `val_mask`, `test_mask` |
//! | `MultiLabel`, `Regression` | – | several binary targets, real-valued targets |
//! | `Normalization::{Symmetric, RowMean, None}`, `Operator` | Â | `gcn_norm`, `aggr="mean"`, `aggr="add"` |
//! | `Scheme`, flip probabilities | Δ | – |
//! | `ratio` | σ_e | – |
//! | `SpectralObjective::{Expected, Sampled}` | L_GS | – |
//! | `k` | K | – |
//! | `Pipeline`: `drop-edges`, `mask-features`, `compose`, `one-of` | T(·) | `EdgeRemoving`, `FeatureMasking`, `Compose`, `RandomChoice` |
//! | `View`, `ViewKey` | t(G) | an augmented graph |
//! | `encoder`, `hidden_channels`, `num_layers`, `JumpingKnowledge` | f | `GCN(hidden_channels, num_layers, jk)` |
//! | `readout`, `Pooling`, `Projector` | g | `global_mean_pool`; projection head |
//! | `ContrastMode::{local-global, local-local, global-global}` | node–graph | PyGCL `G2L`, `L2L`, `G2G` |
//! | `ContrastiveLoss::{InfoNce, JensenShannon}`, `temperature` | I | PyGCL `InfoNCE(tau)`, `JSD` |
//! | `Corruption` (`MessageGraph::corrupted`) | H~ | `DeepGraphInfomax(corruption)` |
//! | `ema`, `deep_copy` | – | target network of BGRL |
//! | `Pass`, `Mode::{Train, Eval, Calibrate}` | – | `model.train()`, `model.eval()` |
//! | `StateDict` | – | `state_dict()` |
//! | `weight_decay` of `adam`, of `adamw` | – | `torch.optim.Adam`, `AdamW` |
//! | `Probe`, `cs`, `alphas`, `Scaling::{standardize, l2-rows}` | linear evaluation | `LogisticRegression(C)`, `Ridge(alpha)`, `StandardScaler`, `normalize` |
//! | `Protocol`: `public`, `random`, `kfold`, `scaffold`, `reference` | – | `PublicSplit`, `ShuffleSplit`, `StratifiedKFold` |

pub use fiedler_attack as attack;
pub use fiedler_augment as augment;
pub use fiedler_evaluate as evaluate;
pub use fiedler_experiment as experiment;
pub use fiedler_graph as graph;
pub use fiedler_io as io;
pub use fiedler_learn as learn;
pub use fiedler_report as report;
pub use fiedler_spectral as spectral;
