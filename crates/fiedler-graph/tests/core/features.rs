//! Features: however they are stored, the same numbers.

use fiedler_graph::{Categorical, Dense, Features, Sparse};
use proptest::prelude::*;

/// Rows of columns, in which about half of the numbers are zero.
fn matrix() -> impl Strategy<Value = (usize, usize, Vec<f32>)> {
    (0..6usize, 0..6usize).prop_flat_map(|(rows, columns)| {
        let value = prop_oneof![Just(0.0f32), -4.0f32..4.0];
        (Just(rows), Just(columns), proptest::collection::vec(value, rows * columns))
    })
}

/// Compressed rows of a matrix with each row's columns in reverse order, the zeros stored.
fn compressed(rows: usize, columns: usize, values: &[f32]) -> Sparse {
    let offsets = (0..=rows).map(|row| row * columns).collect();
    let indices = (0..rows).flat_map(|_| (0..columns as u32).rev()).collect();
    let stored =
        (0..rows).flat_map(|row| (0..columns).rev().map(move |column| values[row * columns + column])).collect();
    Sparse::new(columns, offsets, indices, stored).unwrap()
}

proptest! {
    #[test]
    fn dense_and_sparse_agree((rows, columns, values) in matrix(), picks in proptest::collection::vec(0..6u32, 0..9)) {
        let dense = Features::Dense(Dense::new(rows, columns, values.clone()).unwrap());
        let sparse = Features::Sparse(compressed(rows, columns, &values));
        prop_assert_eq!((sparse.rows(), sparse.columns()), (rows, columns));
        prop_assert_eq!(sparse.to_dense(), dense.to_dense());
        prop_assert_eq!(sparse.density(), dense.density());

        let picks: Vec<u32> = picks.into_iter().filter(|&row| (row as usize) < rows).collect();
        let gathered = sparse.gather(&picks);
        prop_assert_eq!(gathered.to_dense(), dense.gather(&picks).to_dense());
        prop_assert_eq!(gathered.rows(), picks.len());
        for (at, &row) in picks.iter().enumerate() {
            prop_assert_eq!(gathered.to_dense().row(at).to_vec(), dense.to_dense().row(row as usize).to_vec());
        }

        let (mut unit, mut unit_sparse) = (dense.clone(), sparse.clone());
        unit.unit_entries();
        unit_sparse.unit_entries();
        for row in 0..rows {
            let (scaled, from_sparse) = (unit.to_dense(), unit_sparse.to_dense());
            let entries = values[row * columns..(row + 1) * columns].iter().filter(|value| **value != 0.0).count();
            let squares: f32 = scaled.row(row).iter().map(|value| value * value).sum();
            prop_assert!((squares - entries as f32).abs() <= 1e-4 * (1 + entries) as f32);
            prop_assert!(scaled.row(row).iter().zip(from_sparse.row(row)).all(|(a, b)| (a - b).abs() <= 1e-5));
        }

        let (mut dense, mut sparse) = (dense, sparse);
        dense.normalize_rows();
        sparse.normalize_rows();
        for row in 0..rows {
            let (scaled, from_sparse) = (dense.to_dense(), sparse.to_dense());
            let original = &values[row * columns..(row + 1) * columns];
            let sum: f32 = original.iter().map(|value| value.abs()).sum();
            for ((&a, &b), &value) in scaled.row(row).iter().zip(from_sparse.row(row)).zip(original) {
                prop_assert!((a - b).abs() <= 1e-6);
                prop_assert!(sum == 0.0 && a == 0.0 || (a * sum - value).abs() <= 1e-5);
            }
        }
    }
}

#[test]
fn rows_of_sparse_features_are_sorted_and_free_of_zeros() {
    let sparse = Sparse::new(4, vec![0, 3, 3, 4], vec![2, 0, 1, 3], vec![5.0, 6.0, 0.0, 7.0]).unwrap();
    assert_eq!(sparse.row(0), (&[0, 2][..], &[6.0, 5.0][..]));
    assert_eq!(sparse.row(1), (&[][..], &[][..]));
    assert_eq!(sparse.indptr(), [0, 2, 2, 3]);
}

#[test]
fn features_that_do_not_fit_are_refused() {
    assert!(Dense::new(2, 2, vec![1.0; 3]).is_err());
    assert!(Dense::new(usize::MAX, 2, vec![]).is_err());
    assert!(Dense::new(1, 1, vec![f32::NAN]).is_err());
    let refused = |offsets: &[usize], indices: &[u32], values: &[f32]| {
        assert!(
            Sparse::new(2, offsets.into(), indices.into(), values.into()).is_err(),
            "{offsets:?} {indices:?} {values:?}"
        );
    };
    refused(&[], &[], &[]);
    refused(&[0], &[0], &[1.0]);
    refused(&[1, 1], &[0], &[1.0]);
    refused(&[0, 2, 1], &[0], &[1.0]);
    refused(&[0, 1], &[0], &[]);
    refused(&[0, 1], &[2], &[1.0]);
    refused(&[0, 2], &[1, 1], &[1.0, 1.0]);
    refused(&[0, 1], &[0], &[f32::INFINITY]);
    assert!(Categorical::new(vec![], vec![]).is_err());
    assert!(Categorical::new(vec![2, 2], vec![0]).is_err());
    assert!(Categorical::new(vec![2, 3], vec![1, 2, 0, 3]).unwrap_err().to_string().contains("column 1 is 3"));
}

#[test]
fn categories_are_gathered_as_codes() {
    let atoms = Features::Categorical(Categorical::new(vec![3, 256], vec![0, 7, 2, 255]).unwrap());
    assert_eq!((atoms.rows(), atoms.columns(), atoms.density()), (2, 2, 1.0));
    let gathered = atoms.gather(&[1, 1, 0]);
    assert_eq!(gathered.to_dense().values(), [2.0, 255.0, 2.0, 255.0, 0.0, 7.0]);
    let mut normalized = gathered.clone();
    normalized.normalize_rows();
    assert_eq!(normalized, gathered);
}
