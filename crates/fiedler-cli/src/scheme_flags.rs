//! Flags that become a scheme's settings, alone or over others: each stands for keys of the settings, and a flag whose keys a scheme does
//! not have is refused. Which schemes there are is known to `fiedler-augment` alone.

use clap::Args;
use fiedler_augment::SchemeSettings;
use fiedler_augment::centrality::Centrality;
use fiedler_augment::objective::SpectralObjective;
use fiedler_augment::scheme::{Start, SupportChoice};
use fiedler_experiment::{Error, ErrorKind, Result, settings_tree};
use fiedler_learn::run::Settings;
use fiedler_spectral::Operator;
use serde_json::{Value, json};

use super::args::{number, schemes, whole, word};

/// Which scheme, and how it is computed.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Scheme")]
pub struct SchemeFlags {
    /// Which scheme [default: opposite]
    #[arg(long, value_name = "NAME", value_parser = schemes())]
    scheme: Option<String>,
    /// Flips in expectation as a share of the edges; of the nodes, where nodes are dropped [default: 0.3; nodes 0.2]
    #[arg(long, value_name = "SHARE", value_parser = number)]
    ratio: Option<Value>,
    /// Whose spectrum: laplacian (I - D^-1/2 A D^-1/2) or propagation (what a graph convolution multiplies by) [default: laplacian]
    #[arg(long, value_name = "NAME", value_parser = word::<Operator>)]
    operator: Option<Value>,
    /// Which norm is optimized: expected (that of the expected graph, as in the paper) or sampled (the expected norm of drawn graphs)
    /// [default: sampled; expected, where spectra are compared or only some eigenvalues count]
    #[arg(long, value_name = "NAME", value_parser = word::<SpectralObjective>)]
    norm: Option<Value>,
    /// How many of the lowest and of the highest eigenvalues count: a number, or all [default: all]
    #[arg(long, value_name = "K|all", value_parser = parse_eigenvalues)]
    eigenvalues: Option<Value>,
    /// Most flip probability of any pair: below 1 drawn views differ from each other [default: 1]
    #[arg(long, value_name = "P", value_parser = number)]
    max_probability: Option<Value>,
    /// Most gradient steps [default: 300; 50 where nodes are dropped]
    #[arg(long, value_name = "N", value_parser = whole)]
    steps: Option<Value>,
    /// Steps end when the first-order gap is at most this share of what was gained [default: 0.01]
    #[arg(long, value_name = "SHARE", value_parser = number)]
    tolerance: Option<Value>,
    /// η: step t goes η/√(t+1) along the gradient of the relative norm, as in the paper [default: steps adapt to the objective]
    #[arg(long, value_name = "ETA", value_parser = number)]
    step_size: Option<Value>,
    /// Where to start: zero (nothing flips) or uniform (every pair flips with a small random probability)
    /// [default: zero; uniform, where zero is a stationary point]
    #[arg(long, value_name = "NAME", value_parser = word::<Start>)]
    start: Option<Value>,
    /// Which pairs may flip: auto (whatever suffices and fits into memory), all, edges (nothing is added) or candidates (edges, and for
    /// each node the non-edges that promise most) [default: auto]
    #[arg(long, value_name = "NAME", value_parser = word::<SupportChoice>)]
    support: Option<Value>,
    /// Non-edges considered for each node, where the support is candidates [default: 10]
    #[arg(long, value_name = "N", value_parser = whole)]
    candidates: Option<Value>,
    /// Symmetric noise that keeps repeated eigenvalues apart [default: 1e-5; not needed where all eigenvalues count]
    #[arg(long, value_name = "EPSILON", value_parser = number)]
    noise: Option<Value>,
    /// What makes a node central, where edges go by centrality: degree, eigenvector or page-rank [default: degree]
    #[arg(long, value_name = "NAME", value_parser = word::<Centrality>)]
    centrality: Option<Value>,
    /// Clusters, where edges go by clusters [default: what the spectrum tells]
    #[arg(long, value_name = "N", value_parser = whole)]
    clusters: Option<Value>,
    /// Chance that a random walk ends at each step, where the second view is a diffusion [default: 0.2]
    #[arg(long, value_name = "CHANCE", value_parser = number, conflicts_with = "heat")]
    teleport: Option<Value>,
    /// Diffuse by heat for this long instead of by random walks
    #[arg(long, value_name = "TIME", value_parser = number)]
    heat: Option<Value>,
}

/// The key of what all pairs may take.
const MEMORY: &str = "scheme.memory";

/// Keys that a flag may stand for, with their values: the first form whose keys a scheme has is meant.
type Forms = Vec<Vec<(&'static str, Value)>>;

impl SchemeFlags {
    /// The settings the flags ask for; what they leave open is as in `base`. `memory` is what all pairs, or a dense spectrum, may take, of
    /// schemes that have such.
    pub fn settings(&self, base: &SchemeSettings, seed: u64, memory: Option<u64>) -> Result<SchemeSettings> {
        let scheme = match &self.scheme {
            Some(name) => base.with_name(name)?,
            None => base.clone(),
        };
        let name = scheme.name();
        let mut settings = Settings { scheme: Some(scheme.with_seed(seed)), ..Settings::default() };
        let mut idle = Vec::new();
        for (flag, forms) in self.flags() {
            let is_known = |form: &Vec<(&str, Value)>| {
                form.iter().all(|(key, _)| settings_tree::knows(&settings, key).unwrap_or(false))
            };
            match forms.into_iter().find(is_known) {
                Some(form) => {
                    for (key, value) in form {
                        settings = settings_tree::assign_value(&settings, key, value)?;
                    }
                }
                None => idle.push(flag),
            }
        }
        if let Some(memory) = memory.filter(|_| settings_tree::knows(&settings, MEMORY).unwrap_or(false)) {
            settings = settings_tree::assign_value(&settings, MEMORY, json!(memory))?;
        }
        if !idle.is_empty() {
            let message = format!("{} means nothing to the scheme {name}", idle.join(", "));
            return Err(Error::new(ErrorKind::Usage, message, "leave it out, or choose another scheme".to_owned()));
        }
        Ok(settings.scheme.unwrap_or_default())
    }

    /// The flags that were given, with what they may stand for.
    fn flags(&self) -> Vec<(&'static str, Forms)> {
        let one = |key: &'static str| move |value: &Value| vec![vec![(key, value.clone())]];
        let ratio = |value: &Value| {
            let both = |keys: [&'static str; 2]| keys.map(|key| (key, value.clone())).to_vec();
            let views = [["scheme.first.remove", "scheme.second.remove"], ["scheme.first", "scheme.second"]];
            [vec![("scheme.ratio", value.clone())]].into_iter().chain(views.map(both)).collect()
        };
        let step_size = |value: &Value| {
            let size = ("scheme.step_size", json!({ "name": "rate", "value": value }));
            // The same for both directions, where a scheme could tell them apart.
            vec![vec![size.clone(), ("scheme.step_size_down", Value::Null)], vec![size]]
        };
        let teleport = |value: &Value| vec![vec![("scheme.kernel", json!({ "name": "page-rank", "teleport": value }))]];
        let heat = |value: &Value| vec![vec![("scheme.kernel", json!({ "name": "heat", "time": value }))]];
        let flags: [(&'static str, Option<Forms>); 16] = [
            ("--ratio", self.ratio.as_ref().map(ratio)),
            ("--operator", self.operator.as_ref().map(one("scheme.operator"))),
            ("--norm", self.norm.as_ref().map(one("scheme.objective"))),
            ("--eigenvalues", self.eigenvalues.as_ref().map(one("scheme.k"))),
            ("--max-probability", self.max_probability.as_ref().map(one("scheme.max_probability"))),
            ("--tolerance", self.tolerance.as_ref().map(one("scheme.tolerance"))),
            ("--steps", self.steps.as_ref().map(one("scheme.steps"))),
            ("--step-size", self.step_size.as_ref().map(step_size)),
            ("--start", self.start.as_ref().map(one("scheme.start"))),
            ("--support", self.support.as_ref().map(one("scheme.support"))),
            ("--candidates", self.candidates.as_ref().map(one("scheme.candidates"))),
            ("--noise", self.noise.as_ref().map(one("scheme.noise"))),
            ("--centrality", self.centrality.as_ref().map(one("scheme.centrality"))),
            ("--clusters", self.clusters.as_ref().map(one("scheme.clusters"))),
            ("--teleport", self.teleport.as_ref().map(teleport)),
            ("--heat", self.heat.as_ref().map(heat)),
        ];
        flags.into_iter().filter_map(|(flag, forms)| Some((flag, forms?))).collect()
    }
}

fn parse_eigenvalues(text: &str) -> Result<Value, String> {
    match text {
        "all" => Ok(Value::Null),
        _ => whole(text).map_err(|_| "expected a whole number or `all`".to_owned()),
    }
}

/// Bytes, from a number of GiB.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    match text.parse::<f64>() {
        Ok(size) if size.is_finite() && size > 0.0 => Ok((size * f64::from(1 << 30)) as u64),
        _ => Err("expected a positive number of GiB".to_owned()),
    }
}
