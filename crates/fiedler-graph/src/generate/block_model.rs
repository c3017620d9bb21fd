//! Stochastic block models: classes of nodes that join their own kind more often (or less often) than others.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::draw::failures;
use super::spec::{self, Parameter, Spec};
use super::split::public_split;
use super::words::Language;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::labels::{Classes, Labels};
use crate::random::stream;

pub(super) const SPEC: Spec = Spec {
    name: "sbm",
    about: "stochastic block model: classes that mostly join their own kind, with words that hint at the class",
    parameters: PARAMETERS,
    defaults: || spec::defaults(BlockModel::default()),
    make: |settings, seed| stochastic_block_model(&spec::settings(settings)?, seed),
};

pub(super) const CITATION: Spec = Spec {
    name: "citation",
    about: "a small citation network: a block model with a heavy tail of degrees and informative words",
    parameters: PARAMETERS,
    defaults: || spec::defaults(BlockModel::citation()),
    make: |settings, seed| {
        let mut dataset = stochastic_block_model(&spec::settings(settings)?, seed)?;
        dataset.name = CITATION.name.into();
        Ok(dataset)
    },
};

const PARAMETERS: &[Parameter] = &[
    Parameter { name: "nodes", about: "number of nodes" },
    Parameter { name: "classes", about: "number of classes" },
    Parameter { name: "proportions", about: "relative sizes of the classes, or none for equal ones" },
    Parameter { name: "degree", about: "mean number of neighbors" },
    Parameter { name: "homophily", about: "share of edges that join two nodes of one class" },
    Parameter { name: "tail", about: "exponent of the power law of degrees, or none for like degrees" },
    Parameter { name: "vocabulary", about: "number of words, each a binary feature; 0 for no features" },
    Parameter { name: "words", about: "mean number of words drawn for a node" },
    Parameter { name: "topic", about: "share of a node's words drawn from the topic of its class" },
];

/// More words than any language has.
const MAX_VOCABULARY: usize = 1 << 24;

/// Settings of [`stochastic_block_model`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlockModel {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of classes.
    pub classes: usize,
    /// Relative sizes of the classes; empty for equal ones.
    pub proportions: Vec<f64>,
    /// Expected mean number of neighbors.
    pub degree: f64,
    /// Expected share of edges that join two nodes of one class.
    pub homophily: f64,
    /// Exponent of the power law that expected degrees follow, above 2; `None` when all nodes of a class are alike.
    pub tail: Option<f64>,
    /// Number of words there are, each a column of the features; 0 for no features.
    pub vocabulary: usize,
    /// Mean number of words drawn for a node; a word drawn twice counts once.
    pub words: f64,
    /// Share of a node's words that are drawn from the topic of its class, the others from the whole vocabulary.
    pub topic: f64,
}

impl Default for BlockModel {
    fn default() -> Self {
        BlockModel {
            nodes: 1000,
            classes: 4,
            proportions: Vec::new(),
            degree: 10.0,
            homophily: 0.8,
            tail: None,
            vocabulary: 500,
            words: 18.0,
            topic: 0.2,
        }
    }
}

impl BlockModel {
    /// A small network like those of Cora and CiteSeer: sparse, homophilous, with a few much-cited nodes, and words that tell
    /// the class of a node in about six of ten cases, of its neighborhood in more than eight.
    pub fn citation() -> BlockModel {
        BlockModel { classes: 7, degree: 4.8, homophily: 0.77, tail: Some(3.5), topic: 0.29, ..Default::default() }
    }

    fn check(&self) -> Result<()> {
        super::check_nodes(self.nodes, 1)?;
        if !(1..=self.nodes).contains(&self.classes) {
            return Err(Error::setting("classes", self.classes, format!("a whole number from 1 to {}", self.nodes)));
        }
        let given = self.proportions.len();
        if given != 0 && given != self.classes {
            return Err(Error::setting("number of proportions", given, format!("{}, one a class", self.classes)));
        }
        if let Some(bad) = self.proportions.iter().find(|share| !(share.is_finite() && **share > 0.0)) {
            return Err(Error::setting("proportions", bad, "positive numbers"));
        }
        if !(self.degree.is_finite() && self.degree >= 0.0) {
            return Err(Error::setting("degree", self.degree, "a number that is not negative"));
        }
        super::check_size("expected number of edges", self.nodes as f64 * self.degree / 2.0)?;
        super::check_share("homophily", self.homophily)?;
        if let Some(tail) = self.tail.filter(|tail| !(tail.is_finite() && *tail > 2.0)) {
            return Err(Error::setting("tail", tail, "an exponent above 2, or none"));
        }
        if self.vocabulary == 0 { Ok(()) } else { self.check_words() }
    }

    fn check_words(&self) -> Result<()> {
        super::check_share("topic", self.topic)?;
        if !(self.classes..=MAX_VOCABULARY).contains(&self.vocabulary) {
            let expected = format!("0, or from {} (one word a class) to {MAX_VOCABULARY}", self.classes);
            return Err(Error::setting("vocabulary", self.vocabulary, expected));
        }
        // Beyond this little but repeated words would be drawn.
        if !(0.0..=self.vocabulary as f64).contains(&self.words) {
            return Err(Error::setting("words", self.words, format!("a number from 0 to {}", self.vocabulary)));
        }
        super::check_size("expected number of words of all nodes", self.nodes as f64 * self.words)
    }

    /// The number of nodes of each class: the proportions, rounded so that they add up.
    fn sizes(&self) -> Result<Vec<usize>> {
        let total: f64 = if self.proportions.is_empty() { self.classes as f64 } else { self.proportions.iter().sum() };
        let share = |class: usize| self.proportions.get(class).copied().unwrap_or(1.0) / total * self.nodes as f64;
        let mut sizes: Vec<usize> = (0..self.classes).map(|class| share(class) as usize).collect();
        let left = self.nodes.saturating_sub(sizes.iter().sum());
        let mut by_remainder: Vec<usize> = (0..self.classes).collect();
        by_remainder.sort_by(|&a, &b| share(b).fract().total_cmp(&share(a).fract()));
        by_remainder.iter().cycle().take(left).for_each(|&class| sizes[class] += 1);
        match sizes.iter().position(|&size| size == 0) {
            Some(class) => Err(Error::setting(
                "proportions",
                format!("{:?}", self.proportions),
                format!("at least one of {} nodes for class {class}", self.nodes),
            )),
            None => Ok(sizes),
        }
    }
}

/// Draws a graph of classes, with words as features where there is a vocabulary, and a split called `public`.
///
/// Each pair of nodes is joined independently, with a probability that depends on their classes and, with a
/// [`tail`](BlockModel::tail), on how prominent the two are (the degree-corrected model of Karrer and Newman). All classes expect
/// the same number of edges within themselves for each of their nodes. Node ids tell nothing of the class.
///
/// # Errors
/// When a setting is out of its range, or the classes are too small for the degree.
pub fn stochastic_block_model(settings: &BlockModel, seed: u64) -> Result<Dataset> {
    settings.check()?;
    let sizes = settings.sizes()?;
    let mut class_of: Vec<u32> = Vec::with_capacity(settings.nodes);
    for (class, &size) in sizes.iter().enumerate() {
        class_of.resize(class_of.len() + size, class as u32);
    }
    class_of.shuffle(&mut stream(seed, "classes", 0));

    let blocks = Blocks::new(settings, &class_of, seed)?;
    let nodes = 0..settings.nodes as u32;
    let pairs = nodes.into_par_iter().flat_map_iter(|node| blocks.edges_of(node, seed)).collect();
    let mut dataset = super::dataset(SPEC.name, settings.nodes, pairs)?;
    if settings.vocabulary > 0 {
        let language = Language { vocabulary: settings.vocabulary, words: settings.words, topic: settings.topic };
        dataset.features = Some(language.write(&class_of, settings.classes, seed)?);
    }
    let classes = Classes::from_integers(class_of.iter().map(|&class| Some(i64::from(class))));
    dataset.node_labels = Some(Labels::Classes(classes));
    dataset.splits = vec![public_split(&class_of, settings.classes, seed)];
    Ok(dataset)
}

/// The built-in example: [`BlockModel::citation`], 1,000 nodes.
///
/// ```
/// let citation = fiedler_graph::generate::citation(0);
/// assert_eq!((citation.graphs.num_nodes(), citation.splits[0].name.as_str()), (1000, "public"));
/// ```
pub fn citation(seed: u64) -> Dataset {
    (CITATION.make)((CITATION.defaults)(), seed).expect("the defaults are in range")
}

/// The probabilities of a block model: a pair is joined with the product of its nodes' prominence and its classes' rate.
struct Blocks<'a> {
    class_of: &'a [u32],
    prominence: Vec<f64>,
    /// All nodes, the most prominent first.
    everyone: Vec<u32>,
    /// The nodes of each class, in the same order.
    members: Vec<Vec<u32>>,
    /// The place of each node among everyone, and among the members of its class.
    places: Vec<(u32, u32)>,
    /// Rate within each class.
    within: Vec<f64>,
    /// Rate between any two classes.
    between: f64,
}

impl Blocks<'_> {
    fn new<'a>(settings: &BlockModel, class_of: &'a [u32], seed: u64) -> Result<Blocks<'a>> {
        let prominence = prominence(settings, seed);
        let mut everyone: Vec<u32> = (0..class_of.len() as u32).collect();
        everyone.par_sort_by(|&a, &b| prominence[b as usize].total_cmp(&prominence[a as usize]));
        let mut members = vec![Vec::new(); settings.classes];
        let mut places = vec![(0, 0); class_of.len()];
        for (place, &node) in everyone.iter().enumerate() {
            let class = &mut members[class_of[node as usize] as usize];
            places[node as usize] = (place as u32, class.len() as u32);
            class.push(node);
        }
        let (within, between) = rates(settings, &members, &prominence)?;
        Ok(Blocks { class_of, prominence, everyone, members, places, within, between })
    }

    /// The edges of a node with less prominent ones, of its own class and of others.
    fn edges_of(&self, node: u32, seed: u64) -> Vec<(u32, u32)> {
        let mut random = stream(seed, "block-model/edges", u64::from(node));
        let class = self.class_of[node as usize];
        let (among_everyone, among_members) = self.places[node as usize];
        let members = &self.members[class as usize][among_members as usize + 1..];
        let mut others = Vec::new();
        self.join(node, members, self.within[class as usize], &mut random, |other| others.push(other));
        let everyone = &self.everyone[among_everyone as usize + 1..];
        self.join(node, everyone, self.between, &mut random, |other| {
            if self.class_of[other as usize] != class {
                others.push(other);
            }
        });
        others.into_iter().map(|other| (node, other)).collect()
    }

    /// Draws those of the candidates, the most prominent first, that a node is joined with.
    ///
    /// Probabilities descend along the candidates, so that the last one seen bounds those to come: leap with the bound, then
    /// accept by how far it was too high (Miller and Hagberg, *Efficient generation of networks with given expected degrees*).
    fn join(&self, node: u32, candidates: &[u32], rate: f64, random: &mut impl Rng, mut joined: impl FnMut(u32)) {
        let rate = rate * self.prominence[node as usize];
        let probability = |candidate: u32| (rate * self.prominence[candidate as usize]).min(1.0);
        let mut at = 0;
        let mut bound = candidates.first().map_or(0.0, |&first| probability(first));
        while bound > 0.0 {
            at += failures(random, bound).min(candidates.len() as u64) as usize;
            let Some(&candidate) = candidates.get(at) else { break };
            let exact = probability(candidate);
            if random.random::<f64>() * bound < exact {
                joined(candidate);
            }
            bound = exact;
            at += 1;
        }
    }
}

/// How prominent each node is: 1 for all, or from a power law that begins at 1.
///
/// Cut off at √nodes, beyond which two prominent nodes would have to be joined more than once to reach their degrees.
fn prominence(settings: &BlockModel, seed: u64) -> Vec<f64> {
    let Some(tail) = settings.tail else { return vec![1.0; settings.nodes] };
    let most = (settings.nodes as f64).sqrt();
    let mut random = stream(seed, "block-model/prominence", 0);
    let mut draw = || (1.0 - random.random::<f64>()).powf(-1.0 / (tail - 1.0)).min(most);
    (0..settings.nodes).map(|_| draw()).collect()
}

/// The rates within each class and between classes that lead to the expected degree and homophily.
fn rates(settings: &BlockModel, members: &[Vec<u32>], prominence: &[f64]) -> Result<(Vec<f64>, f64)> {
    let edges = settings.nodes as f64 * settings.degree / 2.0;
    let homophily = if settings.classes == 1 { 1.0 } else { settings.homophily };
    let mass = |class: &Vec<u32>| class.iter().map(|&node| prominence[node as usize]).sum::<f64>();
    let square = |class: &Vec<u32>| class.iter().map(|&node| prominence[node as usize].powi(2)).sum::<f64>();
    let masses: Vec<f64> = members.iter().map(mass).collect();
    let total: f64 = masses.iter().sum();

    let mut within = Vec::with_capacity(members.len());
    let mut pairs_within = 0.0;
    for (class, &mass) in members.iter().zip(&masses) {
        let size = class.len() as f64;
        let pairs = size * (size - 1.0) / 2.0;
        let expected = edges * homophily * mass / total;
        check_room(settings, expected, pairs, "within a class")?;
        within.push(if pairs > 0.0 { expected / ((mass * mass - square(class)) / 2.0) } else { 0.0 });
        pairs_within += pairs;
    }
    let nodes = settings.nodes as f64;
    let expected = edges * (1.0 - homophily);
    check_room(settings, expected, nodes * (nodes - 1.0) / 2.0 - pairs_within, "between the classes")?;
    let mass_between = (total * total - masses.iter().map(|mass| mass * mass).sum::<f64>()) / 2.0;
    Ok((within, if expected > 0.0 { expected / mass_between } else { 0.0 }))
}

/// Checks that edges find as many pairs as they need.
fn check_room(settings: &BlockModel, expected: f64, pairs: f64, place: &str) -> Result<()> {
    if expected <= pairs {
        return Ok(());
    }
    let most = settings.degree * pairs / expected;
    let reason = format!("there are only {pairs:.0} pairs {place} for {expected:.0} edges");
    Err(Error::setting("degree", settings.degree, format!("at most {most:.3}: {reason}")))
}
