//! A step that is one of several, chosen at random.

use std::sync::Arc;

use fiedler_graph::{Batch, Graph, GraphSet};
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fit::place;
use super::{FitContext, FittedPipeline, Pipeline, ViewStep};
use crate::error::{Error, Result};
use crate::mask::{Fill, GraphColumns, Mask};
use crate::scheme::{View, ViewKey, without_edges_of};

/// One of several pipelines.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OneOf {
    /// What there is to choose from.
    pub choices: Vec<Pipeline>,
    /// How often each is chosen, in proportion; without it all alike.
    pub weights: Option<Vec<f64>>,
    /// Whether each graph of a batch has a choice of its own; otherwise all graphs of an epoch have the same.
    pub each_graph: bool,
    /// Whether views whose choices have the same place in their pipelines choose the same number: pairs of choices are drawn together.
    #[serde(skip_serializing_if = "is_false")]
    pub joint: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Choices that are ready to be drawn from.
#[derive(Debug)]
pub(super) struct FittedChoice {
    choices: Vec<FittedPipeline>,
    /// Sums of the weights up to each choice, the last of them one.
    cumulative: Vec<f64>,
    each_graph: bool,
    joint: bool,
    /// The kinds of the steps before it, itself the last.
    before: Vec<&'static str>,
}

/// The kind of a step that chooses.
const KIND: &str = "choice";

impl OneOf {
    pub(super) fn check(&self, set: &GraphSet) -> Result<()> {
        if !(1..=256).contains(&self.choices.len()) {
            return Err(Error::setting("number of choices", self.choices.len(), "1 to 256"));
        }
        if let Some(weights) = &self.weights {
            let sound = |weight: &f64| weight.is_finite() && *weight >= 0.0;
            if weights.len() != self.choices.len() || !weights.iter().all(sound) || !sound_total(weights) {
                let expected = format!("{} numbers that are not negative, not all zero", self.choices.len());
                return Err(Error::setting("weights", format!("{weights:?}"), expected));
            }
        }
        if self.choices.iter().any(Pipeline::diffuses) {
            return Err(Error::setting("choices", "a diffusion", "steps whose views consist of edges"));
        }
        self.choices.iter().try_for_each(|choice| choice.check(set))
    }

    pub(super) fn fit(&self, mut before: Vec<&'static str>, context: &mut FitContext<'_>) -> Result<FittedChoice> {
        before.push(KIND);
        let mut choices = Vec::with_capacity(self.choices.len());
        for choice in &self.choices {
            choices.push(choice.fit_after(before.clone(), context)?);
        }
        let weights = self.weights.clone().unwrap_or_else(|| vec![1.0; choices.len()]);
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let mut add = |weight: &f64| {
            sum += weight / total;
            sum
        };
        let cumulative = weights.iter().map(&mut add).collect();
        Ok(FittedChoice { choices, cumulative, each_graph: self.each_graph, joint: self.joint, before })
    }
}

fn sound_total(weights: &[f64]) -> bool {
    let total: f64 = weights.iter().sum();
    total.is_finite() && total > 0.0
}

impl FittedChoice {
    /// The kinds of all steps of all choices.
    pub(super) fn kinds(&self) -> Vec<&'static str> {
        self.choices.iter().flat_map(|choice| choice.kinds_after(self.before.len())).copied().collect()
    }

    fn choose(&self, key: ViewKey, index: u64) -> u8 {
        let key = if self.joint { ViewKey { view: 0, ..key } } else { key };
        let drawn: f64 = key.stream("choice", index).random();
        // Rounding may leave the last sum below one.
        self.cumulative.partition_point(|&sum| sum <= drawn).min(self.choices.len() - 1) as u8
    }
}

impl ViewStep for FittedChoice {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn apply(&self, batch: &Batch, before: Option<View>, key: ViewKey) -> Result<View> {
        let chosen: Vec<u8> = match self.each_graph {
            true => batch.graphs.iter().map(|&graph| self.choose(key, key.index(graph))).collect(),
            false => vec![self.choose(key, key.epoch.into()); batch.graphs.len()],
        };
        let earlier = before.as_ref().map(|view| view.choices.clone()).unwrap_or_default();
        let batch = match &before {
            Some(view) => Batch { graph: Arc::new(view.graph.clone()), ..batch.clone() },
            None => batch.clone(),
        };
        // The steps of the choices know their places in the whole pipeline.
        let own = place(&self.before[..self.before.len() - 1], KIND);
        let within = ViewKey { place: key.place - own, ..key };
        let mut parts = Vec::new();
        for (choice, fitted) in self.choices.iter().enumerate() {
            let blocks: Vec<usize> = (0..chosen.len()).filter(|&block| usize::from(chosen[block]) == choice).collect();
            if !blocks.is_empty() {
                // The views of a graph are the same in whatever batch.
                let part = if blocks.len() == chosen.len() { batch.clone() } else { select(&batch, &blocks)? };
                parts.push(Part { view: fitted.draw(&part, within)?, blocks, batch: part });
            }
        }
        let mut view = merge(&batch, parts)?;
        if let Some(before) = before {
            view = after(before, view)?;
        }
        view.choices = earlier;
        view.choices.push(chosen);
        Ok(view)
    }
}

/// Some graphs of a batch as one of its own.
fn select(batch: &Batch, blocks: &[usize]) -> Result<Batch> {
    let sizes = (0..batch.graphs.len()).map(|block| batch.node_range(block).len() as u32).collect();
    let part = GraphSet::from_block_diagonal(batch.graph.clone(), sizes)?.batch(blocks);
    Ok(Batch {
        node_rows: part.node_rows.iter().map(|&node| batch.node_rows[node as usize]).collect(),
        graphs: blocks.iter().map(|&block| batch.graphs[block]).collect(),
        is_block: batch.is_block,
        ..part
    })
}

/// A view of the graphs that have the same choice.
struct Part {
    /// Their places in the whole batch.
    blocks: Vec<usize>,
    batch: Batch,
    view: View,
}

/// One view in which every graph is as in the view that was chosen for it.
fn merge(batch: &Batch, mut parts: Vec<Part>) -> Result<View> {
    if let (1, Some(only)) = (parts.len(), parts.pop_if(|part| part.blocks.len() == batch.graphs.len())) {
        return Ok(only.view);
    }
    let mut places: Vec<(usize, usize)> = vec![(0, 0); batch.graphs.len()];
    for (at, part) in parts.iter().enumerate() {
        part.blocks.iter().enumerate().for_each(|(within, &block)| places[block] = (at, within));
    }
    let nodes = batch.node_rows.len();
    let (mut pairs, mut weights) = (Vec::new(), Vec::new());
    let (mut dropped, mut hidden) = (vec![false; nodes], vec![false; nodes]);
    let mut rows: Vec<u32> = (0..nodes as u32).collect();
    let (mut columns, mut fills) = (Vec::new(), Vec::new());
    for (block, &(at, within)) in places.iter().enumerate() {
        let Part { batch: part, view, .. } = &parts[at];
        let (first, here) = (part.node_range(within).start, batch.node_range(block).start);
        let to_batch = |node: u32| node - first + here;
        for (node, in_part) in batch.node_range(block).zip(part.node_range(within)) {
            pairs.extend(view.graph.higher(in_part).iter().map(|&other| (node, to_batch(other))));
            if let Some(of_node) = view.graph.neighbor_weights(in_part) {
                weights.extend_from_slice(&of_node[of_node.len() - view.graph.higher(in_part).len()..]);
            }
            let (at, in_part) = (node as usize, in_part as usize);
            dropped[at] = view.dropped.as_ref().is_some_and(|dropped| dropped[in_part]);
            hidden[at] = view.mask.nodes.as_ref().is_some_and(|nodes| nodes[in_part]);
            rows[at] = view.feature_rows.as_ref().map_or(node, |rows| to_batch(rows[in_part]));
            fills.push(view.mask.fills.as_ref().map_or(Fill::Zero, |fills| fills[in_part].moved(to_batch)));
        }
        columns.push(match (&view.mask.columns, &view.mask.graph_columns) {
            (Some(shared), Some(each)) => {
                shared.iter().zip(&each.hidden[within]).map(|(one, other)| *one || *other).collect()
            }
            (Some(shared), None) => shared.clone(),
            (None, Some(each)) => each.hidden[within].clone(),
            (None, None) => Vec::new(),
        });
    }
    let (graph, _) = match weights.len() == pairs.len() && !pairs.is_empty() {
        true => Graph::from_weighted_pairs(nodes, pairs, weights)?,
        false => Graph::from_pairs(nodes, pairs)?,
    };
    let width = columns.iter().map(Vec::len).max().unwrap_or(0);
    columns.iter_mut().for_each(|hidden| hidden.resize(width, false));
    let some = |marks: Vec<bool>| marks.contains(&true).then_some(marks);
    Ok(View {
        dropped: some(dropped),
        mask: Mask {
            columns: None,
            graph_columns: (width > 0).then(|| GraphColumns::new(batch, columns)),
            nodes: some(hidden),
            fills: parts.iter().any(|part| part.view.mask.fills.is_some()).then_some(fills),
        },
        feature_rows: parts.iter().any(|part| part.view.feature_rows.is_some()).then_some(rows),
        ..View::of(graph)
    })
}

/// A view that was made from another, with what the other had done beside changing the graph.
fn after(before: View, mut view: View) -> Result<View> {
    if let Some(dropped) = &before.dropped {
        // A node that is gone must not get edges back.
        view.graph = without_edges_of(view.graph, dropped)?;
    }
    let either = |one: Option<Vec<bool>>, other: Option<Vec<bool>>| match (one, other) {
        (Some(one), Some(other)) => Some(one.into_iter().zip(other).map(|(one, other)| one || other).collect()),
        (one, other) => one.or(other),
    };
    let rows = match (before.feature_rows, view.feature_rows) {
        (Some(first), Some(second)) => Some(second.iter().map(|&row| first[row as usize]).collect()),
        (first, second) => first.or(second),
    };
    Ok(View {
        dropped: either(before.dropped, view.dropped),
        mask: Mask {
            columns: either(before.mask.columns, view.mask.columns),
            graph_columns: GraphColumns::either(before.mask.graph_columns, view.mask.graph_columns),
            nodes: either(before.mask.nodes, view.mask.nodes),
            fills: Fill::later(before.mask.fills, view.mask.fills),
        },
        feature_rows: rows,
        ..View { dropped: None, mask: Mask::default(), feature_rows: None, ..view }
    })
}
