//! Flags that change a run's settings: each stands for one or more keys of the settings.

use clap::Args;
use fiedler_experiment::{Error, ErrorKind, Result, settings_tree};
use fiedler_learn::FeatureSources;
use fiedler_learn::method::{ContrastMode, MethodSettings};
use fiedler_learn::run::Settings;
use serde_json::{Value, json};

/// What is learned, and how.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Learning")]
pub struct LearnFlags {
    #[arg(long, value_name = "NAME", help = method_names(), long_help = method_help())]
    method: Option<String>,
    /// Columns of the embedding, of methods without an encoder: hops [default: 512, of sets of graphs 256] and
    /// spectral [default: 64]
    #[arg(long, value_name = "N")]
    dimensions: Option<usize>,
    /// Where features come from: auto (those of the data, or node degrees), or some of given, labels, attributes, constant, degrees, structural and spectral:K joined
    /// by +, such as given+structural+spectral:64 [default: auto]
    #[arg(long, value_name = "LIST")]
    feature_sources: Option<FeatureSources>,
    /// Epochs of training
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Hidden channels: the width of the encoder
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,
    /// Layers of the encoder
    #[arg(long, value_name = "N")]
    layers: Option<usize>,
    /// Learning rate
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    learning_rate: Option<f64>,
    /// Weight decay (L2, as in torch.optim.Adam)
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    weight_decay: Option<f64>,
    /// Feature masking rate: the probability of hiding a column of features from a view
    #[arg(long, value_name = "RATE", alias = "mask", allow_negative_numbers = true)]
    feature_mask: Option<f64>,
    /// Contrastive loss: info-nce (the paper's) or jensen-shannon (that of the program behind the paper's numbers)
    #[arg(long, alias = "objective", value_name = "NAME")]
    loss: Option<String>,
    /// What is contrasted across views: local-global (nodes with their graph: the paper's), local-local (nodes with other nodes),
    /// global-global (graphs with the other graphs of a batch) [default: local-global]
    #[arg(long, alias = "pairs", value_name = "NAME")]
    contrast: Option<ContrastMode>,
    /// One encoder for both views, or two
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    encoders: Option<u8>,
    /// Batch size: graphs that a step looks at, of a set
    #[arg(long, value_name = "N")]
    batch_size: Option<usize>,
    /// Sampler of one graph that is too large for a step: neighbors, ego, walk or clusters, or whole [default: whole; with --batch-nodes clusters]
    #[arg(long, value_name = "NAME")]
    sampler: Option<String>,
    /// Nodes of a step, of one graph that is trained on in parts [default with --sampler: 1024]
    #[arg(long, value_name = "N")]
    batch_nodes: Option<usize>,
    /// Patience: epochs without a smaller loss after which training ends
    #[arg(long, value_name = "N")]
    patience: Option<usize>,
    /// Epochs between two checkpoints
    #[arg(long, value_name = "N")]
    checkpoint_every: Option<usize>,
    /// Put the trained embedding beside another that needs no training: hops (multi-hop features; for one graph)
    #[arg(long, value_name = "NAME")]
    beside: Option<String>,
    /// Change any setting that `fiedler settings` lists, such as --set training.patience=20; after all other flags
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
}

/// A flag with the keys it stands for.
struct Flag {
    name: &'static str,
    keys: &'static [&'static str],
    value: Option<Value>,
}

fn method_names() -> String {
    let names: Vec<&str> = MethodSettings::ALL.iter().map(|method| method.name).collect();
    format!("What makes the embedding: {} {METHOD_DEFAULT}", names.join(", "))
}

/// What makes the embedding where nothing is said.
const METHOD_DEFAULT: &str = "[default: that of the recipe]";

fn method_help() -> String {
    let mut help = format!("What makes the embedding {METHOD_DEFAULT}:");
    for method in MethodSettings::ALL {
        help.push_str(&format!("\n  {:11} {}", method.name, method.about));
    }
    help
}

impl LearnFlags {
    fn flags(&self, method: &MethodSettings) -> [Flag; 17] {
        let flag = |name, keys, value| Flag { name, keys, value };
        let whole = |value: Option<usize>| value.map(|value| json!(value));
        let real = |value: Option<f64>| value.map(|value| json!(value));
        let text = |value: &Option<String>| value.as_ref().map(|value| json!(value));
        let dimensions: &[&str] = match method {
            MethodSettings::Spectral(_) => &["method.eigenvectors"],
            // Of nodes or of graphs, whichever the data have.
            MethodSettings::Hops(_) => &["method.dimensions", "method.graphs.dimensions"],
            _ => &["method.dimensions"],
        };
        // Where the last layer has a width of its own, that is meant as well.
        let encoder = serde_json::to_value(method).map(|method| method["encoder"].clone()).unwrap_or_default();
        let widths: &[&str] = match encoder.get("out_channels") {
            Some(_) => &["method.encoder.hidden_channels", "method.encoder.out_channels"],
            None => &["method.encoder.hidden_channels"],
        };
        let sources = self.feature_sources.as_ref().map(|sources| json!(sources));
        [
            flag("--dimensions", dimensions, whole(self.dimensions)),
            flag("--feature-sources", &["features.sources"], sources),
            flag("--epochs", &["training.epochs"], whole(self.epochs)),
            flag("--hidden", widths, whole(self.hidden)),
            flag("--layers", &["method.encoder.num_layers"], whole(self.layers)),
            flag("--learning-rate", &["training.learning_rate"], real(self.learning_rate)),
            flag("--weight-decay", &["training.weight_decay"], real(self.weight_decay)),
            flag(
                "--feature-mask",
                &["feature_masking.first.rate", "feature_masking.second.rate"],
                real(self.feature_mask),
            ),
            flag("--loss", &["method.loss.name"], text(&self.loss)),
            flag("--contrast", &["method.contrast.name"], self.contrast.map(contrast_name)),
            flag("--encoders", &["method.share_encoder"], self.encoders.map(|count| json!(count != 2))),
            flag("--beside", &["embedding.beside"], text(&self.beside)),
            flag("--batch-size", &["training.batch_size"], whole(self.batch_size)),
            flag("--sampler", &["training.sampler.name"], text(&self.sampler)),
            flag("--batch-nodes", &["training.batch_nodes"], whole(self.batch_nodes)),
            flag("--patience", &["training.patience"], whole(self.patience)),
            flag("--checkpoint-every", &["training.checkpoint_every"], whole(self.checkpoint_every)),
        ]
    }

    /// The method that is asked for, if one is.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// The settings with what the flags ask for, but for `--set`, which comes after all others: see [`LearnFlags::assigned`].
    pub fn apply(&self, settings: &Settings) -> Result<Settings> {
        let mut settings = match &self.method {
            Some(method) => settings_tree::with_method(settings, method)?,
            None => settings.clone(),
        };
        let flags = self.flags(&settings.method);
        check(&flags, &settings)?;
        for Flag { keys, value, .. } in flags {
            let Some(value) = value else { continue };
            for key in keys {
                settings = settings_tree::assign_value(&settings, key, value.clone())?;
            }
        }
        Ok(settings)
    }

    /// The settings with what `--set` asks for.
    pub fn assigned(&self, settings: &Settings) -> Result<Settings> {
        settings_tree::assign(settings, self.set.iter().map(String::as_str))
    }
}

/// The name of a contrast mode in settings.
fn contrast_name(contrast: ContrastMode) -> Value {
    serde_json::to_value(contrast).map(|value| value["name"].clone()).unwrap_or_default()
}

/// Refuses flags that say nothing to the method, rather than passing them over: those whose keys it does not have, and those of training or
/// of views where there are none.
fn check(flags: &[Flag], settings: &Settings) -> Result<()> {
    let method = settings.method.as_any();
    let means_something = |key: &str| match key.split('.').next() {
        Some("training") => method.untrained().is_some(),
        Some("feature_masking") => method.takes_scheme(),
        _ => settings_tree::knows(settings, key).unwrap_or(false),
    };
    let given = flags.iter().filter(|flag| flag.value.is_some());
    let idle: Vec<&str> =
        given.filter(|flag| !flag.keys.iter().all(|key| means_something(key))).map(|flag| flag.name).collect();
    if idle.is_empty() {
        return Ok(());
    }
    let message = format!("{} means nothing to the method {}", idle.join(", "), method.info().name);
    Err(Error::new(ErrorKind::Usage, message, "leave it out, or choose another method".to_owned()))
}
