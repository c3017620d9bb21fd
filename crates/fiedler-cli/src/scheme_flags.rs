//! Flags that become a scheme's settings, alone or over others.

use clap::{Args, ValueEnum};
use fiedler_augment::ascent::StepSize;
use fiedler_augment::centrality::Centrality;
use fiedler_augment::objective::SpectralObjective;
use fiedler_augment::scheme::{
    CentralityRemoval, Clustered, DiffusionSettings, GraphCl, NodeDropping, Operation, Rates, SchemeSettings, Spectral,
    Start, SupportChoice, Uniform,
};
use fiedler_experiment::{Error, ErrorKind, Result, seeded};
use fiedler_spectral::Operator;
use fiedler_spectral::properties::Diffusion;

use super::args::word;

/// Which scheme, and how it is computed.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Scheme")]
pub struct SchemeFlags {
    /// Which scheme [default: opposite]
    #[arg(long, value_enum)]
    scheme: Option<SchemeName>,
    /// Flips in expectation as a share of the edges; of the nodes, where nodes are dropped [default: 0.3; nodes 0.2]
    #[arg(long, value_name = "SHARE")]
    ratio: Option<f64>,
    /// Whose spectrum: laplacian (I - D^-1/2 A D^-1/2) or propagation (what a graph convolution multiplies by) [default: laplacian]
    #[arg(long, value_name = "NAME")]
    operator: Option<Operator>,
    /// Which norm is optimized: expected (that of the expected graph, as in the paper) or sampled (the expected norm of drawn graphs)
    /// [default: sampled; expected, where spectra are compared or only some eigenvalues count]
    #[arg(long, value_name = "NAME", value_parser = word::<SpectralObjective>)]
    norm: Option<SpectralObjective>,
    /// How many of the lowest and of the highest eigenvalues count: a number, or all [default: all]
    #[arg(long, value_name = "K|all", value_parser = parse_eigenvalues)]
    eigenvalues: Option<Eigenvalues>,
    /// Most flip probability of any pair: below 1 drawn views differ from each other [default: 1]
    #[arg(long, value_name = "P")]
    max_probability: Option<f64>,
    /// Most gradient steps [default: 300; 50 where nodes are dropped]
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Steps end when the first-order gap is at most this share of what was gained [default: 0.01]
    #[arg(long, value_name = "SHARE")]
    tolerance: Option<f64>,
    /// η: step t goes η/√(t+1) along the gradient of the relative norm, as in the paper [default: steps adapt to the objective]
    #[arg(long, value_name = "ETA")]
    step_size: Option<f64>,
    /// Where to start: zero (nothing flips) or uniform (every pair flips with a small random probability)
    /// [default: zero; uniform, where zero is a stationary point]
    #[arg(long, value_name = "NAME", value_parser = word::<Start>)]
    start: Option<Start>,
    /// Which pairs may flip: auto (whatever suffices and fits into memory), all, edges (nothing is added) or candidates (edges, and for
    /// each node the non-edges that promise most) [default: auto]
    #[arg(long, value_name = "NAME", value_parser = word::<SupportChoice>)]
    support: Option<SupportChoice>,
    /// Non-edges considered for each node, where the support is candidates [default: 10]
    #[arg(long, value_name = "N")]
    candidates: Option<usize>,
    /// Symmetric noise that keeps repeated eigenvalues apart [default: 1e-5; not needed where all eigenvalues count]
    #[arg(long, value_name = "EPSILON")]
    noise: Option<f64>,
    /// What makes a node central, where edges go by centrality: degree, eigenvector or page-rank [default: degree]
    #[arg(long, value_name = "NAME", value_parser = word::<Centrality>)]
    centrality: Option<Centrality>,
    /// Clusters, where edges go by clusters [default: what the spectrum tells]
    #[arg(long, value_name = "N")]
    clusters: Option<usize>,
    /// Chance that a random walk ends at each step, where the second view is a diffusion [default: 0.2]
    #[arg(long, value_name = "CHANCE", conflicts_with = "heat")]
    teleport: Option<f64>,
    /// Diffuse by heat for this long instead of by random walks
    #[arg(long, value_name = "TIME")]
    heat: Option<f64>,
    /// Memory that all pairs, or a dense spectrum, may take, in GiB [default: 1]
    #[arg(long, value_name = "GIB")]
    memory: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemeName {
    /// One view pushes the spectral norm up, the other down
    Opposite,
    /// One view moves the spectrum as far as it can, the other is the graph itself
    Single,
    /// Two views move their spectra as far apart as they can
    Double,
    /// Both views drop the nodes whose absence moves the spectrum most
    NodeDropping,
    /// Edges are removed, all alike
    UniformRemoval,
    /// Edges are added, all alike
    UniformAddition,
    /// Pairs flip, half of them edges
    UniformFlipping,
    /// Edges between clusters are removed more often than those within
    Clustered,
    /// Edges between central nodes are removed less often: GCA
    Centrality,
    /// The second view is a diffusion of the graph: MVGRL
    Diffusion,
    /// Edges are removed and as many added: GraphCL
    EdgePerturbation,
    /// Nodes are dropped, all alike: GraphCL
    UniformNodeDropping,
    /// What a random walk meets first is kept: GraphCL
    Subgraph,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Eigenvalues {
    All,
    Ends(usize),
}

fn parse_eigenvalues(text: &str) -> Result<Eigenvalues, String> {
    match text {
        "all" => Ok(Eigenvalues::All),
        _ => text.parse().map(Eigenvalues::Ends).map_err(|_| "expected a whole number or `all`".to_owned()),
    }
}

impl SchemeFlags {
    /// The settings the flags ask for; what they leave open is as in `base`.
    pub fn settings(&self, base: &SchemeSettings, seed: u64) -> Result<SchemeSettings> {
        let scheme = self.scheme.unwrap_or_else(|| SchemeName::of(base));
        self.check(scheme)?;
        if *self == SchemeFlags::default() {
            return Ok(seeded(base.clone(), seed));
        }
        let settings = match scheme {
            SchemeName::Opposite => SchemeSettings::Opposite(self.spectral(base)?),
            SchemeName::Single => SchemeSettings::Single(self.spectral(base)?),
            SchemeName::Double => SchemeSettings::Double(self.spectral(base)?),
            SchemeName::NodeDropping => SchemeSettings::NodeDropping(self.node_dropping(base)?),
            SchemeName::UniformRemoval => self.uniform(base, Rates::removing),
            SchemeName::UniformAddition => self.uniform(base, |ratio| Rates { remove: 0.0, add: ratio }),
            SchemeName::UniformFlipping => self.uniform(base, Rates::flipping),
            SchemeName::Clustered => SchemeSettings::Clustered(self.clustered(base)),
            SchemeName::Centrality => SchemeSettings::Centrality(self.by_centrality(base)),
            SchemeName::Diffusion => SchemeSettings::Diffusion(self.diffusion(base)?),
            SchemeName::EdgePerturbation => self.graphcl(Operation::EdgePerturbation, base),
            SchemeName::UniformNodeDropping => self.graphcl(Operation::NodeDropping, base),
            SchemeName::Subgraph => self.graphcl(Operation::Subgraph, base),
        };
        Ok(seeded(settings, seed))
    }

    /// Refuses flags that say nothing to the scheme, rather than passing them over.
    fn check(&self, scheme: SchemeName) -> Result<()> {
        use SchemeName::{Centrality, Clustered, Diffusion, Double, NodeDropping, Opposite, Single};
        let spectral = matches!(scheme, Opposite | Single | Double);
        let optimized = spectral || scheme == NodeDropping;
        let flags = [
            ("--ratio", self.ratio.is_some(), scheme != Diffusion),
            ("--operator", self.operator.is_some(), optimized),
            ("--norm", self.norm.is_some(), spectral),
            ("--eigenvalues", self.eigenvalues.is_some(), optimized),
            ("--max-probability", self.max_probability.is_some(), spectral),
            ("--steps", self.steps.is_some(), optimized),
            ("--tolerance", self.tolerance.is_some(), spectral),
            ("--step-size", self.step_size.is_some(), optimized),
            ("--start", self.start.is_some(), spectral),
            ("--support", self.support.is_some(), spectral),
            ("--candidates", self.candidates.is_some(), spectral),
            ("--noise", self.noise.is_some(), optimized),
            ("--centrality", self.centrality.is_some(), scheme == Centrality),
            ("--clusters", self.clusters.is_some(), scheme == Clustered),
            ("--teleport", self.teleport.is_some(), scheme == Diffusion),
            ("--heat", self.heat.is_some(), scheme == Diffusion),
            ("--memory", self.memory.is_some(), optimized || scheme == Diffusion),
        ];
        let idle: Vec<&str> = flags.iter().filter(|(_, given, used)| *given && !used).map(|(flag, ..)| *flag).collect();
        if idle.is_empty() {
            return Ok(());
        }
        let name = scheme.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
        let message = format!("{} means nothing to the scheme {name}", idle.join(", "));
        Err(Error::new(ErrorKind::Usage, message, "leave it out, or choose another scheme".to_owned()))
    }

    fn uniform(&self, base: &SchemeSettings, rates: impl Fn(f64) -> Rates) -> SchemeSettings {
        // The share of edges that change stays as it was, whatever changed them.
        let ratio = match base {
            SchemeSettings::Opposite(base) | SchemeSettings::Single(base) | SchemeSettings::Double(base) => base.ratio,
            SchemeSettings::Uniform(base) => base.first.remove + base.first.add,
            _ => Spectral::default().ratio,
        };
        let rates = rates(self.ratio.unwrap_or(ratio));
        SchemeSettings::Uniform(Uniform { first: rates, second: rates })
    }

    fn clustered(&self, base: &SchemeSettings) -> Clustered {
        let base = match base {
            SchemeSettings::Clustered(base) => *base,
            _ => Clustered::default(),
        };
        Clustered { clusters: self.clusters.or(base.clusters), ratio: self.ratio.unwrap_or(base.ratio), ..base }
    }

    fn by_centrality(&self, base: &SchemeSettings) -> CentralityRemoval {
        let base = match base {
            SchemeSettings::Centrality(base) => *base,
            _ => CentralityRemoval::default(),
        };
        let centrality = self.centrality.unwrap_or(base.centrality);
        let (first, second) = (self.ratio.unwrap_or(base.first), self.ratio.unwrap_or(base.second));
        CentralityRemoval { centrality, first, second, ..base }
    }

    fn diffusion(&self, base: &SchemeSettings) -> Result<DiffusionSettings> {
        let base = match base {
            SchemeSettings::Diffusion(base) => *base,
            _ => DiffusionSettings::default(),
        };
        let kernel = match (self.heat, self.teleport) {
            (Some(time), _) => Diffusion::Heat { time },
            (None, Some(teleport)) => Diffusion::PageRank { teleport },
            (None, None) => base.kernel,
        };
        Ok(DiffusionSettings { kernel, memory: self.memory()?.unwrap_or(base.memory), ..base })
    }

    fn graphcl(&self, operation: Operation, base: &SchemeSettings) -> SchemeSettings {
        let base = match base {
            SchemeSettings::GraphCl(base) => base.ratio,
            _ => GraphCl::default().ratio,
        };
        SchemeSettings::GraphCl(GraphCl { first: operation, second: operation, ratio: self.ratio.unwrap_or(base) })
    }

    fn spectral(&self, base: &SchemeSettings) -> Result<Spectral> {
        let base = match base {
            SchemeSettings::Opposite(base) | SchemeSettings::Single(base) | SchemeSettings::Double(base) => *base,
            _ => Spectral::default(),
        };
        Ok(Spectral {
            operator: self.operator.unwrap_or(base.operator),
            objective: self.norm.or(base.objective),
            max_probability: self.max_probability.unwrap_or(base.max_probability),
            tolerance: self.tolerance.unwrap_or(base.tolerance),
            k: self.ends(base.k),
            ratio: self.ratio.unwrap_or(base.ratio),
            steps: self.steps.unwrap_or(base.steps),
            step_size: self.step_size.map_or(base.step_size, StepSize::Rate),
            step_size_down: base.step_size_down.filter(|_| self.step_size.is_none()),
            start: self.start.or(base.start),
            support: self.support.unwrap_or(base.support),
            candidates: self.candidates.unwrap_or(base.candidates),
            noise: self.noise.unwrap_or(base.noise),
            memory: self.memory()?.unwrap_or(base.memory),
            ..base
        })
    }

    fn node_dropping(&self, base: &SchemeSettings) -> Result<NodeDropping> {
        let base = match base {
            SchemeSettings::NodeDropping(base) => *base,
            _ => NodeDropping::default(),
        };
        Ok(NodeDropping {
            operator: self.operator.unwrap_or(base.operator),
            k: self.ends(base.k),
            ratio: self.ratio.unwrap_or(base.ratio),
            steps: self.steps.unwrap_or(base.steps),
            step_size: self.step_size.map_or(base.step_size, StepSize::Rate),
            noise: self.noise.unwrap_or(base.noise),
            memory: self.memory()?.unwrap_or(base.memory),
            ..base
        })
    }

    fn ends(&self, base: Option<usize>) -> Option<usize> {
        match self.eigenvalues {
            Some(Eigenvalues::Ends(ends)) => Some(ends),
            Some(Eigenvalues::All) => None,
            None => base,
        }
    }

    fn memory(&self) -> Result<Option<u64>> {
        match self.memory {
            Some(size) if !(size.is_finite() && size > 0.0) => Err(Error::new(
                ErrorKind::Usage,
                format!("--memory is {size}; expected a positive number of GiB"),
                None,
            )),
            size => Ok(size.map(|size| (size * f64::from(1 << 30)) as u64)),
        }
    }
}

impl SchemeName {
    /// The name that settings would have on the command line.
    fn of(settings: &SchemeSettings) -> SchemeName {
        match settings {
            SchemeSettings::Opposite(_) => SchemeName::Opposite,
            SchemeSettings::Single(_) => SchemeName::Single,
            SchemeSettings::Double(_) => SchemeName::Double,
            SchemeSettings::NodeDropping(_) => SchemeName::NodeDropping,
            SchemeSettings::Uniform(uniform) if uniform.first.add == 0.0 => SchemeName::UniformRemoval,
            SchemeSettings::Uniform(uniform) if uniform.first.remove == 0.0 => SchemeName::UniformAddition,
            SchemeSettings::Uniform(_) => SchemeName::UniformFlipping,
            SchemeSettings::Clustered(_) => SchemeName::Clustered,
            SchemeSettings::Centrality(_) => SchemeName::Centrality,
            SchemeSettings::Diffusion(_) => SchemeName::Diffusion,
            SchemeSettings::Custom(_) => SchemeName::Opposite,
            SchemeSettings::GraphCl(graphcl) => match graphcl.first {
                Operation::NodeDropping => SchemeName::UniformNodeDropping,
                Operation::Subgraph => SchemeName::Subgraph,
                _ => SchemeName::EdgePerturbation,
            },
        }
    }
}
