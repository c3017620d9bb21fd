//! Where the work is done.

use std::str::FromStr;
use std::sync::OnceLock;

use burn::Tensor;
use burn::tensor::{Device, Int, TensorData};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::ops::kernel::SparseRows;

/// Device: where tensors lie and are computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceSettings {
    /// The processor.
    #[default]
    Cpu,
}

impl DeviceSettings {
    /// The device, as the tensor library takes it.
    pub fn open(self) -> Device {
        match self {
            DeviceSettings::Cpu => Device::flex(),
        }
    }
}

impl FromStr for DeviceSettings {
    type Err = Error;

    fn from_str(name: &str) -> Result<DeviceSettings> {
        match name {
            "cpu" => Ok(DeviceSettings::Cpu),
            _ => Err(Error::setting("device", name, "cpu, the only device that this program was built for")),
        }
    }
}

/// The entries of a sparse matrix as tensors of a device.
#[derive(Debug, Clone)]
pub(crate) struct DeviceRows {
    device: Device,
    /// The row of each entry.
    pub(crate) rows: Tensor<1, Int>,
    pub(crate) columns: Tensor<1, Int>,
    pub(crate) values: Tensor<2>,
}

impl DeviceRows {
    /// Those that lie on the device already, or new ones, which are kept if they are the first.
    pub(crate) fn cached(kept: &OnceLock<DeviceRows>, rows: SparseRows<'_>, device: &Device) -> DeviceRows {
        let device = device.clone().inner();
        let found = kept.get_or_init(|| DeviceRows::new(rows, &device));
        if found.device == device { found.clone() } else { DeviceRows::new(rows, &device) }
    }

    /// The same, on the recording side of the device if what they are multiplied with is recorded.
    pub(crate) fn for_inputs<const D: usize>(self, input: &Tensor<D>) -> DeviceRows {
        if !input.is_autodiff() {
            return self;
        }
        DeviceRows {
            rows: Tensor::from_inner(self.rows),
            columns: Tensor::from_inner(self.columns),
            values: Tensor::from_inner(self.values),
            ..self
        }
    }

    fn new(matrix: SparseRows<'_>, device: &Device) -> DeviceRows {
        let bounds = matrix.offsets.windows(2).enumerate();
        let rows = bounds.flat_map(|(row, bounds)| (bounds[0]..bounds[1]).map(move |_| row as u32)).collect();
        let values = TensorData::new(matrix.values.to_vec(), [matrix.values.len(), 1]);
        DeviceRows {
            device: device.clone(),
            rows: indices(rows, device),
            columns: indices(matrix.columns.to_vec(), device),
            values: Tensor::from_data(values, device),
        }
    }
}

/// Numbers of rows or columns as a tensor.
pub(crate) fn indices(values: Vec<u32>, device: &Device) -> Tensor<1, Int> {
    let values: Vec<i32> = values.into_iter().map(|value| value as i32).collect();
    let length = values.len();
    Tensor::from_data(TensorData::new(values, [length]), device)
}
