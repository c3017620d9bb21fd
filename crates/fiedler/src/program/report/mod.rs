//! `fiedler report`: pages that people would rather look at than read.

mod drawings;
mod files;
mod run;
mod source;
mod tables;

use std::path::{Path, PathBuf};

use fiedler_augment::Scheme;
use fiedler_graph::Dataset;
use fiedler_report::{Comparison, GraphPage, Page, SchemePage};

use super::Common;
use super::failure::{Exit, Failure};
use super::output::Output;
use super::reading::{BUILT_IN, Reading};
use super::run::folder::{Folder, PAGE};
pub use run::{leave_missing_page, leave_page};
use source::Source;

/// Makes one HTML page that needs no network and no server: of a run, of several runs side by side, of a scheme, of a graph, or of the tables
/// that `fiedler reproduce` wrote.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Report {
    /// Run folders, a scheme, DATA, or a folder or csv file of `fiedler reproduce` [default: citation, a built-in graph]
    #[arg(value_name = "WHAT")]
    what: Vec<String>,
    /// The data that a scheme was computed for
    #[arg(long, value_name = "DATA")]
    data: Option<String>,
    /// The page [default: report.html in the folder, or NAME.html here]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also write every picture as SVG and PNG, and every table as csv, markdown and LaTeX
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Draw the surroundings of this node of a large graph
    #[arg(long, value_name = "NODE")]
    around: Option<String>,
    /// Show the page in a browser
    #[arg(long)]
    open: bool,
    /// Replace files that are there already
    #[arg(long)]
    force: bool,
    /// Print one JSON object: what was written
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

const EXAMPLES: &str = "\
A page that stands under its default name in a folder and was made by fiedler is made anew without --force.

Examples:
  fiedler report citation-span --open
  fiedler report run-1 run-2 run-3 --out comparison.html
  fiedler report cora
  fiedler report cora-scheme --data cora --around 1358
  fiedler report results --figures pictures";

/// A page, where it goes, and whether a page of ours that is there gives way.
struct Planned {
    page: Page,
    out: PathBuf,
    own_folder: bool,
}

impl Report {
    pub fn run(&self, common: &Common, output: &Output) -> Result<(), Failure> {
        let planned = self.plan(common, output)?;
        let out = self.out.clone().unwrap_or(planned.out);
        let remade = planned.own_folder && self.out.is_none() && files::is_own_page(&out);
        let written = files::write(&planned.page, &out, self.figures.as_deref(), self.force, remade)?;
        if self.open {
            files::open(&out, output);
        }
        match self.json {
            true => output.json(&written),
            false => output.result(&written.in_words()),
        }
    }

    fn plan(&self, common: &Common, output: &Output) -> Result<Planned, Failure> {
        let mut sources = self.what.iter().map(|what| source::recognize(what)).collect::<Result<Vec<_>, _>>()?;
        if sources.is_empty() {
            sources.push(Source::Data(BUILT_IN.to_owned()));
        }
        let of_runs = sources.iter().all(|source| matches!(source, Source::Run(_)));
        let of_tables = sources.iter().all(|source| matches!(source, Source::Tables(_)));
        match sources.as_slice() {
            [Source::Run(folder)] => self.of_run(folder, output),
            _ if of_runs => self.of_runs(&sources),
            _ if of_tables => self.of_tables(&sources),
            [Source::Scheme(file)] => self.of_scheme(file, self.data.as_deref(), common, output),
            [Source::Data(data), Source::Scheme(file)] | [Source::Scheme(file), Source::Data(data)] => {
                self.of_scheme(file, Some(data), common, output)
            }
            [Source::Data(data)] => self.of_data(data, common, output),
            _ => {
                let message = "these cannot stand on one page";
                let hint = "give one run, several runs, a scheme with its data, DATA, or tables of `fiedler reproduce`"
                    .to_owned();
                Err(Failure::new(Exit::Usage, message, hint))
            }
        }
    }

    fn of_run(&self, folder: &Path, output: &Output) -> Result<Planned, Failure> {
        let page = run::page(folder, self.around.as_deref(), output)?;
        Ok(Planned { page, out: folder.join(PAGE), own_folder: true })
    }

    fn of_runs(&self, sources: &[Source]) -> Result<Planned, Failure> {
        let folders: Vec<&Path> = sources.iter().filter_map(Source::run).collect();
        let names = source::short_names(&folders);
        let mut comparison = Comparison::default();
        for (folder, name) in folders.iter().zip(names) {
            let record = run::finished(&Folder::new(folder))?;
            comparison.runs.push((name, run::figures(&record, folder)?));
        }
        let mut page = page("Runs compared".into(), comparison.lead());
        page.extend(comparison.sections());
        Ok(Planned { page, out: "comparison.html".into(), own_folder: false })
    }

    fn of_tables(&self, sources: &[Source]) -> Result<Planned, Failure> {
        let paths: Vec<&Path> = sources.iter().filter_map(Source::tables).collect();
        let page = tables::page(&paths)?;
        let out = match paths.as_slice() {
            [folder] if folder.is_dir() => folder.join(PAGE),
            [file] => Path::new(file.file_stem().unwrap_or_default()).with_extension("html"),
            _ => "reproduction.html".into(),
        };
        let own_folder = paths.iter().any(|path| path.is_dir());
        Ok(Planned { page, out, own_folder })
    }

    fn of_scheme(&self, file: &Path, data: Option<&str>, common: &Common, output: &Output) -> Result<Planned, Failure> {
        let dataset = self.reading.load(data, common.seed(), output)?;
        let scheme = Scheme::load(file, &dataset.graphs).map_err(|error| match (error, data) {
            (fiedler_augment::Error::OtherGraph { .. }, None) => {
                let message = format!("{} was not computed for {BUILT_IN}, the built-in graph", file.display());
                Failure::new(Exit::Usage, message, "name the data it belongs to with --data".to_owned())
            }
            (error, _) => error.into(),
        })?;
        let mut page = page(format!("{}: {} scheme", dataset.name, scheme.settings().name()), String::new());
        let graph = graph_page(&dataset, None, common.seed(), false)?;
        page.lead = graph.lead();
        page.extend([scheme_page(&scheme, &dataset, self.around.as_deref(), common.seed(), output)?.section()]);
        page.extend(graph.sections());
        let folder = file.parent().unwrap_or(Path::new("."));
        Ok(Planned { page, out: folder.join(PAGE), own_folder: true })
    }

    fn of_data(&self, data: &str, common: &Common, output: &Output) -> Result<Planned, Failure> {
        let dataset = self.reading.load(Some(data), common.seed(), output)?;
        let spinner = output.spinner("looking at the graph");
        let graph = graph_page(&dataset, self.around.as_deref(), common.seed(), false)?;
        spinner.finish_and_clear();
        let mut page = page(dataset.name.clone(), graph.lead());
        page.extend(graph.sections());
        let out = format!("{}.html", fiedler_report::slug(&dataset.name));
        Ok(Planned { page, out: out.into(), own_folder: false })
    }
}

/// A page without sections yet.
fn page(title: String, lead: String) -> Page {
    let origin =
        format!("Made by fiedler {}. The page is whole: it asks nothing of a network.", env!("CARGO_PKG_VERSION"));
    Page { title, lead, origin, ..Page::default() }
}

/// What a page says of a graph. Where `around` is not given, only small graphs are drawn.
fn graph_page(dataset: &Dataset, around: Option<&str>, seed: u64, quick: bool) -> Result<GraphPage, Failure> {
    let mut page = GraphPage::of(dataset, seed, quick)?;
    page.drawings = drawings::of_graph(dataset, around)?;
    Ok(page)
}

/// What a page says of a scheme.
fn scheme_page(
    scheme: &Scheme,
    dataset: &Dataset,
    around: Option<&str>,
    seed: u64,
    output: &Output,
) -> Result<SchemePage, Failure> {
    let spinner = output.spinner("looking at the scheme");
    let mut page = SchemePage::of(scheme, dataset, seed)?;
    page.drawings = drawings::of_scheme(scheme, dataset, around)?;
    spinner.finish_and_clear();
    Ok(page)
}
