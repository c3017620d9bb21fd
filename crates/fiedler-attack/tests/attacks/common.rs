//! Graphs of any shape with all that attacks may know, and all attacks in small.

use fiedler_attack::{
    AttackInput, AttackSettings, Dice, Gf, GfRelaxed, GrBcd, Knowledge, Mettack, Outcome, PrBcd, RandomFlips,
    RandomMode,
};
use fiedler_graph::{Classes, Dataset, Graph, Labels, NoObserver, Split, generate};

/// A graph whose nodes have classes and a split.
pub struct Target {
    pub graph: Graph,
    pub labels: Labels,
    pub split: Split,
}

impl Target {
    /// Classes alternate, every third node trains.
    pub fn new(nodes: usize, pairs: Vec<(u32, u32)>) -> Target {
        let labels = Labels::Classes(Classes::from_integers((0..nodes as i64).map(|node| Some(node % 2))));
        let nodes = 0..nodes as u32;
        let train: Vec<u32> = nodes.clone().filter(|node| node % 3 == 0).collect();
        let test = nodes.clone().filter(|node| node % 3 == 1).collect();
        Target {
            graph: Graph::from_pairs(nodes.len(), pairs).unwrap().0,
            labels,
            split: Split { train, test, ..Split::default() },
        }
    }

    pub fn karate() -> Target {
        let Dataset { graphs, node_labels, .. } = generate::karate_club();
        let split = Split { train: vec![0, 1, 3, 30, 32, 33], test: vec![2, 4, 5, 28, 29], ..Split::default() };
        Target { graph: graphs.graph(0), labels: node_labels.unwrap(), split }
    }

    pub fn input(&self) -> AttackInput<'_> {
        let knowledge = Knowledge { features: None, labels: Some(&self.labels), split: Some(&self.split) };
        AttackInput::new(&self.graph, knowledge)
    }

    pub fn attack(&self, settings: &AttackSettings) -> Outcome {
        settings.run(&self.input(), &NoObserver).unwrap()
    }

    pub fn class(&self, node: u32) -> Option<u32> {
        self.labels.classes().unwrap().of()[node as usize]
    }
}

/// Every attack at a ratio.
pub fn all(ratio: f64) -> Vec<AttackSettings> {
    let random = |mode| AttackSettings::Random(RandomFlips { ratio, mode, ..RandomFlips::default() });
    vec![
        random(RandomMode::Flip),
        random(RandomMode::Add),
        random(RandomMode::Remove),
        AttackSettings::Dice(Dice { ratio, ..Dice::default() }),
        AttackSettings::Gf(Gf { ratio, smallest: 6, ..Gf::default() }),
        AttackSettings::GfRelaxed(GfRelaxed { ratio, smallest: 6, steps: 4, samples: 3, ..GfRelaxed::default() }),
        AttackSettings::Mettack(Mettack { ratio, ..Mettack::default() }),
        AttackSettings::Mettack(Mettack { ratio, a_meta: true, ..Mettack::default() }),
        AttackSettings::PrBcd(PrBcd { ratio, epochs: 6, resampling: 4, block: 60, samples: 3, ..PrBcd::default() }),
        AttackSettings::GrBcd(GrBcd { ratio, epochs: 4, block: 60, ..GrBcd::default() }),
    ]
}

/// The same work on one thread and on two: both results.
pub fn on_one_and_two_threads<T: Send>(work: impl Fn() -> T + Sync) -> [T; 2] {
    [1, 2].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&work))
}
