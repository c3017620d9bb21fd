//! Operations on plain slices of the CPU device, recorded by the tensor library with a derivative of their own.

use burn::Tensor;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::{
    Autodiff, BackendTensor, BackendTypes, DispatchAutodiffContext, DispatchKindConversion, DispatchTensor, Flex,
    GradientCheckpointingStrategy,
};
use burn::tensor::{DType, TensorData};

type Recorded = <Autodiff<Flex> as BackendTypes>::FloatTensorPrimitive;

/// An operation with its derivative, on contiguous `f32` tensors of the CPU device.
pub(crate) trait Operation<const INPUTS: usize>: Clone + std::fmt::Debug + Send + 'static {
    /// What the derivative needs.
    type Saved: Clone + std::fmt::Debug + Send + 'static;

    /// The result, and what its derivative will need.
    fn forward(&self, inputs: [FlexTensor; INPUTS]) -> (FlexTensor, Self::Saved);

    /// The gradients of the inputs, for those that are wanted, from that of the result.
    fn backward(
        &self,
        saved: Self::Saved,
        gradient: FlexTensor,
        wanted: [bool; INPUTS],
    ) -> [Option<FlexTensor>; INPUTS];
}

#[derive(Debug)]
struct Derivative<O>(O);

impl<O: Operation<INPUTS>, const INPUTS: usize> Backward<Flex, INPUTS> for Derivative<O> {
    type State = O::Saved;

    fn backward(self, ops: Ops<Self::State, INPUTS>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = contiguous(gradients.consume::<Flex>(&ops.node));
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let of_inputs = self.0.backward(ops.state, gradient, wanted);
        for (parent, gradient) in ops.parents.into_iter().zip(of_inputs) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                gradients.register::<Flex>(parent.id, gradient);
            }
        }
    }
}

/// Whether a tensor is of the kind that operations here work on; elsewhere the plain versions serve.
pub(crate) fn is_on_cpu<const D: usize>(tensor: &Tensor<D>) -> bool {
    let tensor = tensor.clone();
    if tensor.dtype() != DType::F32 {
        return false;
    }
    let tensor = tensor.into_dispatch();
    match tensor.autodiff {
        DispatchAutodiffContext::Disabled => to_plain(tensor).is_some(),
        DispatchAutodiffContext::Enabled(GradientCheckpointingStrategy::Disabled) => to_recorded(tensor).is_some(),
        DispatchAutodiffContext::Enabled(_) => false,
    }
}

/// Runs an operation on inputs that are all on the CPU device, and records it if any of them is recorded.
pub(crate) fn apply<O: Operation<INPUTS>, const INPUTS: usize, const D: usize>(
    operation: O,
    inputs: [DispatchTensor; INPUTS],
) -> Tensor<D> {
    let is_recorded = |input: &DispatchTensor| input.autodiff != DispatchAutodiffContext::Disabled;
    if !inputs.iter().any(is_recorded) {
        let inputs = inputs.map(|input| contiguous(to_plain(input).expect(ON_CPU)));
        return Tensor::from_primitive::<Flex>(operation.forward(inputs).0);
    }
    let (inputs, nodes) = unzip(inputs.map(|input| {
        let recorded = if is_recorded(&input) {
            to_recorded(input).expect(ON_CPU)
        } else {
            Recorded::new(to_plain(input).expect(ON_CPU))
        };
        let (primitive, node) = recorded.into_parts();
        (contiguous(primitive), node)
    }));
    let (output, saved) = operation.forward(inputs);
    let prepared = Derivative(operation).prepare::<NoCheckpointing>(nodes).compute_bound().stateful();
    Tensor::from_primitive::<Autodiff<Flex>>(match prepared {
        OpsKind::Tracked(prepared) => prepared.finish(saved, output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    })
}

const ON_CPU: &str = "callers hand over tensors for which is_on_cpu holds";

/// The CPU tensor of one that is not recorded.
pub(crate) fn to_cpu<const D: usize>(tensor: Tensor<D>) -> FlexTensor {
    contiguous(to_plain(tensor.into_dispatch()).expect(ON_CPU))
}

fn to_plain(tensor: DispatchTensor) -> Option<FlexTensor> {
    match <DispatchTensor as DispatchKindConversion<Flex>>::try_into_backend(tensor) {
        Ok(BackendTensor::Float(tensor)) => Some(tensor),
        _ => None,
    }
}

fn to_recorded(tensor: DispatchTensor) -> Option<Recorded> {
    match <DispatchTensor as DispatchKindConversion<Autodiff<Flex>>>::try_into_backend(tensor) {
        Ok(BackendTensor::Float(tensor)) => Some(tensor),
        _ => None,
    }
}

fn unzip<A, B, const N: usize>(pairs: [(A, B); N]) -> ([A; N], [B; N]) {
    let mut seconds = pairs.map(|(first, second)| (Some(first), Some(second)));
    let firsts = seconds.each_mut().map(|pair| pair.0.take().expect("taken once"));
    (firsts, seconds.map(|pair| pair.1.expect("taken once")))
}

/// The tensor with its values one after the other from the start of its memory, copied only if they are not.
pub(crate) fn contiguous(tensor: FlexTensor) -> FlexTensor {
    tensor.to_contiguous()
}

/// A tensor of values, row after row.
pub(crate) fn tensor(values: Vec<f32>, shape: impl Into<burn::tensor::Shape>) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape))
}

/// A matrix's number of columns.
pub(crate) fn width(tensor: &FlexTensor) -> usize {
    tensor.layout().shape()[1]
}

/// An input that is not there.
pub(crate) fn absent() -> DispatchTensor {
    Tensor::<1>::from_primitive::<Flex>(tensor(Vec::new(), [0])).into_dispatch()
}
