//! Feature sources: what the features of nodes are put together from.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use fiedler_graph::{Dataset, Dense, Features, GraphSet, Observer, Sparse};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::eigenvectors::{EigenvectorSettings, eigenvectors_watched};
use crate::error::{Error, Result};
use crate::standardize::{binary_columns, columns_of, for_each_entry};
use crate::structural::{STRUCTURAL_COLUMNS, standardization, standardize, structural_features};

/// Where features come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeatureSource {
    /// `given`: those of the dataset.
    Given,
    /// `labels`: those columns of the dataset's features that are 0 or 1 for every node, as one-hot labels are.
    Labels,
    /// `attributes`: the other columns of the dataset's features.
    Attributes,
    /// `constant`: 1 for every node, so that only the graph counts.
    Constant,
    /// `degrees`: one-hot degrees, as many columns as the setting `features.degrees` says and one more.
    Degrees,
    /// `structural`: [`structural_features`], columns standardized over the nodes of each graph, rows of length one.
    Structural,
    /// `spectral:K`: [`eigenvectors`](fn@crate::eigenvectors), K of them.
    Spectral(usize),
}

/// Feature sources, side by side in their order: `given+structural+spectral:64`. Entries of the dataset's own features are scaled to about
/// one then, and rows of structural and spectral ones to length one, so that the more entries a node has, the less the others count. None,
/// written `auto`, are those of the dataset, or degrees where it has none.
///
/// ```
/// use fiedler_learn::{FeatureSource, FeatureSources};
/// let sources: FeatureSources = "given+spectral:8".parse()?;
/// assert_eq!(sources.list(), [FeatureSource::Given, FeatureSource::Spectral(8)]);
/// assert_eq!(sources.to_string(), "given+spectral:8");
/// assert_eq!("auto".parse::<FeatureSources>()?, FeatureSources::default());
/// # Ok::<(), fiedler_learn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, JsonSchema)]
#[schemars(with = "String")]
pub struct FeatureSources(Vec<FeatureSource>);

impl FeatureSources {
    /// These sources, in this order.
    pub fn new(sources: Vec<FeatureSource>) -> FeatureSources {
        FeatureSources(sources)
    }

    /// The sources; none where the dataset decides.
    pub fn list(&self) -> &[FeatureSource] {
        &self.0
    }

    /// Whether the dataset decides.
    pub fn is_auto(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn check(&self) -> Result<()> {
        for source in &self.0 {
            if let FeatureSource::Spectral(count) = source
                && !(1..=4096).contains(count)
            {
                return Err(Error::setting("features.sources", source, "spectral:1 to spectral:4096"));
            }
        }
        Ok(())
    }

    /// The features of a dataset; `given` are its own, prepared.
    pub(crate) fn compose(
        &self,
        dataset: &Dataset,
        given: Option<&Features>,
        degrees: usize,
        observer: &dyn Observer,
    ) -> Result<Features> {
        let parts = self.0.iter().map(|source| -> Result<Cow<'_, Features>> {
            Ok(match *source {
                FeatureSource::Given => Cow::Borrowed(self.given(given, *source)?),
                FeatureSource::Labels | FeatureSource::Attributes => {
                    let given = self.given(given, *source)?;
                    let is_binary = binary_columns(given);
                    let wanted = *source == FeatureSource::Labels;
                    let columns: Vec<u32> =
                        (0..is_binary.len() as u32).filter(|&column| is_binary[column as usize] == wanted).collect();
                    if columns.is_empty() {
                        let expected = format!("no `{source}`: no column of the data's features is of that kind");
                        return Err(Error::setting("features.sources", self, expected));
                    }
                    match given {
                        Features::Categorical(_) => Cow::Borrowed(given),
                        numbers => Cow::Owned(numbers.select_columns(&columns)?),
                    }
                }
                FeatureSource::Constant => {
                    let nodes = dataset.graphs.num_nodes();
                    Cow::Owned(Features::Dense(Dense::new(nodes, 1, vec![1.0; nodes])?))
                }
                FeatureSource::Degrees => Cow::Owned(Features::degrees(dataset.graphs.block_diagonal(), degrees)),
                FeatureSource::Structural => Cow::Owned(by_graph(&dataset.graphs, STRUCTURAL_COLUMNS, |graph| {
                    let features = structural_features(graph)?;
                    let mut values = features.values().to_vec();
                    let (means, scales) = standardization(&values, STRUCTURAL_COLUMNS);
                    standardize(&mut values, &means, &scales);
                    Ok(values)
                })?),
                FeatureSource::Spectral(count) => Cow::Owned(by_graph(&dataset.graphs, count, |graph| {
                    let settings = EigenvectorSettings { eigenvectors: count, ..EigenvectorSettings::default() };
                    Ok(eigenvectors_watched(graph, &settings, observer)?.values().to_vec())
                })?),
            })
        });
        let parts: Vec<Cow<'_, Features>> = parts.collect::<Result<_>>()?;
        side_by_side(&parts)
    }

    fn given<'f>(&self, given: Option<&'f Features>, source: FeatureSource) -> Result<&'f Features> {
        let expected = format!("no `{source}`: the data have no features of nodes");
        given.ok_or_else(|| Error::setting("features.sources", self, expected))
    }
}

/// Dense features that are computed of each graph by itself.
fn by_graph(
    graphs: &GraphSet,
    columns: usize,
    make: impl Fn(&fiedler_graph::Graph) -> Result<Vec<f32>> + Sync,
) -> Result<Features> {
    let values = if graphs.len() == 1 {
        make(graphs.block_diagonal())?
    } else {
        let parts = (0..graphs.len()).into_par_iter().map(|graph| make(&graphs.graph(graph)));
        parts.collect::<Result<Vec<Vec<f32>>>>()?.concat()
    };
    Ok(Features::Dense(Dense::new(graphs.num_nodes(), columns, values)?))
}

/// Tables of features beside each other: sparse where one of them is, else dense.
fn side_by_side(parts: &[Cow<'_, Features>]) -> Result<Features> {
    if let [part] = parts {
        return Ok(part.clone().into_owned());
    }
    let rows = parts.first().map_or(0, |part| part.rows());
    let columns: usize = parts.iter().map(|part| columns_of(part)).sum();
    if parts.iter().all(|part| matches!(**part, Features::Dense(_))) {
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            parts.iter().for_each(|part| for_each_entry(part, row, |_, value| values.push(value)));
        }
        return Ok(Features::Dense(Dense::new(rows, columns, values)?));
    }
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..rows {
        let mut first = 0;
        for part in parts {
            for_each_entry(part, row, |column, value| {
                indices.push(first + column as u32);
                values.push(value);
            });
            first += columns_of(part) as u32;
        }
        indptr.push(indices.len());
    }
    Ok(Features::Sparse(Sparse::new(columns, indptr, indices, values)?))
}

impl fmt::Display for FeatureSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FeatureSource::Given => f.write_str("given"),
            FeatureSource::Labels => f.write_str("labels"),
            FeatureSource::Attributes => f.write_str("attributes"),
            FeatureSource::Constant => f.write_str("constant"),
            FeatureSource::Degrees => f.write_str("degrees"),
            FeatureSource::Structural => f.write_str("structural"),
            FeatureSource::Spectral(count) => write!(f, "spectral:{count}"),
        }
    }
}

impl FromStr for FeatureSource {
    type Err = Error;

    fn from_str(name: &str) -> Result<FeatureSource> {
        match name {
            "given" => Ok(FeatureSource::Given),
            "labels" => Ok(FeatureSource::Labels),
            "attributes" => Ok(FeatureSource::Attributes),
            "constant" => Ok(FeatureSource::Constant),
            "degrees" => Ok(FeatureSource::Degrees),
            "structural" => Ok(FeatureSource::Structural),
            "spectral" => Ok(FeatureSource::Spectral(EigenvectorSettings::default().eigenvectors)),
            _ => {
                let count = name.strip_prefix("spectral:").and_then(|count| count.parse().ok());
                count.map(FeatureSource::Spectral).ok_or_else(|| {
                    let expected =
                        "auto, or given, labels, attributes, constant, degrees, structural and spectral:K joined by +";
                    Error::setting("feature source", format!("{name:?}"), expected)
                })
            }
        }
    }
}

impl fmt::Display for FeatureSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_auto() {
            return f.write_str("auto");
        }
        let names: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&names.join("+"))
    }
}

impl FromStr for FeatureSources {
    type Err = Error;

    fn from_str(text: &str) -> Result<FeatureSources> {
        if text == "auto" {
            return Ok(FeatureSources::default());
        }
        let sources: Vec<FeatureSource> = text.split('+').map(|name| name.trim().parse()).collect::<Result<_>>()?;
        let sources = FeatureSources(sources);
        let twice = (1..sources.0.len()).find(|&at| sources.0[..at].contains(&sources.0[at]));
        if let Some(at) = twice {
            return Err(Error::setting("features.sources", text, format!("{} once", sources.0[at])));
        }
        sources.check()?;
        Ok(sources)
    }
}

impl Serialize for FeatureSources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FeatureSources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FeatureSources, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
