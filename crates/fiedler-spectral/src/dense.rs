//! The whole spectrum, from the matrix with all its entries.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};

use crate::error::{Error, Result};
use crate::operator::SymmetricMap;

/// All eigenvalues, ascending, and their eigenvectors.
#[derive(Debug, Clone)]
pub struct Spectrum {
    /// The eigenvalues, ascending.
    pub values: Vec<f64>,
    /// The eigenvectors as columns, in the order of the values; orthonormal.
    pub vectors: Mat<f64>,
}

/// Bytes a dense spectrum of `size` nodes takes at its peak, with or without eigenvectors.
pub fn dense_bytes(size: usize, vectors: bool) -> u64 {
    if size == 0 {
        return 0;
    }
    let square = 8 * size as u64 * size as u64;
    square * if vectors { 2 } else { 1 } + scratch(size, vectors).unaligned_bytes_required() as u64
}

/// Always the same division of the work, so that the result does not depend on the number of threads.
fn parts() -> Par {
    Par::rayon(4)
}

fn scratch(size: usize, vectors: bool) -> StackReq {
    let wanted = if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    self_adjoint_evd_scratch::<f64>(size, wanted, parts(), Default::default())
}

/// All eigenvalues, ascending.
///
/// # Errors
/// When [`dense_bytes`] exceeds `limit`, before anything is allocated.
pub fn eigenvalues(map: &dyn SymmetricMap, limit: u64) -> Result<Vec<f64>> {
    let nodes = check_room(map, false, limit)?;
    if nodes == 0 {
        return Ok(Vec::new());
    }
    decompose(map, None)
}

/// All eigenvalues and eigenvectors.
///
/// # Errors
/// When [`dense_bytes`] exceeds `limit`, before anything is allocated.
pub fn spectrum(map: &dyn SymmetricMap, limit: u64) -> Result<Spectrum> {
    let nodes = check_room(map, true, limit)?;
    if nodes == 0 {
        return Ok(Spectrum { values: Vec::new(), vectors: Mat::new() });
    }
    let mut vectors = Mat::zeros(nodes, nodes);
    let values = decompose(map, Some(&mut vectors))?;
    Ok(Spectrum { values, vectors })
}

fn decompose(map: &dyn SymmetricMap, vectors: Option<&mut Mat<f64>>) -> Result<Vec<f64>> {
    let nodes = map.size();
    let mut values = Diag::<f64>::zeros(nodes);
    let mut room = MemBuffer::new(scratch(nodes, vectors.is_some()));
    let dense = map.to_dense();
    let finite = (0..nodes).all(|column| dense.col_as_slice(column).iter().all(|entry| entry.is_finite()));
    let stack = MemStack::new(&mut room);
    let vectors = vectors.map(Mat::as_mut);
    self_adjoint_evd(dense.as_ref(), values.as_mut(), vectors, parts(), stack, Default::default())
        .ok()
        .filter(|()| finite)
        .ok_or(Error::NoDecomposition { nodes })?;
    Ok(values.column_vector().iter().copied().collect())
}

fn check_room(map: &dyn SymmetricMap, vectors: bool, limit: u64) -> Result<usize> {
    let nodes = map.size();
    let bytes = dense_bytes(nodes, vectors);
    if bytes > limit { Err(Error::TooLarge { nodes, bytes, limit }) } else { Ok(nodes) }
}
