//! Schemes in files: safetensors, with settings, report and fingerprint in the metadata.
//!
//! Probabilities of pairs are packed ([`super::pack`]) without a loss for what is drawn: a scheme that is read draws the same views.

use std::borrow::Cow;
use std::collections::HashMap;

use bytemuck::Pod;
use fiedler_graph::fingerprint::Seal;
use fiedler_graph::{Graph, GraphSet};
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pack::{Bits, PairReader, PairWriter, Separable, read_values, write_values};
use super::{
    Augmentation, DropNodes, NodeProbabilities, PairProbabilities, Rates, Report, Scheme, SchemeSettings, StaticView,
};
use crate::error::{Error, Result, check_share};
use crate::sample::EdgeFlips;
use crate::version1::upgrade_scheme;

/// The one key of the metadata: more than one would have no fixed order.
const KEY: &str = "fiedler";
/// Version of the format; those before are still read. Version 3 packs the probabilities of pairs.
const VERSION: u32 = 3;
/// Stands for the number of listed pairs where all pairs are held.
const ALL_PAIRS: u64 = u64::MAX;

/// What stands in the metadata.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: u32,
    fingerprint: String,
    settings: SchemeSettings,
    views: Vec<Kind>,
    report: Report,
}

/// What kind of augmentation a view is, with what is not worth a tensor.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Unchanged,
    /// Before version 3.
    Pairs,
    Packed(Bits),
    Nodes,
    #[serde(alias = "fixed")]
    Static,
    Uniform(Rates),
    #[serde(alias = "kept")]
    DropNodes(DropNodes),
}

impl Scheme {
    /// The bytes of a safetensors file.
    ///
    /// # Errors
    /// When there are too many probabilities for the format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut tensors = Tensors::default();
        let views = self.views.iter().enumerate().map(|(view, augmentation)| tensors.add_view(view, augmentation));
        let header = Header {
            version: VERSION,
            fingerprint: self.fingerprint.clone(),
            settings: self.settings.clone(),
            views: views.collect(),
            report: self.report.clone(),
        };
        let refuse = |problem: String| Error::NotAScheme { problem };
        let header = serde_json::to_string(&header).map_err(|error| refuse(error.to_string()))?;
        let parts = tensors.0.iter().map(|(name, tensor)| (name.as_str(), tensor.kind, tensor.bytes.as_slice()));
        let header = seal(parts.collect()).write(&header);
        safetensors::serialize(tensors.0, Some(HashMap::from([(KEY.to_owned(), header)])))
            .map_err(|error| refuse(error.to_string()))
    }

    /// Reads the bytes of a file, for the graphs that the scheme was computed for.
    ///
    /// # Errors
    /// When the bytes are no scheme, or the scheme belongs to other graphs.
    pub fn from_bytes(bytes: &[u8], set: &GraphSet) -> Result<Scheme> {
        parse(bytes, set).map_err(|error| match error {
            Refusal::Problem(problem) => Error::NotAScheme { problem },
            Refusal::Other(error) => error,
        })
    }
}

/// The checksum of all tensors, in the order of their names.
fn seal(mut parts: Vec<(&str, Dtype, &[u8])>) -> Seal {
    parts.sort_unstable_by_key(|(name, ..)| *name);
    let mut seal = Seal::new();
    for (name, kind, bytes) in parts {
        seal.part(&format!("{name} {kind:?}"), bytes);
    }
    seal
}

/// Why bytes are no scheme for these graphs.
enum Refusal {
    Problem(String),
    Other(Error),
}

impl From<String> for Refusal {
    fn from(problem: String) -> Refusal {
        Refusal::Problem(problem)
    }
}

fn parse(bytes: &[u8], set: &GraphSet) -> Result<Scheme, Refusal> {
    let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let header = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
    let header = header.ok_or_else(|| format!("its metadata has no {KEY:?}"))?;
    let tensors = file.tensors();
    let parts = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.dtype(), tensor.data()));
    let header = seal(parts.collect()).check(header)?;
    let mut header: Value = serde_json::from_str(&header).map_err(|error| format!("its metadata: {error}"))?;
    match header.get("version").and_then(Value::as_u64) {
        Some(1) => header.get_mut("settings").into_iter().for_each(upgrade_scheme),
        Some(2 | 3) => {}
        version => return Err(format!("it has version {version:?}, and only 1 to {VERSION} are known").into()),
    }
    // Before version 3 `sampled` was a mean field, whose probabilities do not do what they say.
    if header["version"] != VERSION && header["settings"]["objective"] == "sampled" {
        return Err("its objective, sampled, was not yet exact when it was computed".to_owned().into());
    }
    let header: Header = serde_json::from_value(header).map_err(|error| format!("its metadata: {error}"))?;
    if header.views.is_empty() || header.views.len() != header.report.views.len() {
        let (found, expected) = (header.views.len(), header.report.views.len());
        return Err(format!("it has {found} views and tells of {expected}").into());
    }
    let graph = set.fingerprint();
    if graph != header.fingerprint {
        return Err(Refusal::Other(Error::OtherGraph { scheme: header.fingerprint, graph }));
    }
    let mut views = Vec::with_capacity(header.views.len());
    for (view, kind) in header.views.into_iter().enumerate() {
        views.push(Stored { file: &file, view }.augmentation(kind, set)?);
    }
    Ok(Scheme { settings: header.settings, fingerprint: header.fingerprint, views, report: header.report })
}

/// Tensors to be written, with their names.
#[derive(Default)]
struct Tensors(Vec<(String, Tensor)>);

struct Tensor {
    kind: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl safetensors::View for Tensor {
    fn dtype(&self) -> Dtype {
        self.kind
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

impl Tensors {
    fn add<T: Element>(&mut self, view: usize, name: &str, values: &[T]) {
        let bytes = bytemuck::cast_slice(values).to_vec();
        self.0.push((format!("view{view}.{name}"), Tensor { kind: T::KIND, shape: vec![values.len()], bytes }));
    }

    fn add_view(&mut self, view: usize, augmentation: &Augmentation) -> Kind {
        match augmentation {
            Augmentation::Unchanged => Kind::Unchanged,
            Augmentation::Pairs(pairs) => Kind::Packed(self.add_pairs(view, pairs)),
            Augmentation::Uniform(rates) => Kind::Uniform(*rates),
            Augmentation::DropNodes(kept) => Kind::DropNodes(*kept),
            Augmentation::Nodes(nodes) => {
                self.add(view, "probability", nodes.of_nodes());
                Kind::Nodes
            }
            Augmentation::Static(fixed) => {
                let arena = fixed.graphs().block_diagonal();
                let (low, high): (Vec<u32>, Vec<u32>) = arena.edge_pairs().unzip();
                self.add(view, "low", &low);
                self.add(view, "high", &high);
                self.add(view, "weight", &arena.edge_weights().unwrap_or_else(|| vec![1.0; low.len()]));
                self.add(view, "own-weight", fixed.self_loop_weights());
                Kind::Static
            }
        }
    }

    fn add_pairs(&mut self, view: usize, pairs: &PairProbabilities) -> Bits {
        let (mut counts, mut places, mut values) = (Vec::new(), PairWriter::default(), Cow::Borrowed(&[][..]));
        let mut separable = Separable::default();
        for flips in pairs.graphs() {
            match flips.triangle() {
                Some(triangle) => {
                    counts.push(ALL_PAIRS);
                    if pairs.graphs().len() == 1 {
                        // The probabilities of a large graph are not copied.
                        (values, separable) = (Cow::Borrowed(triangle), Separable::fit(flips.num_nodes(), triangle));
                    } else {
                        values.to_mut().extend_from_slice(triangle);
                    }
                }
                None => {
                    let listed = flips.pairs();
                    counts.push(listed.len() as u64);
                    places.add(flips.num_nodes(), listed.iter().map(|&(pair, _)| pair));
                    values.to_mut().extend(listed.iter().map(|&(_, probability)| probability));
                }
            }
        }
        let bits = Bits::for_all(&values);
        self.add(view, "pairs", &counts);
        self.add(view, "places", &places.finish());
        self.add(view, "separable", separable.of_nodes());
        self.add(view, "values", &write_values(&values, bits, &separable));
        bits
    }
}

/// The tensors of one view.
struct Stored<'f> {
    file: &'f SafeTensors<'f>,
    view: usize,
}

impl Stored<'_> {
    fn augmentation(&self, kind: Kind, set: &GraphSet) -> Result<Augmentation, Refusal> {
        Ok(match kind {
            Kind::Unchanged => Augmentation::Unchanged,
            Kind::Uniform(rates) => {
                rates.check("stored").map_err(Refusal::Other)?;
                Augmentation::Uniform(rates)
            }
            Kind::DropNodes(kept) => {
                check_share("dropped", kept.dropped).map_err(Refusal::Other)?;
                Augmentation::DropNodes(kept)
            }
            Kind::Pairs => Augmentation::Pairs(self.pairs(set)?),
            Kind::Packed(bits) => Augmentation::Pairs(self.packed(set, bits)?),
            Kind::Nodes => {
                let probabilities = self.probabilities()?;
                self.expect("probability", probabilities.len(), set.num_nodes())?;
                Augmentation::Nodes(NodeProbabilities::new(probabilities))
            }
            Kind::Static => Augmentation::Static(self.fixed(set).map_err(|refusal| match refusal {
                Refusal::Other(error) => Refusal::Problem(error.to_string()),
                problem => problem,
            })?),
        })
    }

    fn packed(&self, set: &GraphSet, bits: Bits) -> Result<PairProbabilities, Refusal> {
        let counts: Vec<u64> = self.get("pairs")?;
        self.expect("pairs", counts.len(), set.len())?;
        let damaged = |what: &str| format!("the {what} of view {} are damaged", self.view);
        let nodes_of = |graph: usize| set.node_range(graph).len();
        let count_of = |graph: usize, count: u64| match count {
            ALL_PAIRS => nodes_of(graph).checked_mul(nodes_of(graph).saturating_sub(1)).map(|twice| twice / 2),
            count => usize::try_from(count).ok(),
        };
        let each: Option<Vec<usize>> = counts.iter().enumerate().map(|(at, &count)| count_of(at, count)).collect();
        let each = each.ok_or_else(|| damaged("numbers of pairs"))?;
        let total = each.iter().try_fold(0usize, |sum, &count| sum.checked_add(count));
        let of_nodes: Vec<f32> = self.get("separable")?;
        let separable = match set.len() {
            1 => Separable::from_nodes(of_nodes, nodes_of(0)),
            _ => of_nodes.is_empty().then(Separable::default),
        };
        let separable = separable.ok_or_else(|| damaged("numbers of nodes"))?;
        let values: Vec<u8> = self.get("values")?;
        let values = total.and_then(|total| read_values(&values, total, bits, &separable));
        let mut values = values.ok_or_else(|| damaged("probabilities"))?;
        let places: Vec<u8> = self.get("places")?;
        let mut places = PairReader::new(&places);
        let mut graphs = Vec::with_capacity(set.len());
        let mut first = 0;
        for (graph, (&count, &wanted)) in counts.iter().zip(&each).enumerate() {
            let own = first..first + wanted;
            first = own.end;
            graphs.push(if count == ALL_PAIRS {
                let own = if set.len() == 1 { std::mem::take(&mut values) } else { values[own].to_vec() };
                EdgeFlips::of_triangle(nodes_of(graph), own)
            } else {
                let pairs = places.read(nodes_of(graph), wanted).ok_or_else(|| damaged("pairs"))?;
                EdgeFlips::of_pairs(nodes_of(graph), pairs.into_iter().zip(values[own].iter().copied()))
            });
        }
        if !places.is_at_end() {
            return Err(damaged("pairs").into());
        }
        Ok(PairProbabilities::new(graphs))
    }

    fn pairs(&self, set: &GraphSet) -> Result<PairProbabilities, Refusal> {
        let counts: Vec<u64> = self.get("pairs")?;
        self.expect("pairs", counts.len(), set.len())?;
        let probabilities = self.probabilities()?;
        let (low, high): (Vec<u32>, Vec<u32>) = (self.get("low")?, self.get("high")?);
        self.expect("high", high.len(), low.len())?;
        let (mut listed, mut rest) = (low.into_iter().zip(high), probabilities.as_slice());
        let mut graphs = Vec::with_capacity(set.len());
        for (graph, &count) in counts.iter().enumerate() {
            let nodes = set.node_range(graph).len();
            let all = nodes * nodes.saturating_sub(1) / 2;
            let wanted = if count == ALL_PAIRS { all } else { usize::try_from(count).unwrap_or(usize::MAX) };
            let (own, after) = rest
                .split_at_checked(wanted)
                .ok_or_else(|| format!("view {} has too few probabilities for graph {graph}", self.view))?;
            rest = after;
            graphs.push(if count == ALL_PAIRS {
                EdgeFlips::of_triangle(nodes, own.to_vec())
            } else {
                let pairs: Vec<(u32, u32)> = listed.by_ref().take(own.len()).collect();
                self.expect("low", pairs.len(), own.len())?;
                let valid = pairs.iter().all(|&(low, high)| low < high && (high as usize) < nodes);
                if !(valid && pairs.is_sorted_by(|before, after| before < after)) {
                    return Err(format!("the pairs of view {}, graph {graph}, are not ascending", self.view).into());
                }
                EdgeFlips::of_pairs(nodes, pairs.into_iter().zip(own.iter().copied()))
            });
        }
        self.expect("probability", probabilities.len(), probabilities.len() - rest.len())?;
        Ok(PairProbabilities::new(graphs))
    }

    fn fixed(&self, set: &GraphSet) -> Result<StaticView, Refusal> {
        let (low, high): (Vec<u32>, Vec<u32>) = (self.get("low")?, self.get("high")?);
        self.expect("high", high.len(), low.len())?;
        let pairs = low.into_iter().zip(high).collect();
        let other = |error: fiedler_graph::Error| Refusal::Other(error.into());
        let (arena, _) = Graph::from_weighted_pairs(set.num_nodes(), pairs, self.get("weight")?).map_err(other)?;
        let sizes = (0..set.len()).map(|graph| set.node_range(graph).len() as u32).collect();
        let graphs = GraphSet::from_block_diagonal(arena, sizes).map_err(other)?;
        let self_loops: Vec<f32> = self.get("own-weight")?;
        if let Some(bad) = self_loops.iter().find(|weight| !weight.is_finite()) {
            return Err(format!("view {} has a self-loop of weight {bad}", self.view).into());
        }
        StaticView::new(graphs, self_loops).map_err(Refusal::Other)
    }

    fn probabilities(&self) -> Result<Vec<f32>, Refusal> {
        let probabilities: Vec<f32> = self.get("probability")?;
        match probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            Some(bad) => Err(format!("view {} has the probability {bad}", self.view).into()),
            None => Ok(probabilities),
        }
    }

    fn get<T: Element>(&self, name: &str) -> Result<Vec<T>, Refusal> {
        let name = format!("view{}.{name}", self.view);
        let tensor = self.file.tensor(&name).map_err(|error| error.to_string())?;
        if tensor.dtype() != T::KIND {
            return Err(format!("{name} holds {:?}; expected {:?}", tensor.dtype(), T::KIND).into());
        }
        // The file does not promise alignment.
        Ok(tensor.data().chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
    }

    fn expect(&self, name: &str, found: usize, expected: usize) -> Result<(), Refusal> {
        if found == expected {
            return Ok(());
        }
        Err(format!("view{}.{name} has {found} entries; expected {expected}", self.view).into())
    }
}

/// A number that tensors are made of here.
trait Element: Pod {
    const KIND: Dtype;
}

impl Element for f32 {
    const KIND: Dtype = Dtype::F32;
}

impl Element for u8 {
    const KIND: Dtype = Dtype::U8;
}

impl Element for u32 {
    const KIND: Dtype = Dtype::U32;
}

impl Element for u64 {
    const KIND: Dtype = Dtype::U64;
}
