//! What is known of a dataset, read from `catalogue.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::counts::Counts;
use crate::error::{Error, Place, Result};

/// A name nearer than this to a known one is taken for a slip of the fingers.
const SIMILAR: f64 = 0.6;

/// A dataset of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name its community uses, in lower case with hyphens.
    pub name: String,
    /// Other names it goes by.
    pub aliases: Vec<String>,
    /// What it is, in one line.
    pub title: String,
    /// One graph whose nodes are labelled, or many labelled graphs.
    pub kind: Kind,
    /// Whether it goes beyond the datasets of the paper.
    pub extra: bool,
    /// The format it is published in, a name of [`FORMATS`](crate::read::FORMATS).
    pub format: Option<String>,
    /// Why it cannot be read, where there is no format.
    pub unreadable: Option<String>,
    /// How much it holds.
    pub counts: Counts,
    /// Its licence, where one is stated.
    pub licence: Option<String>,
    /// The page that describes it.
    pub homepage: String,
    /// What to know before downloading it.
    pub note: Option<String>,
    /// The files to download.
    pub files: Vec<Published>,
    /// Where a person gets the files, when they cannot be downloaded directly.
    pub by_hand: Option<String>,
    /// The only folder wanted of a published zip.
    pub(super) within: Option<String>,
    /// The publisher's own spellings of the name.
    pub(super) keys: Vec<String>,
    /// Files that make a folder the dataset, with `{key}` open.
    pub(super) holds: Vec<String>,
    /// Where it may lie below a data folder, with `{name}` and `{key}` open.
    pub(super) places: Vec<Pattern>,
}

/// What a dataset is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One graph; its nodes are to be told apart.
    Nodes,
    /// Many graphs, which are to be told apart.
    Graphs,
}

/// A file as it is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its address.
    pub url: String,
    /// Its name, the last part of the address.
    pub file: String,
    /// Its size in bytes, where known for certain.
    pub size: Option<u64>,
    /// Its SHA-256 in hexadecimal, where known for certain.
    pub sha256: Option<String>,
}

/// A place below a data folder, and the format of what lies there when it is not the published one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "PatternSource")]
pub(super) struct Pattern {
    pub path: String,
    pub format: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PatternSource {
    Path(String),
    WithFormat { path: String, format: String },
}

impl From<PatternSource> for Pattern {
    fn from(source: PatternSource) -> Pattern {
        match source {
            PatternSource::Path(path) => Pattern { path, format: None },
            PatternSource::WithFormat { path, format } => Pattern { path, format: Some(format) },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    collection: Vec<Collection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Collection {
    kind: Kind,
    format: Option<String>,
    unreadable: Option<String>,
    licence: Option<String>,
    homepage: String,
    note: Option<String>,
    #[serde(default)]
    files: Vec<String>,
    by_hand: Option<String>,
    within: Option<String>,
    #[serde(default)]
    holds: Vec<String>,
    #[serde(default)]
    places: Vec<Pattern>,
    dataset: Vec<Described>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
    title: String,
    keys: Vec<String>,
    #[serde(default)]
    counts: Counts,
    #[serde(default)]
    extra: bool,
    /// Instead of the collection's.
    files: Option<Vec<String>>,
    /// Besides the collection's.
    #[serde(default)]
    places: Vec<Pattern>,
    #[serde(default)]
    checked: BTreeMap<String, Checked>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checked {
    size: u64,
    sha256: String,
}

/// Every dataset of the catalogue.
pub fn entries() -> &'static [Entry] {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| parse(include_str!("catalogue.toml")).expect("the tests read the embedded catalogue"))
}

/// The dataset of this name or alias. Case, hyphens and underscores do not matter.
///
/// # Errors
/// When there is none; names the one that is spelled most alike.
pub fn find(name: &str) -> Result<&'static Entry> {
    let wanted = plain(name);
    if let Some(entry) = entries().iter().find(|entry| entry.names().any(|known| plain(known) == wanted)) {
        return Ok(entry);
    }
    let likeness = |entry: &Entry| {
        let likenesses = entry.names().map(|known| strsim::normalized_damerau_levenshtein(&plain(known), &wanted));
        likenesses.fold(0.0, f64::max)
    };
    let nearest = entries().iter().map(|entry| (likeness(entry), entry)).max_by(|a, b| a.0.total_cmp(&b.0));
    let nearest = nearest.filter(|(likeness, _)| *likeness >= SIMILAR).map(|(_, entry)| entry.name.clone());
    Err(Error::UnknownDataset { name: name.into(), nearest })
}

/// Reads a catalogue of your own, written like the one that is built in.
///
/// # Errors
/// When the text is not such a catalogue.
pub fn parse(text: &str) -> Result<Vec<Entry>> {
    let source: Source = toml::from_str(text).map_err(|error| malformed(error.to_string(), "a catalogue in TOML"))?;
    let mut entries = Vec::new();
    for collection in &source.collection {
        for described in &collection.dataset {
            entries.push(entry(collection, described)?);
        }
    }
    Ok(entries)
}

impl Entry {
    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(String::as_str))
    }
}

impl Published {
    /// Whether it is an archive that has to be unpacked.
    pub(super) fn is_zip(&self) -> bool {
        self.file.ends_with(".zip")
    }
}

fn entry(collection: &Collection, described: &Described) -> Result<Entry> {
    let Some(key) = described.keys.first() else {
        return Err(malformed(format!("no keys of {}", described.name), "the publisher's spelling of it"));
    };
    if collection.format.is_some() == collection.unreadable.is_some() {
        return Err(malformed(format!("the collection of {}", described.name), "either `format` or `unreadable`"));
    }
    let urls = described.files.as_ref().unwrap_or(&collection.files);
    let files = urls.iter().map(|url| published(&url.replace("{key}", key), &described.checked));
    let files = files.collect::<Result<Vec<_>>>()?;
    if let Some(stray) = described.checked.keys().find(|name| files.iter().all(|file| file.file != **name)) {
        return Err(malformed(format!("{stray} among the checked files"), "a file that is published"));
    }
    Ok(Entry {
        name: described.name.clone(),
        aliases: described.aliases.clone(),
        title: described.title.clone(),
        kind: collection.kind,
        extra: described.extra,
        format: collection.format.clone(),
        unreadable: collection.unreadable.clone(),
        counts: described.counts.clone(),
        licence: collection.licence.clone(),
        homepage: collection.homepage.clone(),
        note: collection.note.clone(),
        files,
        by_hand: collection.by_hand.clone(),
        within: collection.within.clone(),
        keys: described.keys.clone(),
        holds: collection.holds.clone(),
        places: collection.places.iter().chain(&described.places).cloned().collect(),
    })
}

fn published(url: &str, checked: &BTreeMap<String, Checked>) -> Result<Published> {
    let file = url.rsplit('/').next().unwrap_or_default();
    let plain_name = !file.is_empty() && !file.starts_with('.') && !file.contains(['\\', ':', '?', '#']);
    if !plain_name || !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(malformed(format!("the address {url}"), "an http address that ends in a file name"));
    }
    let checked = checked.get(file);
    if let Some(sum) = checked.map(|checked| &checked.sha256)
        && !(sum.len() == 64 && sum.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
    {
        return Err(malformed(format!("the SHA-256 {sum:?} of {file}"), "64 hexadecimal digits in lower case"));
    }
    Ok(Published {
        url: url.into(),
        file: file.into(),
        size: checked.map(|checked| checked.size),
        sha256: checked.map(|checked| checked.sha256.clone()),
    })
}

fn malformed(found: String, expected: &str) -> Error {
    Place::file("catalogue.toml").malformed(found, expected).into()
}

/// A name without what people vary: case, hyphens, underscores and spaces.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '-' | '_' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}
