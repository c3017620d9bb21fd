//! The policy of JOAO.

use fiedler_learn::method::{Policy, project_to_simplex};

fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum()
}

/// The nearest of all points of a fine grid of the simplex.
fn by_search(point: &[f64], steps: usize) -> Vec<f64> {
    fn walk(left: usize, places: usize, so_far: &mut Vec<usize>, tell: &mut impl FnMut(&[usize])) {
        if places == 1 {
            so_far.push(left);
            tell(so_far);
            so_far.pop();
            return;
        }
        for here in 0..=left {
            so_far.push(here);
            walk(left - here, places - 1, so_far, tell);
            so_far.pop();
        }
    }
    let (mut best, mut nearest) = (f64::INFINITY, Vec::new());
    walk(steps, point.len(), &mut Vec::new(), &mut |found| {
        let found: Vec<f64> = found.iter().map(|&at| at as f64 / steps as f64).collect();
        if distance(&found, point) < best {
            best = distance(&found, point);
            nearest = found;
        }
    });
    nearest
}

#[test]
fn the_projection_is_the_nearest_point_of_the_simplex() {
    let points: [&[f64]; 8] = [
        &[0.2, 0.3, 0.5],
        &[1.7, 1.5, 0.1],
        &[-3.0, -2.5, -2.9],
        &[5.0, 0.0, 0.0, 4.6],
        &[0.4, 0.4, 0.4, 0.4],
        &[-0.1, 0.6, 0.7, -0.3],
        &[2.0],
        &[0.9, 0.9, 0.15],
    ];
    for point in points {
        let found = project_to_simplex(point);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12 && found.iter().all(|p| *p >= 0.0), "{found:?}");
        let searched = by_search(point, 100);
        assert!(distance(&found, point) <= distance(&searched, point) + 1e-12, "{point:?}: {found:?}, {searched:?}");
        assert!(found.iter().zip(&searched).all(|(a, b)| (a - b).abs() < 0.02), "{point:?}: {found:?}, {searched:?}");
    }
}

#[test]
fn the_policy_moves_to_large_losses_and_gamma_holds_it_back() {
    let mut policy = Policy::default();
    assert_eq!(policy.probabilities(4), [0.25; 4]);
    // p + ℓ = 0.35, 0.25, 0.45, 0.25, whose sum is 0.3 too large: all less by 0.075.
    policy.ascend(&[0.1, 0.0, 0.2, 0.0], 0.1);
    let found = policy.probabilities(4);
    for (found, expected) in found.iter().zip([0.275, 0.175, 0.375, 0.175]) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    // Where losses differ by more than γ, the largest takes all in the end.
    let mut far = Policy::default();
    (0..50).for_each(|_| far.ascend(&[1.0, 2.0, 1.5], 0.1));
    assert_eq!(far.probabilities(3), [0.0, 1.0, 0.0]);
    // With a large γ it comes to rest where the gradient is the same in all places: p = 1/3 + (ℓ - mean ℓ)/γ.
    let mut held = Policy::default();
    (0..200).for_each(|_| held.ascend(&[0.0, 0.1, 0.2], 0.9));
    for (found, loss) in held.probabilities(3).iter().zip([-0.1, 0.0, 0.1]) {
        assert!((found - (1.0 / 3.0 + loss / 0.9)).abs() < 1e-9, "{found}");
    }
}
