//! Flags that become a scheme's settings.

use clap::{Args, ValueEnum};
use fiedler_augment::ascent::StepSize;
use fiedler_augment::centrality::Centrality;
use fiedler_augment::objective::Objective;
use fiedler_augment::scheme::{
    CentralityRemoval, Clustered, Diffused, GraphCl, NodeDropping, Operation, Rates, Settings, Spectral, Start,
    SupportChoice, Uniform,
};
use fiedler_spectral::Operator;
use fiedler_spectral::properties::Diffusion;

use crate::program::failure::{Exit, Failure};

/// Which scheme, and how it is computed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Scheme")]
pub struct SchemeFlags {
    /// Which scheme
    #[arg(long, value_enum, default_value = "opposite")]
    scheme: SchemeName,
    /// Flips in expectation as a share of the edges; of the nodes, where nodes are dropped [default: 0.3; nodes 0.2]
    #[arg(long, value_name = "SHARE")]
    ratio: Option<f64>,
    /// Whose spectrum [default: laplacian]
    #[arg(long, value_enum)]
    operator: Option<OperatorName>,
    /// The spectrum of the expected graph, as in the paper, or of a sampled one [default: expected]
    #[arg(long, value_enum)]
    objective: Option<ObjectiveName>,
    /// How many of the lowest and of the highest eigenvalues count: a number, or all [default: all]
    #[arg(long, value_name = "K|all", value_parser = parse_eigenvalues)]
    eigenvalues: Option<Eigenvalues>,
    /// Gradient steps [default: 50]
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// η: step t goes η/√(t+1) along the gradient of the relative norm [default: chosen from the first gradient]
    #[arg(long, value_name = "ETA")]
    step_size: Option<f64>,
    /// Where to start [default: zero; uniform, where zero is a stationary point]
    #[arg(long, value_enum)]
    start: Option<StartName>,
    /// Which pairs may flip [default: auto]
    #[arg(long, value_enum)]
    support: Option<SupportName>,
    /// Non-edges considered for each node, where the support is candidates [default: 10]
    #[arg(long, value_name = "N")]
    candidates: Option<usize>,
    /// Symmetric noise that keeps repeated eigenvalues apart [default: 1e-5; not needed where all eigenvalues count]
    #[arg(long, value_name = "EPSILON")]
    noise: Option<f64>,
    /// What makes a node central, where edges go by centrality [default: degree]
    #[arg(long, value_enum)]
    centrality: Option<CentralityName>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CentralityName {
    /// The number of neighbours
    Degree,
    /// The principal eigenvector
    Eigenvector,
    /// How often a random surfer visits
    PageRank,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OperatorName {
    /// I - D^-1/2 A D^-1/2
    Laplacian,
    /// (D+I)^-1/2 (A+I) (D+I)^-1/2, what a graph convolution multiplies by
    Propagation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ObjectiveName {
    /// The norm of the expected graph
    Expected,
    /// The norm of a sampled graph, in the mean
    Sampled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StartName {
    /// Nothing flips
    Zero,
    /// Every pair flips with a small random probability
    Uniform,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SupportName {
    /// Whatever suffices and fits into memory
    Auto,
    /// All pairs
    All,
    /// Edges only: nothing is added
    Edges,
    /// Edges, and for each node the non-edges that promise most
    Candidates,
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
    /// The settings the flags ask for.
    pub fn settings(&self, seed: u64) -> Result<Settings, Failure> {
        self.check()?;
        Ok(match self.scheme {
            SchemeName::Opposite => Settings::Opposite(self.spectral(seed)?),
            SchemeName::Single => Settings::Single(self.spectral(seed)?),
            SchemeName::Double => Settings::Double(self.spectral(seed)?),
            SchemeName::NodeDropping => Settings::NodeDropping(self.node_dropping(seed)?),
            SchemeName::UniformRemoval => self.uniform(Rates::removing),
            SchemeName::UniformAddition => self.uniform(|ratio| Rates { remove: 0.0, add: ratio }),
            SchemeName::UniformFlipping => self.uniform(Rates::flipping),
            SchemeName::Clustered => {
                let default = Clustered { seed, clusters: self.clusters, ..Clustered::default() };
                Settings::Clustered(Clustered { ratio: self.ratio.unwrap_or(default.ratio), ..default })
            }
            SchemeName::Centrality => Settings::Centrality(self.by_centrality()),
            SchemeName::Diffusion => Settings::Diffusion(self.diffusion()?),
            SchemeName::EdgePerturbation => self.graphcl(Operation::EdgePerturbation),
            SchemeName::UniformNodeDropping => self.graphcl(Operation::NodeDropping),
            SchemeName::Subgraph => self.graphcl(Operation::Subgraph),
        })
    }

    /// Refuses flags that say nothing to the scheme, rather than passing them over.
    fn check(&self) -> Result<(), Failure> {
        use SchemeName::{Centrality, Clustered, Diffusion, Double, NodeDropping, Opposite, Single};
        let spectral = matches!(self.scheme, Opposite | Single | Double);
        let optimised = spectral || self.scheme == NodeDropping;
        let flags = [
            ("--ratio", self.ratio.is_some(), self.scheme != Diffusion),
            ("--operator", self.operator.is_some(), optimised),
            ("--objective", self.objective.is_some(), spectral),
            ("--eigenvalues", self.eigenvalues.is_some(), optimised),
            ("--steps", self.steps.is_some(), optimised),
            ("--step-size", self.step_size.is_some(), optimised),
            ("--start", self.start.is_some(), spectral),
            ("--support", self.support.is_some(), spectral),
            ("--candidates", self.candidates.is_some(), spectral),
            ("--noise", self.noise.is_some(), optimised),
            ("--centrality", self.centrality.is_some(), self.scheme == Centrality),
            ("--clusters", self.clusters.is_some(), self.scheme == Clustered),
            ("--teleport", self.teleport.is_some(), self.scheme == Diffusion),
            ("--heat", self.heat.is_some(), self.scheme == Diffusion),
            ("--memory", self.memory.is_some(), optimised || self.scheme == Diffusion),
        ];
        let idle: Vec<&str> = flags.iter().filter(|(_, given, used)| *given && !used).map(|(flag, ..)| *flag).collect();
        if idle.is_empty() {
            return Ok(());
        }
        let name = self.scheme.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
        let message = format!("{} means nothing to the scheme {name}", idle.join(", "));
        Err(Failure::new(Exit::Usage, message, "leave it out, or choose another scheme".to_owned()))
    }

    fn uniform(&self, rates: impl Fn(f64) -> Rates) -> Settings {
        let rates = rates(self.ratio.unwrap_or(0.3));
        Settings::Uniform(Uniform { first: rates, second: rates })
    }

    fn by_centrality(&self) -> CentralityRemoval {
        let centrality = match self.centrality.unwrap_or(CentralityName::Degree) {
            CentralityName::Degree => Centrality::Degree,
            CentralityName::Eigenvector => Centrality::Eigenvector,
            CentralityName::PageRank => Centrality::PageRank,
        };
        let default = CentralityRemoval::default();
        let (first, second) = (self.ratio.unwrap_or(default.first), self.ratio.unwrap_or(default.second));
        CentralityRemoval { centrality, first, second, ..default }
    }

    fn diffusion(&self) -> Result<Diffused, Failure> {
        let default = Diffused::default();
        let kernel = match (self.heat, self.teleport) {
            (Some(time), _) => Diffusion::Heat { time },
            (None, Some(teleport)) => Diffusion::PageRank { teleport },
            (None, None) => default.kernel,
        };
        Ok(Diffused { kernel, memory: self.memory()?.unwrap_or(default.memory), ..default })
    }

    fn graphcl(&self, operation: Operation) -> Settings {
        let ratio = self.ratio.unwrap_or(GraphCl::default().ratio);
        Settings::GraphCl(GraphCl { first: operation, second: operation, ratio })
    }

    fn spectral(&self, seed: u64) -> Result<Spectral, Failure> {
        let default = Spectral::default();
        Ok(Spectral {
            operator: self.operator(),
            objective: match self.objective {
                Some(ObjectiveName::Sampled) => Objective::Sampled,
                _ => Objective::Expected,
            },
            eigenvalues: self.ends(),
            ratio: self.ratio.unwrap_or(default.ratio),
            steps: self.steps.unwrap_or(default.steps),
            step_size: self.step_size.map_or(default.step_size, StepSize::Rate),
            start: self.start.map(|start| match start {
                StartName::Zero => Start::Zero,
                StartName::Uniform => Start::Uniform,
            }),
            support: match self.support.unwrap_or(SupportName::Auto) {
                SupportName::Auto => SupportChoice::Auto,
                SupportName::All => SupportChoice::All,
                SupportName::Edges => SupportChoice::Edges,
                SupportName::Candidates => SupportChoice::Candidates,
            },
            candidates: self.candidates.unwrap_or(default.candidates),
            noise: self.noise.unwrap_or(default.noise),
            memory: self.memory()?.unwrap_or(default.memory),
            seed,
        })
    }

    fn node_dropping(&self, seed: u64) -> Result<NodeDropping, Failure> {
        let default = NodeDropping::default();
        Ok(NodeDropping {
            operator: self.operator(),
            eigenvalues: self.ends(),
            ratio: self.ratio.unwrap_or(default.ratio),
            steps: self.steps.unwrap_or(default.steps),
            step_size: self.step_size.map_or(default.step_size, StepSize::Rate),
            noise: self.noise.unwrap_or(default.noise),
            memory: self.memory()?.unwrap_or(default.memory),
            seed,
        })
    }

    fn operator(&self) -> Operator {
        match self.operator {
            Some(OperatorName::Propagation) => Operator::Propagation,
            _ => Operator::Laplacian,
        }
    }

    fn ends(&self) -> Option<usize> {
        match self.eigenvalues {
            Some(Eigenvalues::Ends(ends)) => Some(ends),
            _ => None,
        }
    }

    fn memory(&self) -> Result<Option<u64>, Failure> {
        match self.memory {
            Some(size) if !(size.is_finite() && size > 0.0) => {
                Err(Failure::new(Exit::Usage, format!("--memory is {size}; expected a positive number of GiB"), None))
            }
            size => Ok(size.map(|size| (size * f64::from(1 << 30)) as u64)),
        }
    }
}
