//! npz files of the heterophilous benchmark: Roman-empire, Amazon-ratings, Minesweeper, Tolokers, Questions.
//!
//! `node_features` has one row a node, `node_labels` a class each, `edges` a row of two nodes an edge. `train_masks`, `val_masks` and `test_masks`
//! have a row for each of the ten splits, all of which are kept.

use fiedler_graph::{Dataset, Graph, Split};

use super::npz::{Array, Arrays};
use super::{Format, ReadOptions};
use crate::error::Result;
use crate::input::DataSource;

/// npz files of the heterophilous benchmark.
pub const FORMAT: Format = Format {
    name: "heterophilous",
    about: "npz of the heterophilous benchmark (node_features, node_labels, edges, masks of ten splits)",
    recognizes,
    read,
};

fn recognizes(input: &DataSource) -> bool {
    matches!(Arrays::named_by(input), Ok(Some(arrays)) if arrays.has("edges") && arrays.has("node_features"))
}

fn read(input: &DataSource, _options: &ReadOptions) -> Result<Dataset> {
    let Some(arrays) = Arrays::named_by(input)? else { return Err(input.missing("a .npz file", FORMAT.name)) };
    let features = arrays.get("node_features")?.to_features()?;
    let nodes = features.rows();
    let (graph, edges) = Graph::from_pairs(nodes, pairs(&arrays.get("edges")?, nodes)?)?;
    let mut dataset = Dataset::single(input.stem(), graph);
    dataset.report.edges = edges;
    dataset.features = Some(features);
    if let Some(array) = arrays.find("node_labels")? {
        let labels = array.to_labels()?;
        if labels.len() != nodes {
            return Err(array.malformed(format!("{} labels", labels.len()), format!("{nodes}, one a node")).into());
        }
        dataset.node_labels = Some(labels);
    }
    dataset.splits = splits(&arrays, nodes)?;
    Ok(dataset)
}

fn pairs(array: &Array, nodes: usize) -> Result<Vec<(u32, u32)>> {
    let (_, 2) = array.rows_and_columns()? else {
        return Err(array.malformed(format!("rows of {}", array.rows_and_columns()?.1), "two nodes a row").into());
    };
    let ends = array.to_u32()?;
    if let Some(at) = ends.iter().position(|node| *node as usize >= nodes) {
        let found = format!("node {} in row {}", ends[at], at / 2);
        return Err(array.malformed(found, format!("nodes below {nodes}, the rows of node_features")).into());
    }
    Ok(ends.as_chunks::<2>().0.iter().map(|&[a, b]| (a, b)).collect())
}

fn splits(arrays: &Arrays, nodes: usize) -> Result<Vec<Split>> {
    if !arrays.has("train_masks") {
        return Ok(Vec::new());
    }
    let part = |name: &str| marked(&arrays.get(name)?, nodes);
    let (train, validation, test) = (part("train_masks")?, part("val_masks")?, part("test_masks")?);
    if train.len() != validation.len() || train.len() != test.len() {
        let found = format!("{} train_masks, {} val_masks, {} test_masks", train.len(), validation.len(), test.len());
        return Err(arrays.place().malformed(found, "one of each for every split").into());
    }
    let parts = train.into_iter().zip(validation).zip(test);
    let split = |(at, ((train, validation), test))| Split {
        name: format!("split-{at}"),
        train,
        validation,
        test,
        ..Split::default()
    };
    Ok((1..).zip(parts).map(split).collect())
}

/// The nodes that each row of masks marks; a single mask is one row.
fn marked(array: &Array, nodes: usize) -> Result<Vec<Vec<u32>>> {
    let columns = array.shape().last().copied().unwrap_or(0);
    if array.shape().len() > 2 || columns != nodes {
        return Err(array.malformed(format!("rows of {columns} marks"), format!("{nodes}, one a node")).into());
    }
    let marks = array.to_u32()?;
    let row = |row: &[u32]| (0..).zip(row).filter(|(_, mark)| **mark != 0).map(|(node, _)| node).collect();
    Ok(marks.chunks_exact(nodes.max(1)).map(row).collect())
}
