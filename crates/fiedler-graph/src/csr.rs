//! What compressed sparse rows must be to be those of a graph.

use crate::error::{Error, Result};
use crate::graph::{bad_id, check_nodes, check_weights};

/// Checks that rows are sorted and symmetric, without self-loops and repeats, and that edges have one positive weight each.
pub(crate) fn check(indptr: &[usize], indices: &[u32], weights: Option<&[f32]>) -> Result<()> {
    if indptr.first() != Some(&0) || indptr.last() != Some(&indices.len()) || !indptr.is_sorted() {
        return Err(Error::setting(
            "indptr",
            format!("{} numbers for {} indices", indptr.len(), indices.len()),
            "numbers that ascend from 0 to the number of indices, one more than there are nodes",
        ));
    }
    let nodes = indptr.len() - 1;
    check_nodes(nodes)?;
    if let Some(weights) = weights {
        check_weights(weights, indices.len(), "indices")?;
    }
    check_rows(indptr, indices)?;
    check_symmetry(indptr, indices, weights)
}

fn check_rows(indptr: &[usize], indices: &[u32]) -> Result<()> {
    let nodes = indptr.len() - 1;
    for (node, range) in indptr.windows(2).enumerate() {
        let row = &indices[range[0]..range[1]];
        if let Some(pair) = row.windows(2).find(|pair| pair[0] >= pair[1]) {
            let name = format!("neighbor of node {node} after {}", pair[0]);
            return Err(Error::setting(name, pair[1], "ascending ids, each once"));
        }
        if let Some(&last) = row.last()
            && last as usize >= nodes
        {
            return Err(bad_id(nodes, last));
        }
        if row.binary_search(&(node as u32)).is_ok() {
            return Err(Error::setting(format!("neighbor of node {node}"), node, "another node: no self-loops"));
        }
    }
    Ok(())
}

/// Met in the order of their sources, the edges that lead to a node must be those of its own sorted row, one after the other.
fn check_symmetry(indptr: &[usize], indices: &[u32], weights: Option<&[f32]>) -> Result<()> {
    // How many of each node's edges have been met.
    let mut met = vec![0u32; indptr.len() - 1];
    for (node, range) in indptr.windows(2).enumerate() {
        for at in range[0]..range[1] {
            let neighbor = indices[at] as usize;
            let back = indptr[neighbor] + met[neighbor] as usize;
            if back >= indptr[neighbor + 1] || indices[back] as usize != node {
                let found = "in one direction only";
                return Err(Error::setting(format!("edge of {node} and {neighbor}"), found, "both directions"));
            }
            if let Some(weights) = weights
                && weights[at] != weights[back]
            {
                let found = format!("{} and {}", weights[at], weights[back]);
                let name = format!("weight of the edge of {node} and {neighbor}");
                return Err(Error::setting(name, found, "the same in both directions"));
            }
            met[neighbor] += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn says_what_is_wrong_with_rows() {
        type Case<'a> = (&'a [usize], &'a [u32], Option<&'a [f32]>, &'a str);
        let refusals: [Case<'_>; 12] = [
            (&[], &[], None, "indptr is 0 numbers"),
            (&[1], &[0], None, "indptr is 1 numbers"),
            (&[0, 2, 1, 2], &[1, 2], None, "indptr is 4 numbers"),
            (&[0, 1, 3], &[1, 0], None, "indptr is 3 numbers"),
            (&[0, 2, 3, 4], &[2, 1, 0, 0], None, "neighbor of node 0 after 2 is 1"),
            (&[0, 2, 4], &[1, 1, 0, 0], None, "neighbor of node 0 after 1 is 1"),
            (&[0, 1, 2], &[1, 2], None, "node id is 2"),
            (&[0, 1], &[0], None, "neighbor of node 0 is 0"),
            (&[0, 1, 1], &[1], None, "edge of 0 and 1 is in one direction only"),
            (&[0, 1, 2, 3], &[1, 2, 0], None, "in one direction only"),
            (&[0, 1, 2], &[1, 0], Some(&[1.0]), "number of weights is 1"),
            (&[0, 1, 2], &[1, 0], Some(&[1.0, 2.0]), "weight of the edge of 0 and 1 is 1 and 2"),
        ];
        for (indptr, indices, weights, expected) in refusals {
            let error = check(indptr, indices, weights).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
        for weight in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(check(&[0, 1, 2], &[1, 0], Some(&[weight; 2])).is_err(), "{weight}");
        }
        assert!(check(&[0], &[], None).is_ok());
        assert!(check(&[0, 1, 2], &[1, 0], Some(&[2.0, 2.0])).is_ok());
    }
}
