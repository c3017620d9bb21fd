//! StateDict of a model to and from safetensors, by the names they have in it.

use std::collections::{BTreeMap, HashMap};

use burn::Tensor;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::TensorData;
use fiedler_graph::fingerprint::{Fnv, Seal};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::error::{Error, Result};

/// Key of the one note in a file: one, because several would be written in no fixed order.
const NOTE: &str = "fiedler";

/// State dict: the weights and buffers of a model by name, with a note on what they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateDict {
    /// Anything that should travel with the weights, such as the model's settings.
    pub note: Option<String>,
    tensors: BTreeMap<String, Values>,
}

#[derive(Debug, Clone, PartialEq)]
struct Values {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl StateDict {
    /// The weights of a model.
    pub fn of<M: Module>(model: &M) -> StateDict {
        let mut collect = Collect::default();
        model.visit(&mut collect);
        StateDict { note: None, tensors: collect.tensors }
    }

    /// Names, shapes and values, in order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[usize], &[f32])> {
        self.tensors.iter().map(|(name, held)| (name.as_str(), held.shape.as_slice(), held.values.as_slice()))
    }

    /// The shape of a tensor, if there is one of that name.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.tensors.get(name).map(|held| held.shape.as_slice())
    }

    /// The values of a tensor, if there is one of that name.
    pub fn get(&self, name: &str) -> Option<&[f32]> {
        self.tensors.get(name).map(|held| held.values.as_slice())
    }

    /// Number of values of all tensors.
    pub fn num_values(&self) -> usize {
        self.tensors.values().map(|held| held.values.len()).sum()
    }

    /// The name of a tensor that holds a value which is no finite number, if there is one.
    pub fn not_finite(&self) -> Option<&str> {
        let bad = |held: &Values| held.values.iter().any(|value| !value.is_finite());
        self.tensors.iter().find(|(_, held)| bad(held)).map(|(name, _)| name.as_str())
    }

    /// The same tensors under other names.
    pub(crate) fn renamed(self, name: impl Fn(&str) -> String) -> StateDict {
        let tensors = self.tensors.into_iter().map(|(old, held)| (name(&old), held)).collect();
        StateDict { note: self.note, tensors }
    }

    /// Takes out the tensors whose names begin with a prefix, and takes the prefix off.
    pub(crate) fn split_off(&mut self, prefix: &str) -> StateDict {
        let (taken, left) =
            std::mem::take(&mut self.tensors).into_iter().partition(|(name, _)| name.starts_with(prefix));
        self.tensors = left;
        StateDict { note: None, tensors: taken }.renamed(|name| name[prefix.len()..].to_owned())
    }

    /// Adds or replaces a tensor.
    ///
    /// # Errors
    /// When the values do not fill the shape.
    pub fn insert(&mut self, name: impl Into<String>, shape: Vec<usize>, values: Vec<f32>) -> Result<()> {
        let name = name.into();
        crate::error::check_size(format!("list of values of {name}"), values.len(), shape.iter().product())?;
        self.tensors.insert(name, Values { shape, values });
        Ok(())
    }

    /// Gives a model these weights.
    ///
    /// # Errors
    /// When a weight is missing, is not the model's, or has another shape. The model is then lost; nothing else is.
    pub fn apply<M: Module>(&self, model: M) -> Result<M> {
        let of_model = StateDict::of(&model);
        let names = of_model.tensors.keys().chain(self.tensors.keys());
        for name in names {
            let describe = |weights: &StateDict| match weights.tensors.get(name) {
                Some(held) => format!("shape {:?}", held.shape),
                None => "nothing".into(),
            };
            let (found, expected) = (describe(self), describe(&of_model));
            if found != expected {
                return Err(Error::StateDict { name: name.clone(), found, expected });
            }
        }
        Ok(model.map(&mut Apply { names: Names::default(), weights: self }))
    }

    /// Gives a model those of its weights that are here; the others stay as they are.
    ///
    /// # Errors
    /// When a weight is not the model's, or has another shape. The model is then lost; nothing else is.
    pub fn apply_part<M: Module>(&self, model: M) -> Result<M> {
        let of_model = StateDict::of(&model);
        for (name, held) in &self.tensors {
            let found = of_model.tensors.get(name).map(|held| &held.shape);
            if found != Some(&held.shape) {
                let expected = found.map_or("nothing".to_owned(), |shape| format!("shape {shape:?}"));
                return Err(Error::StateDict {
                    name: name.clone(),
                    found: format!("shape {:?}", held.shape),
                    expected,
                });
            }
        }
        Ok(model.map(&mut Apply { names: Names::default(), weights: self }))
    }

    /// A hash of names, shapes and values.
    pub fn fingerprint(&self) -> String {
        let mut hash = Fnv::of(b"weights");
        for (name, held) in &self.tensors {
            hash.update(format!("{name} {:?}", held.shape).as_bytes());
            held.values.iter().for_each(|value| hash.update(&value.to_le_bytes()));
        }
        hash.hex()
    }

    /// The bytes of a safetensors file.
    ///
    /// # Errors
    /// When there are too many for the format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let problem = |problem: safetensors::SafeTensorError| Error::Malformed { problem: problem.to_string() };
        let bytes: Vec<(&String, &Values, Vec<u8>)> = self
            .tensors
            .iter()
            .map(|(name, held)| (name, held, held.values.iter().flat_map(|value| value.to_le_bytes()).collect()))
            .collect();
        let views = bytes.iter().map(|(name, held, bytes)| {
            TensorView::new(Dtype::F32, held.shape.clone(), bytes).map(|view| (name.as_str(), view))
        });
        let views: Vec<(&str, TensorView)> = views.collect::<Result<_, _>>().map_err(problem)?;
        let note = self.note.as_ref().map(|note| HashMap::from([(NOTE.to_string(), self.seal().write(note))]));
        safetensors::serialize(views, note).map_err(problem)
    }

    /// Reads the bytes of a safetensors file.
    ///
    /// # Errors
    /// When the bytes are not safetensors of 32-bit floats.
    pub fn from_bytes(bytes: &[u8]) -> Result<StateDict> {
        let malformed = |problem: String| Error::Malformed { problem };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|problem| malformed(problem.to_string()))?;
        let file = SafeTensors::deserialize(bytes).map_err(|problem| malformed(problem.to_string()))?;
        let mut weights = StateDict::default();
        for (name, view) in file.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(malformed(format!("{name} holds {:?}, not 32-bit floats", view.dtype())));
            }
            let (values, _) = view.data().as_chunks::<4>();
            let values = values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            weights.insert(name, view.shape().to_vec(), values)?;
        }
        if let Some(note) = metadata.metadata().as_ref().and_then(|notes| notes.get(NOTE)) {
            weights.note = Some(weights.seal().check(note).map_err(malformed)?);
        }
        Ok(weights)
    }

    /// The checksum of all tensors, in the order of their names.
    fn seal(&self) -> Seal {
        let mut seal = Seal::new();
        for (name, held) in &self.tensors {
            let bytes: Vec<u8> = held.values.iter().flat_map(|value| value.to_le_bytes()).collect();
            seal.part(&format!("{name} {:?}", held.shape), &bytes);
        }
        seal
    }
}

/// The name of the place that a walk through a model is at.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<String>);

impl Names {
    pub(crate) fn enter(&mut self, name: &str) {
        self.0.push(name.to_string());
    }

    pub(crate) fn exit(&mut self) {
        self.0.pop();
    }

    pub(crate) fn here(&self) -> String {
        self.0.join(".")
    }
}

#[derive(Default)]
struct Collect {
    names: Names,
    tensors: BTreeMap<String, Values>,
}

impl ModuleVisitor for Collect {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.names.enter(name);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.names.exit();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        // StateDict are always made of 32-bit floats here.
        let values = tensor.into_data().try_to_vec().unwrap_or_default();
        self.tensors.insert(self.names.here(), Values { shape, values });
    }
}

struct Apply<'a> {
    names: Names,
    weights: &'a StateDict,
}

impl ModuleMapper for Apply<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.names.enter(name);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.names.exit();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(held) = self.weights.tensors.get(&self.names.here()) else { return param };
        param.map(|old| {
            let requires_gradient = old.is_require_grad();
            let data = TensorData::new(held.values.clone(), held.shape.clone());
            Tensor::from_data(data, &old.device()).set_require_grad(requires_gradient)
        })
    }
}
