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
    /// What makes the embedding: span (the paper's), dgi, untrained, raw, supervised, hops or spectral [default: span]
    #[arg(long, value_name = "NAME", long_help = method_help())]
    method: Option<String>,
    /// Columns of the embedding, of methods without an encoder: hops [default: 512, of sets of graphs 256] and
    /// spectral [default: 64]
    #[arg(long, value_name = "N")]
    dimensions: Option<usize>,
    /// Where features come from: auto (those of the data, or node degrees), or some of given, degrees, structural and spectral:K joined
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
    /// Weight decay (L2): this multiple of each weight is added to its gradient
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    weight_decay: Option<f64>,
    /// Feature masking: the probability of hiding a column of features from a view
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
    /// Patience: epochs without a smaller loss after which training ends
    #[arg(long, value_name = "N")]
    patience: Option<usize>,
    /// Epochs between two checkpoints
    #[arg(long, value_name = "N")]
    checkpoint_every: Option<usize>,
    /// Change any setting that `fiedler settings` lists, such as --set training.patience=20; after all other flags
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
}

/// What a flag needs of the method, in order to mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Dimensions,
    Training,
    Encoder,
    Views,
}

/// A flag with the keys it stands for.
struct Flag {
    name: &'static str,
    needs: Needs,
    keys: &'static [&'static str],
    value: Option<Value>,
}

fn method_help() -> String {
    let mut help = String::from("What makes the embedding [default: span]:");
    for method in MethodSettings::ALL {
        help.push_str(&format!("\n  {:11} {}", method.name, method.about));
    }
    help
}

impl LearnFlags {
    fn flags(&self, method: &MethodSettings) -> [Flag; 14] {
        let flag = |name, needs, keys, value| Flag { name, needs, keys, value };
        let whole = |value: Option<usize>| value.map(|value| json!(value));
        let real = |value: Option<f64>| value.map(|value| json!(value));
        let text = |value: &Option<String>| value.as_ref().map(|value| json!(value));
        let dimensions: &[&str] = match method {
            MethodSettings::Spectral(_) => &["method.eigenvectors"],
            // Of nodes or of graphs, whichever the data have.
            MethodSettings::Hops(_) => &["method.dimensions", "method.graphs.dimensions"],
            _ => &["method.dimensions"],
        };
        let sources = self.feature_sources.as_ref().map(|sources| json!(sources));
        [
            flag("--dimensions", Needs::Dimensions, dimensions, whole(self.dimensions)),
            flag("--feature-sources", Needs::Nothing, &["features.sources"], sources),
            flag("--epochs", Needs::Training, &["training.epochs"], whole(self.epochs)),
            flag("--hidden", Needs::Encoder, &["method.encoder.hidden_channels"], whole(self.hidden)),
            flag("--layers", Needs::Encoder, &["method.encoder.num_layers"], whole(self.layers)),
            flag("--learning-rate", Needs::Training, &["training.learning_rate"], real(self.learning_rate)),
            flag("--weight-decay", Needs::Training, &["training.weight_decay"], real(self.weight_decay)),
            flag(
                "--feature-mask",
                Needs::Views,
                &["feature_masking.first.rate", "feature_masking.second.rate"],
                real(self.feature_mask),
            ),
            flag("--loss", Needs::Views, &["method.loss.name"], text(&self.loss)),
            flag("--contrast", Needs::Views, &["method.contrast.name"], self.contrast.map(contrast_name)),
            flag("--encoders", Needs::Views, &["method.share_encoder"], self.encoders.map(|count| json!(count != 2))),
            flag("--batch-size", Needs::Training, &["training.batch_size"], whole(self.batch_size)),
            flag("--patience", Needs::Training, &["training.patience"], whole(self.patience)),
            flag("--checkpoint-every", Needs::Training, &["training.checkpoint_every"], whole(self.checkpoint_every)),
        ]
    }

    /// The settings with what the flags ask for, but for `--set`, which comes after all others: see [`LearnFlags::assigned`].
    pub fn apply(&self, settings: &Settings) -> Result<Settings> {
        let mut settings = match &self.method {
            Some(method) => settings_tree::with_method(settings, method)?,
            None => settings.clone(),
        };
        let flags = self.flags(&settings.method);
        check(&flags, &settings.method)?;
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

/// Refuses flags that say nothing to the method, rather than passing them over.
fn check(flags: &[Flag], method: &MethodSettings) -> Result<()> {
    let has = |needs: Needs| match needs {
        Needs::Nothing => true,
        Needs::Dimensions => matches!(method, MethodSettings::Hops(_) | MethodSettings::Spectral(_)),
        Needs::Training => method.as_any().untrained().is_some(),
        Needs::Encoder => json!(method).get("encoder").is_some(),
        Needs::Views => method.as_any().default_views().is_some(),
    };
    let idle = flags.iter().filter(|flag| flag.value.is_some() && !has(flag.needs));
    let idle: Vec<&str> = idle.map(|flag| flag.name).collect();
    if idle.is_empty() {
        return Ok(());
    }
    let message = format!("{} means nothing to the method {}", idle.join(", "), method.name());
    Err(Error::new(ErrorKind::Usage, message, "leave it out, or choose another method".to_owned()))
}
