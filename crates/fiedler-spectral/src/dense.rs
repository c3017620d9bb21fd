//! The whole spectrum, from the matrix with all its entries.

use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd_scratch};
use faer::{Mat, Side, get_global_parallelism};

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
    let wanted = if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let scratch = self_adjoint_evd_scratch::<f64>(size, wanted, get_global_parallelism(), Default::default());
    square * if vectors { 2 } else { 1 } + scratch.unaligned_bytes_required() as u64
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
    map.to_dense().self_adjoint_eigenvalues(Side::Lower).map_err(|_| Error::NoDecomposition { nodes })
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
    let found = map.to_dense().self_adjoint_eigen(Side::Lower).map_err(|_| Error::NoDecomposition { nodes })?;
    Ok(Spectrum { values: found.S().column_vector().iter().copied().collect(), vectors: found.U().to_owned() })
}

fn check_room(map: &dyn SymmetricMap, vectors: bool, limit: u64) -> Result<usize> {
    let nodes = map.size();
    let bytes = dense_bytes(nodes, vectors);
    if bytes > limit { Err(Error::TooLarge { nodes, bytes, limit }) } else { Ok(nodes) }
}
