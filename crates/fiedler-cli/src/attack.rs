//! `fiedler attack`: poisons a graph, tells what was done, and writes the poisoned graph with all that is known of the attack.

use std::path::PathBuf;

use fiedler_experiment::attack::{AttackPlan, AttackRecord, SplitChoice, settings_of};
use fiedler_experiment::{DataRecord, Result, memory};

use super::Common;
use super::args::{attacks, command_line};
use super::output::Output;
use super::reading::Reading;
use super::table::{Table, count, percent, several};

/// Poisons a graph: flips a share of its edges such that whoever learns from it afterwards learns worst.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub struct Attack {
    /// A path, a name from `fiedler data list`, or a generator such as sbm:nodes=2000
    /// [default: citation, a built-in graph]
    data: Option<String>,
    /// Which attack
    #[arg(long, value_name = "NAME", default_value = "mettack", value_parser = attacks())]
    method: String,
    /// Flips, as a share of the edges [default: 0.05]
    #[arg(long, value_name = "SHARE")]
    ratio: Option<f64>,
    /// The split that the victim will be trained on: public (that of the data), random (10 % train, 10 % validation, every class alike),
    /// or a JSON file {"train": [ids], "validation": [ids], "test": [ids]}. Attacks that read labels of training nodes need one
    #[arg(long, value_name = "public|random|FILE")]
    split: Option<String>,
    /// Attack the largest connected component, as the literature does; ids are then those within it
    #[arg(long)]
    largest_component: bool,
    /// Change a setting of the attack, such as objective=meta-train or surrogate.steps=50
    #[arg(long = "set", value_name = "KEY=VALUE")]
    assignments: Vec<String>,
    /// Folder for the poisoned graph and what goes with it; without it, only the summary is printed
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace files that are in the folder already
    #[arg(long, requires = "out")]
    force: bool,
    /// Print attack.json
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

const EXAMPLES: &str = "\
In the folder: poisoned.npz (the dataset with its split, in the layout of gnn-benchmark), adjacency.npz (as scipy.sparse.save_npz writes it),
flips.csv, attack.json and report.html. The folder itself can be given as DATA. An attack that was stopped goes on when it is asked for again.

Mettack is made for one split: a probe trained on other nodes is hardly hurt. DICE reads the classes of all nodes, also of those that are tested.

Examples:
  fiedler attack cora --method mettack --ratio 0.05 --split public --out poisoned-cora
  fiedler embed poisoned-cora --method grace
  fiedler attack cora --method random --set mode=add
  fiedler attack cora.npz --largest-component --split splits.json --set objective=both";

impl Attack {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        let settings = settings_of(&self.method, self.ratio, common.seed(), &self.assignments)?;
        let mut dataset = self.reading.load(self.data.as_deref(), common.seed(), output)?;
        if self.largest_component {
            dataset = dataset.largest_component();
        }
        let source = self.data.clone().unwrap_or_else(|| fiedler_experiment::BUILT_IN.to_owned());
        let plan = AttackPlan {
            settings,
            data: DataRecord::new(source, self.reading.options(), &dataset),
            dataset: &dataset,
            split: self.split.as_deref().map(SplitChoice::from),
            seed: common.seed(),
            out: self.out.clone(),
            force: self.force,
            command: command_line(),
        };
        output.listen();
        let attack = plan.run(output)?;
        if let Some(folder) = &self.out {
            output.note(&format!("wrote {}", folder.display()));
        }
        if self.json {
            return output.json(&attack.record);
        }
        output.result(&describe(&attack.record))
    }
}

/// A table for people.
fn describe(record: &AttackRecord) -> String {
    let mut table = Table::new(format!("{}: attack {}", record.data.name, record.attack.name()));
    let counts = &record.counts;
    table.row("flips", format!("{} of {} allowed", count(record.flips), count(record.budget)));
    let between = |between: usize, all: usize| match (all, record.split.is_some() || between > 0) {
        (0, _) | (_, false) => String::new(),
        _ => format!(" ({} between classes)", percent(between as f64 / all as f64)),
    };
    table.row("  added", count(counts.added) + &between(counts.added_between_classes, counts.added));
    table.row("  removed", count(counts.removed) + &between(counts.removed_between_classes, counts.removed));
    if let Some(split) = &record.split {
        let share = percent(counts.at_training_nodes as f64 / record.flips.max(1) as f64);
        table.row("  at training nodes", share);
        let sizes =
            format!("{} train, {} validation, {} test", count(split.train), count(split.validation), count(split.test));
        table.row("split", format!("{}, {sizes}, fingerprint {}", split.name, &split.fingerprint[..8]));
    }
    table.row("knew", record.knows.clone());
    if let Some(accuracy) = record.surrogate_accuracy {
        table.row(
            "linear GCN",
            format!("{} → {} of test nodes right", percent(accuracy.before), percent(accuracy.after)),
        );
    }
    if let Some(found) = record.detection {
        let by_features = found
            .precision_by_features
            .map_or(String::new(), |share| format!(", {} by features alone", percent(share)));
        table.row(
            "looks added",
            format!(
                "{} of the {} most suspicious were{by_features}",
                percent(found.precision),
                several(found.added, "edge")
            ),
        );
    }
    for note in &record.notes {
        table.row("note", note.clone());
    }
    let memory = record.peak_bytes.map_or(String::new(), |bytes| format!(", {} at most", memory::in_words(bytes)));
    table.row("took", format!("{:.1} s{memory}", record.seconds));
    table.to_string()
}
