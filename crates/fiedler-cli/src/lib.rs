//! The program `fiedler`: arguments, progress, words and exit codes. What it does is in `fiedler-experiment` and the crates below it.
//!
//! [`main`] is all of it, so that the Python package can bring the program along. The allocator is that of whoever calls it.

mod args;
mod attack;
mod augment;
mod completions;
mod convert;
mod data;
mod embed;
mod evaluate;
mod exit;
mod finetune;
mod import;
mod inspect;
mod interrupt;
mod output;
mod reading;
mod report;
mod reproduce;
mod scheme_flags;
mod settings;
mod spectrum;
mod table;
mod tune;

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::{Args, Parser, Subcommand};
use fiedler_experiment::{Error, ErrorKind, Result};

use output::Output;

/// Self-supervised learning on graphs, guided by the graph's spectrum.
#[derive(Debug, Parser)]
#[command(name = "fiedler", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
DATA is a path, a name from `fiedler data list`, a generator with its settings, or a transform of any of them:
  fiedler inspect my-edges.csv
  fiedler inspect cora
  fiedler inspect sbm:nodes=2000,classes=4
  fiedler inspect ego:cora,hops=2,cap=128,count=1000

Exit codes: 0 done, 1 unexpected failure, 2 wrong usage, 3 bad data, 4 not found, 5 cannot write, 6 download failed,
7 training failed, 8 the folder is in use by another process, 130 interrupted. Results go to standard output, everything else to standard error. With
--json a result is one JSON object, and a failure is {\"error\": {\"kind\", \"message\", \"hint\", \"exit_code\"}} on the last line of standard error.
NO_COLOR switches colors off.";

/// Options of every command.
#[derive(Debug, Args)]
struct Common {
    /// Say nothing but results and errors
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Threads to work with [default: all cores]; results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Seed of everything random [default: 0]
    #[arg(long, global = true)]
    seed: Option<u64>,
}

impl Common {
    /// The seed, given or not.
    fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Describe a graph or a set of graphs
    Inspect(inspect::Inspect),
    /// Compute an augmentation scheme that changes the graph's spectrum most
    Augment(Box<augment::Augment>),
    /// Poison a graph, so that whoever learns from it learns worst
    Attack(Box<attack::Attack>),
    /// Learn an embedding of nodes or graphs without labels
    Embed(Box<embed::Embed>),
    /// Train the encoder of a run further, by labels
    Finetune(Box<finetune::Finetune>),
    /// Make an encoder of weights that others have published
    Import(import::Import),
    /// Judge embeddings by how well labels can be predicted from them
    Evaluate(evaluate::Evaluate),
    /// Make a page to look at, of a run, several runs, a scheme or a graph
    Report(report::Report),
    /// Compute the paper's tables anew
    Reproduce(reproduce::Reproduce),
    /// Look for settings that suit a dataset, by validation only
    Tune(tune::Tune),
    /// List the settings of a method with their defaults, as --set takes them
    Settings(settings::Settings),
    /// Write a graph in another format
    Convert(convert::Convert),
    /// List, find and download known datasets
    Data(data::Data),
    /// Print a shell's completion script
    Completions(completions::Completions),
}

/// Runs the program with the given arguments, the first of which is its name, and gives its exit code. A process runs it once: threads
/// and the answer to Ctrl-C are set up for good.
pub fn main(arguments: Vec<OsString>) -> u8 {
    let arguments = args::remember(arguments);
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && args::asks_for_json() => return exit::report(&usage_error(&error)),
        Err(error) => {
            // Who cannot be told cannot be told that either.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(1);
        }
    };
    match std::panic::catch_unwind(|| run_command(&cli)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => exit::report(&error),
        Err(_) => {
            let hint =
                "please report it with the command that led to it; the line above says where it happened".to_owned();
            exit::report(&Error::new(ErrorKind::Unexpected, "a bug in fiedler, not a mistake of yours", hint))
        }
    }
}

/// What clap refuses, as one of our own failures: its first paragraph is the message, the others help.
fn usage_error(error: &clap::Error) -> Error {
    let text = error.to_string();
    let mut parts = text.trim().split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let message = parts.next().unwrap_or_default();
    let hint = parts.collect::<Vec<_>>().join("; ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    Error::new(ErrorKind::Usage, message, Some(hint).filter(|hint| !hint.is_empty()))
}

/// Bytes of a thread's stack: as many as the first thread of a program has.
const STACK: usize = 8 << 20;

fn run_command(cli: &Cli) -> Result<()> {
    // Zero stands for as many as the machine has.
    let threads = cli.common.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build_global();
    pool.map_err(|error| Error::new(ErrorKind::Unexpected, format!("cannot start threads: {error}"), None))?;
    // One of these threads does what only one can do: handing work back and forth would take time.
    rayon::scope(|_| run_here(cli))
}

fn run_here(cli: &Cli) -> Result<()> {
    let output = Output::new(cli.common.quiet, std::io::stderr().is_terminal());
    match &cli.command {
        Command::Inspect(inspect) => inspect.run(&cli.common, &output),
        Command::Augment(augment) => augment.run(&cli.common, &output),
        Command::Attack(attack) => attack.run(&cli.common, &output),
        Command::Embed(embed) => embed.run(&cli.common, &output),
        Command::Finetune(finetune) => finetune.run(&cli.common, &output),
        Command::Import(import) => import.run(&output),
        Command::Evaluate(evaluate) => evaluate.run(&cli.common, &output),
        Command::Report(report) => report.run(&cli.common, &output),
        Command::Reproduce(reproduce) => reproduce.run(&cli.common, &output),
        Command::Tune(tune) => tune.run(&cli.common, &output),
        Command::Settings(settings) => settings.run(&output),
        Command::Convert(convert) => convert.run(&cli.common, &output),
        Command::Data(data) => data.run(&output),
        Command::Completions(completions) => completions.run(&output),
    }
}
