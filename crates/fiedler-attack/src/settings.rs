//! The list of attacks: which there are, with their settings.

use std::str::FromStr;

use fiedler_graph::{Graph, Observer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bcd::{GrBcd, PrBcd};
use crate::dice::Dice;
use crate::error::{Error, Result};
use crate::flips::Flip;
use crate::gf::Gf;
use crate::gf_relaxed::GfRelaxed;
use crate::knowledge::{Knowledge, Known};
use crate::mettack::Mettack;
use crate::random::RandomFlips;
use crate::state::{AttackState, RelaxedState};

/// Told now and then that something was done; asks where the attack stands if that is to be kept.
pub type Checkpoint<'a> = dyn Fn(&dyn Fn() -> AttackState) + Sync + 'a;

/// What an attack is made on.
#[derive(Clone, Copy)]
pub struct AttackInput<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// What is known beside it.
    pub knowledge: Knowledge<'a>,
    /// Where an earlier attack with the same settings stood when it was stopped; it goes on from there.
    pub resume: Option<&'a AttackState>,
    /// Told when there is more to keep.
    pub checkpoint: Option<&'a Checkpoint<'a>>,
}

impl<'a> AttackInput<'a> {
    /// An attack from the beginning.
    pub fn new(graph: &'a Graph, knowledge: Knowledge<'a>) -> AttackInput<'a> {
        AttackInput { graph, knowledge, resume: None, checkpoint: None }
    }

    /// Flips of an earlier attack.
    pub(crate) fn earlier_flips(&self) -> &'a [Flip] {
        self.resume.map_or(&[], |state| &state.flips)
    }

    /// Parts of flips of an earlier attack.
    pub(crate) fn earlier_parts(&self) -> Option<&'a RelaxedState> {
        self.resume.and_then(|state| state.relaxed.as_ref())
    }

    pub(crate) fn keep(&self, flips: &[Flip]) {
        if let Some(keep) = self.checkpoint {
            keep(&|| AttackState::of_flips(flips));
        }
    }

    pub(crate) fn keep_parts(&self, state: &dyn Fn() -> RelaxedState) {
        if let Some(keep) = self.checkpoint {
            keep(&|| AttackState { flips: Vec::new(), relaxed: Some(state()) });
        }
    }
}

/// What an attack did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Flips that were allowed.
    pub budget: usize,
    /// The flips in the order they were made.
    pub flips: Vec<Flip>,
    /// Whether it came to its end; otherwise the observer asked to stop.
    pub complete: bool,
    /// Of an attack that was stopped before its flips were drawn, where it stands.
    pub relaxed: Option<RelaxedState>,
    /// What a user should know, one sentence each.
    pub notes: Vec<String>,
}

impl Outcome {
    /// Where the attack stands, to go on from.
    pub fn state(&self) -> AttackState {
        AttackState { flips: self.flips.clone(), relaxed: self.relaxed.clone() }
    }

    /// The poisoned graph.
    ///
    /// # Errors
    /// When the flips are not of this graph.
    pub fn poison(&self, graph: &Graph) -> Result<Graph> {
        let pairs: Vec<(u32, u32)> = self.flips.iter().map(Flip::pair).collect();
        Ok(graph.flipped(&pairs)?)
    }
}

/// An attack: its settings are the value itself.
pub(crate) trait Attack {
    /// Which labels it reads.
    const KNOWN: Known;

    /// Refuses settings that are out of their range, and knowledge that is not enough, before anything is computed.
    fn check(&self, input: &AttackInput<'_>) -> Result<()>;

    /// Chooses the flips.
    fn run(&self, input: &AttackInput<'_>, observer: &dyn Observer) -> Result<Outcome>;
}

/// Makes the enum of all attacks and everything that follows from the list: names, help, serde, parsing, dispatch.
macro_rules! attacks {
    ($($(#[doc = $about:literal])+ $name:literal => $variant:ident($settings:ty);)+) => {
        /// An attack and its settings, as they stand in files.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "name")]
        pub enum AttackSettings {
            $($(#[doc = $about])+ #[serde(rename = $name)] $variant($settings),)+
        }

        impl AttackSettings {
            /// Every attack: its name, with one line on what it does.
            pub const ALL: &[(&str, &str)] = &[$(($name, concat!($($about),+).trim_ascii()),)+];

            /// The name of the attack.
            pub fn name(&self) -> &'static str {
                match self { $(AttackSettings::$variant(_) => $name,)+ }
            }

            /// Which labels the attack reads.
            pub fn knows(&self) -> Known {
                match self { $(AttackSettings::$variant(_) => <$settings as Attack>::KNOWN,)+ }
            }

            fn check_own(&self, input: &AttackInput<'_>) -> Result<()> {
                match self { $(AttackSettings::$variant(settings) => settings.check(input),)+ }
            }

            fn run_own(&self, input: &AttackInput<'_>, observer: &dyn Observer) -> Result<Outcome> {
                match self { $(AttackSettings::$variant(settings) => settings.run(input, observer),)+ }
            }
        }

        /// The attack of a name, with its default settings.
        impl FromStr for AttackSettings {
            type Err = Error;

            fn from_str(name: &str) -> Result<AttackSettings> {
                match name {
                    $($name => Ok(AttackSettings::$variant(<$settings>::default())),)+
                    _ => Err(fiedler_graph::Error::unknown_name("attack", name, [$($name),+]).into()),
                }
            }
        }
    };
}

attacks! {
    /// Pairs are flipped, added or removed, all alike.
    "random" => Random(RandomFlips);
    /// Edges within classes are removed, edges between classes added: DICE.
    "dice" => Dice(Dice);
    /// Pairs that make the low-rank approximation of a graph filter worst, greedily, without labels: GF-Attack.
    "gf" => Gf(Gf);
    /// The same aim by projected gradient steps on relaxed flips.
    "gf-relaxed" => GfRelaxed(GfRelaxed);
    /// Pairs with the largest meta-gradient through the whole training of a linear GCN, one after the other: Mettack.
    "mettack" => Mettack(Mettack);
    /// The same meta-gradient on random blocks of pairs, by projected steps: PR-BCD, for large graphs.
    "pr-bcd" => PrBcd(PrBcd);
    /// The same meta-gradient on random blocks of pairs, greedily: GR-BCD, for large graphs.
    "gr-bcd" => GrBcd(GrBcd);
}

impl AttackSettings {
    /// Refuses what cannot be attacked, before anything is computed or written.
    ///
    /// # Errors
    /// Names the setting, the graph's property or the knowledge that is missing.
    pub fn check(&self, input: &AttackInput<'_>) -> Result<()> {
        if input.graph.weights().is_some() {
            return Err(Error::Unsuitable {
                message: "the graph has edge weights, and an attack flips edges that have none".into(),
                hint: "leave the weights out with --unweighted".into(),
            });
        }
        if let Some(features) = input.knowledge.features
            && features.rows() != input.graph.num_nodes()
        {
            let expected = format!("one for each of {} nodes", input.graph.num_nodes());
            return Err(Error::setting("number of feature rows", features.rows(), expected));
        }
        self.check_own(input)
    }

    /// Makes the attack. `observer` hears how far it is; where it asks to stop, the flips so far are returned.
    ///
    /// ```
    /// use fiedler_attack::{AttackInput, AttackSettings, Knowledge, RandomFlips};
    /// use fiedler_graph::{NoObserver, generate};
    ///
    /// let karate = generate::karate_club();
    /// let graph = karate.graph().expect("one graph");
    /// let attack = AttackSettings::Random(RandomFlips { ratio: 0.1, ..RandomFlips::default() });
    /// let outcome = attack.run(&AttackInput::new(graph, Knowledge::default()), &NoObserver)?;
    /// assert_eq!((outcome.budget, outcome.flips.len()), (7, 7));
    /// assert_ne!(outcome.poison(graph)?, *graph);
    /// # Ok::<(), fiedler_attack::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AttackSettings::check`]; and when a spectrum cannot be computed.
    pub fn run(&self, input: &AttackInput<'_>, observer: &dyn Observer) -> Result<Outcome> {
        self.check(input)?;
        self.run_own(input, observer)
    }
}
