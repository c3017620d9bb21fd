//! Flags that change a run's settings.

use clap::{Args, ValueEnum};
use fiedler_learn::encoder::EncoderSettings;
use fiedler_learn::method::{MethodSettings, Pairing, Raw, Span, Supervised, Untrained};
use fiedler_learn::objective::{InfoNce, JensenShannon, Objective};
use fiedler_learn::run::Settings;

use crate::program::failure::{Exit, Failure};

/// What is learned, and how.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Learning")]
pub struct LearnFlags {
    /// What makes the embedding [default: span]
    #[arg(long, value_enum)]
    method: Option<MethodName>,
    /// How often training goes through the data
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Width of the encoder
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,
    /// Layers of the encoder
    #[arg(long, value_name = "N")]
    layers: Option<usize>,
    /// Length of a step
    #[arg(long, value_name = "RATE")]
    learning_rate: Option<f64>,
    /// Multiple of each weight that is added to its gradient
    #[arg(long, value_name = "SHARE")]
    weight_decay: Option<f64>,
    /// Probability of hiding a column of features from a view
    #[arg(long, value_name = "SHARE")]
    mask: Option<f64>,
    /// How positives and negatives are weighed
    #[arg(long, value_enum)]
    objective: Option<ObjectiveName>,
    /// What is recognized across views [default: node-graph]
    #[arg(long, value_enum)]
    pairs: Option<PairsName>,
    /// One encoder for both views, or two
    #[arg(long, value_name = "1|2")]
    encoders: Option<usize>,
    /// Graphs that a step looks at, of a set
    #[arg(long, value_name = "N")]
    batch_size: Option<usize>,
    /// Epochs without a smaller loss after which training ends
    #[arg(long, value_name = "N")]
    patience: Option<usize>,
    /// Epochs between two checkpoints
    #[arg(long, value_name = "N")]
    checkpoint_every: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodName {
    /// Nodes of one spectral view against the graph of the other: the paper's
    Span,
    /// An encoder with random weights
    Untrained,
    /// The features as they are
    Raw,
    /// An encoder trained by the labels, to compare with: the embedding has one column a class, its score
    Supervised,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ObjectiveName {
    /// The paper's
    InfoNce,
    /// That of the program behind the paper's numbers
    JensenShannon,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PairsName {
    /// Nodes are to recognize their graph: the paper's
    NodeGraph,
    /// Nodes are to recognize themselves among other nodes
    NodeNode,
    /// Graphs are to recognize themselves among the other graphs of a batch
    GraphGraph,
}

impl LearnFlags {
    /// Changes what the flags ask for.
    pub fn apply(&self, settings: &mut Settings) -> Result<(), Failure> {
        if let Some(method) = self.method {
            settings.method = method.over(&settings.method);
        }
        self.check(&settings.method)?;
        let training = &mut settings.training;
        set(&mut training.epochs, self.epochs);
        set(&mut training.learning_rate, self.learning_rate);
        set(&mut training.weight_decay, self.weight_decay);
        set(&mut training.batch_size, self.batch_size);
        set(&mut training.checkpoint_every, self.checkpoint_every);
        training.patience = self.patience.or(training.patience);
        set(&mut settings.masking.first.columns, self.mask);
        set(&mut settings.masking.second.columns, self.mask);
        match &mut settings.method {
            MethodSettings::Span(span) => {
                self.apply_to_encoder(&mut span.encoder);
                set(&mut span.encoders, self.encoders);
                set(&mut span.objective, self.objective.map(ObjectiveName::settings));
                let now = span.pairs;
                set(&mut span.pairs, self.pairs.map(|pairs| pairs.over(now)));
            }
            MethodSettings::Untrained(untrained) => self.apply_to_encoder(&mut untrained.encoder),
            MethodSettings::Supervised(supervised) => self.apply_to_encoder(&mut supervised.encoder),
            MethodSettings::Raw(_) => {}
        }
        Ok(())
    }

    fn apply_to_encoder(&self, encoder: &mut EncoderSettings) {
        let (hidden, layers) = match encoder {
            EncoderSettings::Gcn(gcn) => (&mut gcn.hidden, &mut gcn.layers),
            EncoderSettings::Gin(gin) => (&mut gin.hidden, &mut gin.layers),
        };
        set(hidden, self.hidden);
        set(layers, self.layers);
    }

    /// Refuses flags that say nothing to the method, rather than passing them over.
    fn check(&self, method: &MethodSettings) -> Result<(), Failure> {
        let (trained, contrasts) = (method.is_trained(), method.views() > 0);
        let encodes = method.encoder().is_some();
        let flags = [
            ("--epochs", self.epochs.is_some(), trained),
            ("--hidden", self.hidden.is_some(), encodes),
            ("--layers", self.layers.is_some(), encodes),
            ("--learning-rate", self.learning_rate.is_some(), trained),
            ("--weight-decay", self.weight_decay.is_some(), trained),
            ("--mask", self.mask.is_some(), contrasts),
            ("--objective", self.objective.is_some(), contrasts),
            ("--pairs", self.pairs.is_some(), contrasts),
            ("--encoders", self.encoders.is_some(), contrasts),
            ("--batch-size", self.batch_size.is_some(), trained),
            ("--patience", self.patience.is_some(), trained),
            ("--checkpoint-every", self.checkpoint_every.is_some(), trained),
        ];
        let idle: Vec<&str> = flags.iter().filter(|(_, given, used)| *given && !used).map(|(flag, ..)| *flag).collect();
        if idle.is_empty() {
            return Ok(());
        }
        let message = format!("{} means nothing to the method {}", idle.join(", "), method.name());
        Err(Failure::new(Exit::Usage, message, "leave it out, or choose another method".to_owned()))
    }
}

impl PairsName {
    /// This pairing, with what is set already if it is the same.
    fn over(self, now: Pairing) -> Pairing {
        match self {
            PairsName::NodeGraph => Pairing::NodeGraph,
            PairsName::NodeNode => now.node_node(),
            PairsName::GraphGraph => Pairing::GraphGraph,
        }
    }
}

impl MethodName {
    /// Settings of this method, with the encoder of others.
    fn over(self, base: &MethodSettings) -> MethodSettings {
        let (encoder, readout) =
            (base.encoder().cloned().unwrap_or_default(), base.readout().cloned().unwrap_or_default());
        match (self, base) {
            (MethodName::Span, MethodSettings::Span(_)) | (MethodName::Raw, MethodSettings::Raw(_)) => base.clone(),
            (MethodName::Span, _) => MethodSettings::Span(Span { encoder, readout, ..Span::default() }),
            (MethodName::Untrained, _) => MethodSettings::Untrained(Untrained { encoder, readout }),
            (MethodName::Supervised, _) => MethodSettings::Supervised(Supervised { encoder, readout, classes: None }),
            (MethodName::Raw, _) => MethodSettings::Raw(Raw { pooling: readout.pooling }),
        }
    }
}

impl ObjectiveName {
    fn settings(self) -> Objective {
        match self {
            ObjectiveName::InfoNce => Objective::InfoNce(InfoNce::default()),
            ObjectiveName::JensenShannon => Objective::JensenShannon(JensenShannon::default()),
        }
    }
}

fn set<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}
