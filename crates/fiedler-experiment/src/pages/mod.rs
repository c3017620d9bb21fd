//! Pages that people would rather look at than read: of a run, of several runs side by side, of a scheme, of a graph, of tables.

pub(crate) mod attack;
mod drawings;
mod files;
pub(crate) mod finetune;
mod run;
mod source;
mod tables;

use std::path::{Path, PathBuf};

use fiedler_augment::Scheme;
use fiedler_graph::{Dataset, Observer};
use fiedler_report::{Comparison, GraphPage, Page, SchemePage};

use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use crate::open::{BUILT_IN, open_observed};
use crate::run::{PAGE, RunFolder};
use crate::scheme_store::load_scheme;
use fiedler_io::ReadOptions;

pub use files::WrittenPage;
pub(crate) use run::leave_page;
pub use run::{leave_missing_page, of_artifacts};
use source::Source;

/// A page that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// Run folders, a scheme, data, or a folder or csv file of tables; without, the built-in graph.
    pub what: &'a [String],
    /// The data that a scheme was computed for.
    pub data: Option<&'a str>,
    /// How they are read.
    pub options: &'a ReadOptions,
    /// A node of a large graph whose surroundings are drawn.
    pub around: Option<&'a str>,
    /// Seed of generators and of what a page draws.
    pub seed: u64,
}

/// A page, where it goes, and whether a page of ours that is there gives way.
pub struct PlannedPage {
    /// The page.
    pub page: Page,
    /// Where it goes, unless somebody says otherwise.
    pub out: PathBuf,
    own_folder: bool,
}

impl PlannedPage {
    /// Writes the page to `out`, or where it goes; and, where asked, its pictures and tables into the folder `figures`. A page that stands
    /// under its own name in a folder and was made by fiedler gives way; other files only if `force`.
    ///
    /// # Errors
    /// When a file is there that may not be replaced, or writing fails.
    pub fn write(&self, out: Option<&Path>, figures: Option<&Path>, force: bool) -> Result<WrittenPage> {
        let remade = self.own_folder && out.is_none() && files::is_own_page(&self.out);
        files::write(&self.page, out.unwrap_or(&self.out), figures, force, remade)
    }
}

impl PageRequest<'_> {
    /// Makes the page.
    ///
    /// # Errors
    /// When what is asked for cannot be read, or cannot stand on one page.
    pub fn plan(&self, observer: &dyn Observer) -> Result<PlannedPage> {
        let mut sources = self.what.iter().map(|what| source::recognize(what)).collect::<Result<Vec<_>>>()?;
        if sources.is_empty() {
            sources.push(Source::Data(BUILT_IN.to_owned()));
        }
        let of_runs = sources.iter().all(|source| matches!(source, Source::Run(_)));
        let of_tables = sources.iter().all(|source| matches!(source, Source::Tables(_)));
        match sources.as_slice() {
            [Source::Run(folder)] => self.of_run(folder, observer),
            [Source::Finetune(folder)] => {
                let page = finetune::page(folder)?;
                Ok(PlannedPage { page, out: folder.join(PAGE), own_folder: true })
            }
            _ if of_runs => of_runs_compared(&sources),
            _ if of_tables => of_all_tables(&sources),
            [Source::Scheme(file)] => self.of_scheme(file, self.data, observer),
            [Source::Data(data), Source::Scheme(file)] | [Source::Scheme(file), Source::Data(data)] => {
                self.of_scheme(file, Some(data), observer)
            }
            [Source::Data(data)] => self.of_data(data, observer),
            _ => {
                let message = "these cannot stand on one page";
                let hint = "give one run, several runs, a scheme with its data, DATA, or tables of `fiedler reproduce`"
                    .to_owned();
                Err(Error::new(ErrorKind::Usage, message, hint))
            }
        }
    }

    fn of_run(&self, folder: &Path, observer: &dyn Observer) -> Result<PlannedPage> {
        let page = run::page(folder, self.around, observer)?;
        Ok(PlannedPage { page, out: folder.join(PAGE), own_folder: true })
    }

    fn of_scheme(&self, file: &Path, data: Option<&str>, observer: &dyn Observer) -> Result<PlannedPage> {
        let dataset = open_observed(data.unwrap_or(BUILT_IN), self.options, self.seed, observer)?;
        let scheme = load_scheme(file, &dataset.graphs).map_err(|error| match (&error, data) {
            (Error::File { source, .. }, None) if is_of_other_graph(source) => {
                let message = format!("{} was not computed for {BUILT_IN}, the built-in graph", file.display());
                Error::new(ErrorKind::Usage, message, "name the data it belongs to with --data".to_owned())
            }
            _ => error,
        })?;
        let page = of_scheme(&scheme, &dataset, self.around, self.seed, observer)?;
        let folder = file.parent().unwrap_or(Path::new("."));
        Ok(PlannedPage { page, out: folder.join(PAGE), own_folder: true })
    }

    fn of_data(&self, data: &str, observer: &dyn Observer) -> Result<PlannedPage> {
        let dataset = open_observed(data, self.options, self.seed, observer)?;
        let page = of_dataset(&dataset, self.around, self.seed, observer)?;
        let out = format!("{}.html", fiedler_report::slug(&dataset.name));
        Ok(PlannedPage { page, out: out.into(), own_folder: false })
    }
}

/// The page of a dataset. Where `around` is not given, only small graphs are drawn.
///
/// # Errors
/// When there is no node of that name, or a spectrum cannot be computed.
pub fn of_dataset(dataset: &Dataset, around: Option<&str>, seed: u64, observer: &dyn Observer) -> Result<Page> {
    let stage = observer.stage("page", "looking at the graph");
    let graph = graph_page(dataset, around, seed, false)?;
    drop(stage);
    let mut page = page(dataset.name.clone(), graph.lead());
    page.extend(graph.sections());
    Ok(page)
}

/// The page of a scheme, with that of the graph it belongs to.
///
/// # Errors
/// As [`of_dataset`].
pub fn of_scheme(
    scheme: &Scheme,
    dataset: &Dataset,
    around: Option<&str>,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Page> {
    let mut page = page(format!("{}: {} scheme", dataset.name, scheme.settings().name()), String::new());
    let graph = graph_page(dataset, None, seed, false)?;
    page.lead = graph.lead();
    page.extend([scheme_page(scheme, dataset, around, seed, observer)?.section()]);
    page.extend(graph.sections());
    Ok(page)
}

fn of_runs_compared(sources: &[Source]) -> Result<PlannedPage> {
    let folders: Vec<&Path> = sources.iter().filter_map(Source::run).collect();
    let names = source::short_names(&folders);
    let mut comparison = Comparison::default();
    for (folder, name) in folders.iter().zip(names) {
        let record = RunFolder::new(folder).finished()?;
        comparison.runs.push((name, run::figures(&record, folder)?));
    }
    let mut page = page("Runs compared".into(), comparison.lead());
    page.extend(comparison.sections());
    Ok(PlannedPage { page, out: "comparison.html".into(), own_folder: false })
}

fn of_all_tables(sources: &[Source]) -> Result<PlannedPage> {
    let paths: Vec<&Path> = sources.iter().filter_map(Source::tables).collect();
    let page = tables::page(&paths)?;
    let out = match paths.as_slice() {
        [folder] if folder.is_dir() => folder.join(PAGE),
        [file] => Path::new(file.file_stem().unwrap_or_default()).with_extension("html"),
        _ => "reproduction.html".into(),
    };
    let own_folder = paths.iter().any(|path| path.is_dir());
    Ok(PlannedPage { page, out, own_folder })
}

/// A page without sections yet.
pub(crate) fn page(title: String, lead: String) -> Page {
    let origin =
        format!("Made by fiedler {}. The page is whole: it asks nothing of a network.", env!("CARGO_PKG_VERSION"));
    Page { title, lead, origin, ..Page::default() }
}

/// What a page says of a graph. Where `around` is not given, only small graphs are drawn.
fn graph_page(dataset: &Dataset, around: Option<&str>, seed: u64, quick: bool) -> Result<GraphPage> {
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
    observer: &dyn Observer,
) -> Result<SchemePage> {
    let _stage = observer.stage("page", "looking at the scheme");
    let mut page = SchemePage::of(scheme, dataset, seed)?;
    page.drawings = drawings::of_scheme(scheme, dataset, around)?;
    Ok(page)
}

fn is_of_other_graph(error: &Error) -> bool {
    matches!(error, Error::Augment(fiedler_augment::Error::OtherGraph { .. }))
}
