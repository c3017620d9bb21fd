//! Wiki-CS: one `data.json` with features, classes, links and the masks of its twenty splits.
//!
//! Links are lists of the pages that each page points to: directed, some given twice, some to the page itself.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

use fiedler_graph::{Classes, Dataset, Dense, Features, Graph, Labels, Split};

use super::{Format, ReadOptions, json};
use crate::error::Result;
use crate::input::{DataSource, File};

const NAME: &str = "wiki-cs";

/// Wiki-CS `data.json` with its 20 splits
pub const FORMAT: Format = Format { name: NAME, about: "Wiki-CS `data.json` with its 20 splits", recognizes, read };

fn recognizes(input: &DataSource) -> bool {
    let Some(name) = file_name(input) else { return false };
    let Ok(file) = input.read(&name) else { return false };
    file.text().is_ok_and(|text| {
        text.trim_start().starts_with('{') && text.contains("\"train_masks\"") && text.contains("\"links\"")
    })
}

fn file_name(input: &DataSource) -> Option<String> {
    match input.file_name() {
        Some(name) => (name.ends_with(".json") || name.ends_with(".json.gz")).then(|| name.to_owned()),
        None => input.find(|name| name == "data.json"),
    }
}

/// The file as it stands.
#[derive(serde::Deserialize)]
struct Contents {
    features: Vec<Vec<f32>>,
    labels: Vec<i64>,
    links: Vec<Vec<u32>>,
    train_masks: Vec<Vec<Mark>>,
    val_masks: Vec<Vec<Mark>>,
    #[serde(default)]
    stopping_masks: Vec<Vec<Mark>>,
    test_mask: Vec<Mark>,
}

/// Whether a node belongs to a part of a split: true or false, or 1 or 0.
struct Mark(bool);

impl<'de> Deserialize<'de> for Mark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Mark, D::Error> {
        deserializer.deserialize_any(MarkVisitor)
    }
}

struct MarkVisitor;

impl Visitor<'_> for MarkVisitor {
    type Value = Mark;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, 1 or 0")
    }

    fn visit_bool<E: de::Error>(self, mark: bool) -> Result<Mark, E> {
        Ok(Mark(mark))
    }

    fn visit_u64<E: de::Error>(self, digit: u64) -> Result<Mark, E> {
        match digit {
            0 | 1 => Ok(Mark(digit == 1)),
            _ => Err(E::invalid_value(de::Unexpected::Unsigned(digit), &self)),
        }
    }
}

fn read(input: &DataSource, _options: &ReadOptions) -> Result<Dataset> {
    let name = file_name(input).ok_or_else(|| input.missing("data.json", NAME))?;
    let file = input.read(&name)?;
    let contents = parse(&file)?;
    let nodes = contents.features.len();
    check_length(&file, "labels", contents.labels.len(), nodes)?;
    check_length(&file, "links", contents.links.len(), nodes)?;
    let splits = splits(&file, &contents, nodes)?;
    let features = features(&file, contents.features)?;

    let (graph, report) = Graph::from_pairs(nodes, pairs(&file, contents.links)?)?;
    let mut dataset = Dataset::single("wiki-cs", graph);
    dataset.features = Some(Features::Dense(features));
    dataset.node_labels = Some(Labels::Classes(Classes::from_integers(contents.labels.into_iter().map(Some))));
    dataset.splits = splits;
    dataset.report.edges = report;
    Ok(dataset)
}

fn parse(file: &File) -> Result<Contents> {
    serde_json::from_slice(file.bytes()).map_err(|error| {
        // Keeping track of the path takes time, so it is done only to explain what went wrong.
        let mut json = serde_json::Deserializer::from_slice(file.bytes());
        let located: Result<Contents, _> = serde_path_to_error::deserialize(&mut json);
        let path = located.err().map(|located| located.path().to_string()).filter(|path| path != ".");
        let place = path.map_or_else(|| file.place().clone(), |path| file.place().member(path));
        json::fault(&place, &error, "the lists of numbers and masks of Wiki-CS").into()
    })
}

fn check_length(file: &File, key: &str, found: usize, nodes: usize) -> Result<()> {
    if found != nodes {
        let expected = format!("{nodes}, one for each row of features");
        return Err(file.place().member(key).malformed(format!("{found} entries"), expected).into());
    }
    Ok(())
}

fn features(file: &File, rows: Vec<Vec<f32>>) -> Result<Dense> {
    let columns = rows.first().map_or(0, Vec::len);
    for (node, row) in rows.iter().enumerate() {
        if row.len() != columns {
            let place = file.place().member(format!("features[{node}]"));
            return Err(place.malformed(format!("{} numbers", row.len()), format!("{columns} as in row 0")).into());
        }
    }
    Ok(Dense::new(rows.len(), columns, rows.concat())?)
}

fn pairs(file: &File, links: Vec<Vec<u32>>) -> Result<Vec<(u32, u32)>> {
    let nodes = links.len();
    let mut pairs = Vec::with_capacity(links.iter().map(Vec::len).sum());
    for (node, others) in links.into_iter().enumerate() {
        for (at, other) in others.into_iter().enumerate() {
            if other as usize >= nodes {
                let place = file.place().member(format!("links[{node}][{at}]"));
                return Err(place.malformed(format!("node {other}"), format!("a node below {nodes}")).into());
            }
            pairs.push((node as u32, other));
        }
    }
    Ok(pairs)
}

fn splits(file: &File, contents: &Contents, nodes: usize) -> Result<Vec<Split>> {
    let (train, valid, stopping) = (&contents.train_masks, &contents.val_masks, &contents.stopping_masks);
    if valid.len() != train.len() || !(stopping.is_empty() || stopping.len() == train.len()) {
        let found =
            format!("{} train_masks, {} val_masks and {} stopping_masks", train.len(), valid.len(), stopping.len());
        return Err(file.malformed(found, "one of each for every split").into());
    }
    let test = marked(file, "test_mask", &contents.test_mask, nodes)?;
    let part = |key: &str, masks: &[Vec<Mark>], split: usize| match masks.get(split) {
        Some(mask) => marked(file, &format!("{key}[{split}]"), mask, nodes),
        None => Ok(Vec::new()),
    };
    let split = |at: usize| {
        Ok(Split {
            name: format!("split-{}", at + 1),
            train: part("train_masks", train, at)?,
            validation: part("val_masks", valid, at)?,
            stopping: part("stopping_masks", stopping, at)?,
            test: test.clone(),
        })
    };
    (0..train.len()).map(split).collect()
}

fn marked(file: &File, key: &str, mask: &[Mark], nodes: usize) -> Result<Vec<u32>> {
    check_length(file, key, mask.len(), nodes)?;
    Ok((0u32..).zip(mask).filter(|(_, mark)| mark.0).map(|(node, _)| node).collect())
}
