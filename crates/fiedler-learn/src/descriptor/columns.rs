//! What the columns of node features are: labels, attributes, or too many of either.

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::Device;

use super::wl::mix;
use crate::FeatureMatrix;
use crate::error::{Error, Result};
use crate::feature_matrix::MatrixRef;
use crate::pca::linear::unit_scale;
use crate::pca::{self, Components, PcaSettings, Projection, UnitRows, fixed, shape_of, values, zeros};
use crate::state_dict::StateDict;

/// More columns than this are reduced to principal components.
const MOST_COLUMNS: usize = 128;
/// The same for attributes, each of which every node has.
const MOST_ATTRIBUTES: usize = 32;
/// Principal components of features with too many columns.
const COMPONENTS: usize = 32;

/// What columns of node features are, as found in the graphs that a descriptor was fitted to; stored with it.
#[derive(Module, Debug)]
pub struct FeatureColumns {
    /// Of each column: 0 where all nodes have the same value, 1 where it is part of a one-hot label, 2 where it is an attribute.
    pub kinds: Param<Tensor<1>>,
    /// What is taken off an attribute.
    pub mean: Param<Tensor<1>>,
    /// What it is multiplied by then.
    pub scale: Param<Tensor<1>>,
    /// Principal components, where there are too many columns.
    pub reduction: Option<Projection>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Constant,
    Label,
    Attribute,
}

/// The same in plain memory.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    kinds: Vec<Kind>,
    mean: Vec<f32>,
    scale: Vec<f32>,
    reduction: Option<Components>,
    /// Of each column its place among those that vary.
    places: Vec<usize>,
    width: usize,
}

impl Columns {
    /// Looks at the features of all nodes; `None` where no column tells two nodes apart.
    pub(super) fn fit(features: &FeatureMatrix, settings: &PcaSettings) -> Result<Option<Columns>> {
        let matrix = features.matrix_ref();
        let (rows, columns) = (features.rows(), features.columns());
        let mut binary = vec![true; columns];
        let (mut sums, mut squares) = (vec![0.0f64; columns], vec![0.0f64; columns]);
        for row in 0..rows {
            for_each_entry(&matrix, row, |column, value| {
                binary[column] &= value == 0.0 || value == 1.0;
                sums[column] += f64::from(value);
                squares[column] += f64::from(value) * f64::from(value);
            });
        }
        let rows = rows.max(1) as f64;
        let (mut kinds, mut mean, mut scale) = (Vec::new(), vec![0.0; columns], vec![0.0; columns]);
        for column in 0..columns {
            let average = sums[column] / rows;
            let deviation = (squares[column] / rows - average * average).max(0.0).sqrt();
            // Rounding must not be mistaken for a difference.
            kinds.push(match () {
                () if deviation <= 1e-6 * average.abs().max(1e-6) => Kind::Constant,
                () if binary[column] => Kind::Label,
                () => {
                    (mean[column], scale[column]) = (average as f32, deviation.recip() as f32);
                    Kind::Attribute
                }
            });
        }
        let count = |kind: Kind| kinds.iter().filter(|&&other| other == kind).count();
        let (labels, attributes) = (count(Kind::Label), count(Kind::Attribute));
        if labels + attributes == 0 {
            return Ok(None);
        }
        let reduction = if labels + attributes > MOST_COLUMNS || attributes > MOST_ATTRIBUTES {
            let unit = unit_rows(&matrix, features.rows(), &kinds);
            let components =
                pca::of_features(&unit, &PcaSettings { dimensions: COMPONENTS, ..*settings }, &|_, _| Ok(()))?;
            if components.width == 0 {
                return Ok(None);
            }
            Some(components)
        } else {
            None
        };
        Ok(Some(Columns::new(kinds, mean, scale, reduction)))
    }

    fn new(kinds: Vec<Kind>, mean: Vec<f32>, scale: Vec<f32>, reduction: Option<Components>) -> Columns {
        let mut width = 0;
        let mut places = Vec::with_capacity(kinds.len());
        for &kind in &kinds {
            places.push(width);
            width += usize::from(kind != Kind::Constant);
        }
        let width = reduction.as_ref().map_or(width, |reduction| reduction.width);
        Columns { kinds, mean, scale, reduction, places, width }
    }

    /// Columns that a node is described by.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Whether nodes have labels, for color refinement to start from.
    pub(super) fn has_labels(&self) -> bool {
        self.reduction.is_none() && self.kinds.contains(&Kind::Label)
    }

    pub(super) fn to_module(&self, device: &Device) -> FeatureColumns {
        let kinds = self.kinds.iter().map(|&kind| f32::from(kind as u8)).collect();
        let columns = [self.kinds.len()];
        FeatureColumns {
            kinds: fixed(kinds, columns, device),
            mean: fixed(self.mean.clone(), columns, device),
            scale: fixed(self.scale.clone(), columns, device),
            reduction: self.reduction.clone().map(|reduction| Projection::new(reduction, device)),
        }
    }
}

impl FeatureColumns {
    pub(super) fn to_plain(&self) -> Columns {
        let kinds = values(&self.kinds).into_iter().map(kind_of).map(|kind| kind.unwrap_or(Kind::Constant)).collect();
        let reduction = self.reduction.as_ref().map(Projection::to_components);
        Columns::new(kinds, values(&self.mean), values(&self.scale), reduction)
    }

    /// With the shapes that stored weights have under a name, to be filled with them.
    pub(super) fn shaped(weights: &StateDict, name: &str, columns: usize, device: &Device) -> Result<FeatureColumns> {
        let of = |part: &str| -> Result<Param<Tensor<1>>> {
            let name = format!("{name}.{part}");
            let [found] = shape_of::<1>(weights, &name)?;
            match found == columns {
                true => Ok(zeros([columns], device)),
                false => Err(state_dict(name, format!("{found} values"), format!("{columns}, one for each column"))),
            }
        };
        let (kinds, mean, scale) = (of("kinds")?, of("mean")?, of("scale")?);
        let stored = weights.get(&format!("{name}.kinds")).unwrap_or_default();
        if let Some(&bad) = stored.iter().find(|&&kind| kind_of(kind).is_none()) {
            return Err(state_dict(format!("{name}.kinds"), bad.to_string(), "0, 1 or 2".into()));
        }
        let reduction = format!("{name}.reduction");
        let reduced = weights.shape(&format!("{reduction}.mean")).is_some();
        let reduction = reduced.then(|| Projection::shaped(weights, &reduction, device)).transpose()?;
        if let Some(reduction) = &reduction {
            let (found, expected) = (reduction.dims()[0], stored.iter().filter(|&&kind| kind != 0.0).count());
            if found != expected {
                let name = format!("{name}.reduction");
                return Err(state_dict(
                    name,
                    format!("{found} rows"),
                    format!("{expected}, one for each column that varies"),
                ));
            }
        }
        Ok(FeatureColumns { kinds, mean, scale, reduction })
    }
}

fn state_dict(name: String, found: String, expected: String) -> Error {
    Error::StateDict { name, found, expected }
}

fn kind_of(stored: f32) -> Option<Kind> {
    [Kind::Constant, Kind::Label, Kind::Attribute].into_iter().find(|&kind| f32::from(kind as u8) == stored)
}

/// The features of the nodes of some graphs, as columns say they are to be seen.
pub(super) struct NodeFeatures<'a> {
    columns: &'a Columns,
    matrix: MatrixRef<'a>,
    /// Of all nodes, where features are reduced to principal components.
    components: Option<Vec<f32>>,
}

impl<'a> NodeFeatures<'a> {
    pub(super) fn new(columns: &'a Columns, features: &'a FeatureMatrix) -> Result<NodeFeatures<'a>> {
        crate::error::check_size("table of features", features.columns(), columns.kinds.len())?;
        let matrix = features.matrix_ref();
        let components = match &columns.reduction {
            None => None,
            Some(reduction) => {
                let unit = unit_rows(&matrix, features.rows(), &columns.kinds);
                crate::error::check_size("projection of features", reduction.mean.len(), unit.columns())?;
                Some(unit.centered_times(&reduction.mean, &reduction.weight, reduction.width)?)
            }
        };
        Ok(NodeFeatures { columns, matrix, components })
    }

    pub(super) fn columns(&self) -> &Columns {
        self.columns
    }

    /// Writes the columns of a node: labels as they are, attributes standardized.
    pub(super) fn fill(&self, node: usize, row: &mut [f64]) {
        let Columns { kinds, mean, scale, places, width, .. } = self.columns;
        if let Some(components) = &self.components {
            let source = &components[node * width..][..*width];
            row.iter_mut().zip(source).for_each(|(value, &source)| *value = f64::from(source));
            return;
        }
        for (column, &place) in places.iter().enumerate() {
            if kinds[column] != Kind::Constant {
                row[place] = -f64::from(mean[column]) * f64::from(scale[column]);
            }
        }
        for_each_entry(&self.matrix, node, |column, value| match kinds[column] {
            Kind::Constant => {}
            Kind::Label => row[places[column]] = f64::from(value),
            Kind::Attribute => row[places[column]] += f64::from(value) * f64::from(scale[column]),
        });
    }

    /// A hash of a node's labels.
    pub(super) fn label(&self, node: usize) -> u64 {
        let mut label = 0u64;
        for_each_entry(&self.matrix, node, |column, value| {
            if self.columns.kinds[column] == Kind::Label && value != 0.0 {
                label = label.wrapping_add(mix((column as u64) << 32 | u64::from(value.to_bits())));
            }
        });
        label
    }
}

/// Rows of length one of the columns that vary, whether the features lie there sparse or dense: that may differ between sets of graphs.
fn unit_rows(matrix: &MatrixRef<'_>, rows: usize, kinds: &[Kind]) -> UnitRows<'static> {
    let mut columns = 0;
    let place = |&kind: &Kind| {
        columns += u32::from(kind != Kind::Constant);
        (kind != Kind::Constant).then(|| columns - 1)
    };
    let places: Vec<Option<u32>> = kinds.iter().map(place).collect();
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::<f32>::new());
    for row in 0..rows {
        let start = values.len();
        for_each_entry(matrix, row, |column, value| {
            if let Some(place) = places[column].filter(|_| value != 0.0) {
                indices.push(place);
                values.push(value);
            }
        });
        let scale = unit_scale(&values[start..]);
        values[start..].iter_mut().for_each(|value| *value *= scale);
        indptr.push(values.len());
    }
    UnitRows::Sparse { indptr, indices, values, columns: columns as usize }
}

fn for_each_entry(matrix: &MatrixRef<'_>, row: usize, mut tell: impl FnMut(usize, f32)) {
    match matrix {
        MatrixRef::Sparse(rows) => {
            for place in rows.offsets[row]..rows.offsets[row + 1] {
                tell(rows.columns[place] as usize, rows.values[place]);
            }
        }
        MatrixRef::Dense(values, columns) => {
            let row = &values[row * columns..][..*columns];
            row.iter().enumerate().for_each(|(column, &value)| tell(column, value));
        }
    }
}
