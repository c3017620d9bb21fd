//! What a search chooses from.

use fiedler_augment::SchemeSettings;
use fiedler_augment::objective::SpectralObjective;
use fiedler_augment::scheme::{DiffusionSettings, Form, NodeDropping, Rates, Spectral, SupportChoice, Uniform};
use fiedler_graph::random::stream;
use fiedler_learn::encoder::EncoderSettings;
use fiedler_learn::loss::{ContrastiveLoss, InfoNce, JensenShannon};
use fiedler_learn::method::{ContrastMode, MethodSettings, Span, Untrained};
use fiedler_learn::ops::{Pooling, Similarity};
use fiedler_learn::readout::{JumpingKnowledge, Projector};
use fiedler_learn::run::Settings;
use fiedler_spectral::Operator;
use rand::RngExt;

use crate::named::named;

named! {
    /// The scheme whose settings are searched.
    "scheme" SearchedScheme {
        Opposite = "opposite": "One view pushes the spectral norm up, the other down",
        Single = "single": "One view moves the spectrum as far as it can, the other is the graph itself",
        Double = "double": "Two views move their spectra as far apart as they can",
        Uniform = "uniform": "Edges are removed, all alike",
        Diffusion = "diffusion": "The second view is a diffusion of the graph",
        NodeDropping = "node-dropping": "Both views drop the nodes whose absence moves the spectrum most",
    }
}

/// A setting and what it may be.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    pub name: &'static str,
    pub values: &'static [f64],
    /// What the numbers stand for, where they are no numbers.
    words: &'static [&'static str],
    /// Which searches have it.
    of: Of,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    All,
    Nodes,
    Graphs,
    /// Schemes that have a budget.
    Budget,
    /// Opposite only.
    Spectral,
}

const fn numbers(name: &'static str, values: &'static [f64], of: Of) -> Axis {
    Axis { name, values, words: &[], of }
}

const fn words(name: &'static str, words: &'static [&'static str], of: Of) -> Axis {
    Axis { name, values: &[], words, of }
}

/// Everything that is searched; a choice that is made anew takes every value with the same probability.
const AXES: &[Axis] = &[
    numbers("ratio", &[0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9], Of::Budget),
    words("operator", &["laplacian", "propagation"], Of::Spectral),
    words("objective", &["expected", "sampled"], Of::Spectral),
    words("support", &["auto", "candidates", "edges"], Of::Spectral),
    numbers("feature-mask", &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], Of::All),
    words("normalize-rows", &["no", "yes"], Of::Nodes),
    words(
        "loss",
        &["info-nce 1.0", "info-nce 0.5", "info-nce 0.2", "jensen-shannon dot", "jensen-shannon cosine"],
        Of::All,
    ),
    words("contrast", &["local-global", "local-local"], Of::Nodes),
    words("contrast", &["local-global", "global-global"], Of::Graphs),
    words("projector", &["identity", "linear", "mlp", "mlp-elu"], Of::Nodes),
    words("projector", &["linear", "mlp", "mlp-elu"], Of::Graphs),
    words("sigmoid", &["no", "yes"], Of::Nodes),
    words("share-encoder", &["yes", "no"], Of::All),
    numbers("hidden-channels", &[256.0, 512.0], Of::Nodes),
    numbers("num-layers", &[1.0, 2.0], Of::Nodes),
    numbers("hidden-channels", &[32.0, 64.0, 128.0], Of::Graphs),
    numbers("num-layers", &[2.0, 3.0, 4.0, 5.0], Of::Graphs),
    words("jumping-knowledge", &["last", "concatenate"], Of::All),
    numbers("extra-propagation", &[0.0, 2.0, 4.0], Of::Nodes),
    words("pooling", &["sum", "mean"], Of::Graphs),
    numbers("learning-rate", &[1e-4, 3e-4, 1e-3, 3e-3], Of::All),
    numbers("weight-decay", &[0.0, 1e-5, 1e-4], Of::All),
    numbers("epochs", &[50.0, 100.0, 200.0, 300.0, 500.0], Of::Nodes),
    numbers("epochs", &[5.0, 10.0, 20.0, 40.0, 100.0], Of::Graphs),
];

/// What stands for a setting that is as it was given.
const KEPT: &str = "as given";
/// How likely a choice of a parent is made anew.
const CHANGED: f64 = 0.25;

/// What a search chooses from, for data of one kind and one scheme.
#[derive(Debug, Clone)]
pub struct Space {
    pub scheme: SearchedScheme,
    pub graphs: bool,
    /// Whether there are features whose rows could be normalized.
    pub features: bool,
    /// Most epochs.
    pub epochs: Option<usize>,
    /// What is not searched.
    pub base: Settings,
}

/// What one trial has of each axis, in the order of the axes.
pub type Choices = Vec<(&'static str, String)>;

impl Space {
    /// The axes that are searched, with the values that count.
    pub fn axes(&self) -> Vec<(&'static str, Vec<String>)> {
        let axes = AXES.iter().filter(|axis| self.has(axis));
        axes.map(|axis| (axis.name, self.texts(axis))).collect()
    }

    fn has(&self, axis: &Axis) -> bool {
        match axis.of {
            Of::All => true,
            Of::Nodes => !self.graphs && (axis.name != "normalize-rows" || self.features),
            Of::Graphs => self.graphs,
            Of::Budget => self.scheme != SearchedScheme::Diffusion,
            Of::Spectral => self.scheme == SearchedScheme::Opposite,
        }
    }

    fn texts(&self, axis: &Axis) -> Vec<String> {
        if !axis.words.is_empty() {
            return axis.words.iter().map(ToString::to_string).collect();
        }
        let mut values = axis.values.to_vec();
        if let (Some(most), "epochs") = (self.epochs, axis.name) {
            values.iter_mut().for_each(|value| *value = value.min(most as f64));
            values.dedup();
        }
        values.iter().map(ToString::to_string).collect()
    }

    /// The trial that a search starts with: the settings it was given.
    pub fn start(&self) -> (Settings, Choices) {
        let choices = self.axes().into_iter().map(|(name, _)| (name, KEPT.to_owned())).collect();
        (self.settings(&choices), choices)
    }

    /// The trial of a number that changes some of a parent's choices, or all of what the search started with.
    pub fn trial(&self, seed: u64, number: u64, parent: Option<&Choices>) -> (Settings, Choices) {
        let mut random = stream(seed, "trial", number);
        let axes = self.axes();
        let one = random.random_range(0..axes.len());
        let mut choices = Choices::new();
        for (at, (name, texts)) in axes.into_iter().enumerate() {
            let drawn = choose(&mut random, texts);
            let kept = parent.filter(|_| !random.random_bool(CHANGED) && at != one);
            choices.push((name, kept.map_or(drawn, |parent| parent[at].1.clone())));
        }
        (self.settings(&choices), choices)
    }

    fn settings(&self, choices: &Choices) -> Settings {
        let made = || choices.iter().filter(|(_, text)| text != KEPT);
        let text = |name: &str| made().find(|(known, _)| *known == name).map(|(_, text)| text.as_str());
        let number = |name: &str| text(name).and_then(|text| text.parse::<f64>().ok());
        let whole = |name: &str| number(name).map(|number| number as usize);
        let mut settings = self.base.clone();
        settings.scheme = Some(self.scheme(number("ratio"), text));
        let masking = settings.feature_masking_mut();
        set(&mut masking.first.rate, number("feature-mask"));
        set(&mut masking.second.rate, number("feature-mask"));
        set(&mut settings.features.normalize_rows, text("normalize-rows").map(|text| text == "yes"));
        let training = &mut settings.training;
        set(&mut training.learning_rate, number("learning-rate"));
        set(&mut training.weight_decay, number("weight-decay"));
        set(&mut training.epochs, whole("epochs"));
        let mut span = match settings.method {
            MethodSettings::Span(span) => span,
            other => {
                let Untrained { encoder, readout, extra_propagation } = other.as_any().untrained().unwrap_or_default();
                Span { encoder, readout, extra_propagation, ..Span::default() }
            }
        };
        set(&mut span.share_encoder, text("share-encoder").map(|text| text == "yes"));
        set(&mut span.loss, text("loss").map(loss));
        let now = span.contrast;
        set(&mut span.contrast, text("contrast").map(|text| contrast(text, now)));
        match &mut span.encoder {
            EncoderSettings::Gcn(gcn) => {
                set(&mut gcn.hidden_channels, whole("hidden-channels"));
                set(&mut gcn.num_layers, whole("num-layers"));
            }
            EncoderSettings::Gin(gin) => {
                set(&mut gin.hidden_channels, whole("hidden-channels"));
                set(&mut gin.num_layers, whole("num-layers"));
            }
        }
        let readout = &mut span.readout;
        set(&mut readout.sigmoid, text("sigmoid").map(|text| text == "yes"));
        set(&mut readout.projector, text("projector").map(projector));
        set(&mut readout.jumping_knowledge, text("jumping-knowledge").map(jumping));
        set(&mut readout.pooling, text("pooling").map(pooling));
        set(&mut span.extra_propagation, whole("extra-propagation"));
        settings.method = span.into();
        settings
    }

    fn scheme<'a>(&self, ratio: Option<f64>, text: impl Fn(&str) -> Option<&'a str>) -> SchemeSettings {
        let mut spectral = match self.base.scheme_or_usual() {
            SchemeSettings::Opposite(base) | SchemeSettings::Single(base) | SchemeSettings::Double(base) => base,
            SchemeSettings::Uniform(base) => Spectral { ratio: base.first.remove, ..Spectral::default() },
            SchemeSettings::NodeDropping(base) => Spectral { ratio: base.ratio, ..Spectral::default() },
            _ => Spectral::default(),
        };
        set(&mut spectral.ratio, ratio);
        set(&mut spectral.operator, text("operator").map(named_operator));
        set(&mut spectral.objective, text("objective").map(named_objective).map(Some));
        set(&mut spectral.support, text("support").map(support));
        let ratio = spectral.ratio;
        match self.scheme {
            SearchedScheme::Opposite => SchemeSettings::Opposite(spectral),
            SearchedScheme::Single => SchemeSettings::Single(spectral),
            SearchedScheme::Double => SchemeSettings::Double(spectral),
            SearchedScheme::Uniform => {
                SchemeSettings::Uniform(Uniform { first: Rates::removing(ratio), second: Rates::removing(ratio) })
            }
            SearchedScheme::Diffusion => {
                SchemeSettings::Diffusion(DiffusionSettings { form: Form::Sparse, ..DiffusionSettings::default() })
            }
            SearchedScheme::NodeDropping => {
                SchemeSettings::NodeDropping(NodeDropping { ratio, ..NodeDropping::default() })
            }
        }
    }
}

fn choose(random: &mut impl RngExt, mut texts: Vec<String>) -> String {
    texts.swap_remove(random.random_range(0..texts.len()))
}

fn set<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}

fn named_operator(text: &str) -> Operator {
    if text == "propagation" { Operator::Propagation } else { Operator::Laplacian }
}

fn named_objective(text: &str) -> SpectralObjective {
    if text == "sampled" { SpectralObjective::Sampled } else { SpectralObjective::Expected }
}

fn support(text: &str) -> SupportChoice {
    match text {
        "candidates" => SupportChoice::Candidates,
        "edges" => SupportChoice::Edges,
        _ => SupportChoice::Auto,
    }
}

fn loss(text: &str) -> ContrastiveLoss {
    match text.split_once(' ') {
        Some(("info-nce", temperature)) => {
            let temperature = temperature.parse().unwrap_or(1.0);
            ContrastiveLoss::InfoNce(InfoNce { temperature, ..InfoNce::default() })
        }
        Some((_, "cosine")) => ContrastiveLoss::JensenShannon(JensenShannon { similarity: Similarity::Cosine }),
        _ => ContrastiveLoss::JensenShannon(JensenShannon { similarity: Similarity::Dot }),
    }
}

fn contrast(text: &str, now: ContrastMode) -> ContrastMode {
    match text {
        "local-local" => now.local_local(),
        "global-global" => ContrastMode::GlobalGlobal,
        _ => ContrastMode::LocalGlobal,
    }
}

fn projector(text: &str) -> Projector {
    match text {
        "identity" => Projector::Identity,
        "linear" => Projector::Linear,
        "mlp-elu" => Projector::MlpElu,
        _ => Projector::Mlp,
    }
}

fn jumping(text: &str) -> JumpingKnowledge {
    if text == "concatenate" { JumpingKnowledge::Concatenate } else { JumpingKnowledge::Last }
}

fn pooling(text: &str) -> Pooling {
    if text == "mean" { Pooling::Mean } else { Pooling::Sum }
}
