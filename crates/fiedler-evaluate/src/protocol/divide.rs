//! Random splits and folds, stratified where asked for.
//!
//! Items are drawn by their places in the list that is given, and stand in its order in every part: a list in the order of ids gives the
//! same splits whatever the order of rows.

use fiedler_graph::random::stream;
use fiedler_graph::{Labels, Split};
use rand::seq::SliceRandom;

/// Places of items in groups, each group shuffled: one group a class where the split is stratified, else one group.
fn shuffled_groups(items: &[u32], labels: Option<&Labels>, seed: u64, purpose: &str, index: u64) -> Vec<Vec<usize>> {
    let mut groups = match labels {
        Some(Labels::Classes(classes)) => {
            let mut groups = vec![Vec::new(); classes.count()];
            for (place, &item) in items.iter().enumerate() {
                if let Some(class) = classes.of()[item as usize] {
                    groups[class as usize].push(place);
                }
            }
            groups
        }
        _ => vec![(0..items.len()).collect()],
    };
    let mut random = stream(seed, purpose, index);
    groups.iter_mut().for_each(|group| group.shuffle(&mut random));
    groups
}

/// A share of the items to train, one for validation, the rest to test; stratified when labels are given.
///
/// Every class then has within one of its share in each part.
pub(super) fn divide(
    items: &[u32],
    [train, validation]: [f64; 2],
    stratify_by: Option<&Labels>,
    (seed, purpose, index): (u64, &str, u64),
) -> Split {
    let shares = [train, validation, 1.0 - train - validation];
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    // What rounding owes each part, so that many small classes together come to the right shares.
    let mut due = [0.0; 3];
    for group in shuffled_groups(items, stratify_by, seed, purpose, index) {
        let mut rest = group.as_slice();
        for (part, size) in parts.iter_mut().zip(sizes(group.len(), shares, &mut due)) {
            let (taken, others) = rest.split_at(size.min(rest.len()));
            part.extend(taken);
            rest = others;
        }
    }
    let [train, validation, test] = parts.map(|part| in_order(part, items));
    Split { name: format!("{purpose}-{index}"), train, validation, test, ..Default::default() }
}

/// A share of the items, every class alike, and at least one of each.
pub(super) fn share(
    items: &[u32],
    fraction: f64,
    stratify_by: &Labels,
    (seed, purpose, index): (u64, &str, u64),
) -> Vec<u32> {
    let mut taken = Vec::new();
    let mut due = 0.0;
    for group in
        shuffled_groups(items, Some(stratify_by), seed, purpose, index).iter().filter(|group| !group.is_empty())
    {
        due += fraction * group.len() as f64;
        let size = (due.round() as usize).clamp(1, group.len());
        // What a class has beyond its share, because it has one at least, is not taken from others.
        due = (due - size as f64).max(-0.5);
        taken.extend(&group[..size]);
    }
    in_order(taken, items)
}

/// Whole sizes of three parts, each its share rounded down or up: up where most is due.
fn sizes(items: usize, shares: [f64; 3], due: &mut [f64; 3]) -> [usize; 3] {
    let mut sizes = shares.map(|share| (share * items as f64).floor() as usize);
    for part in 0..3 {
        due[part] += shares[part] * items as f64 - sizes[part] as f64;
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| due[b].total_cmp(&due[a]));
    let left = items - sizes.iter().sum::<usize>();
    for part in order.into_iter().take(left) {
        sizes[part] += 1;
        due[part] -= 1.0;
    }
    sizes
}

/// Every fold is the test set once, and the others train; stratified when labels are given.
pub(super) fn folds(
    items: &[u32],
    folds: usize,
    stratify_by: Option<&Labels>,
    (seed, purpose, index): (u64, &str, u64),
) -> Vec<Split> {
    let dealt = shuffled_groups(items, stratify_by, seed, purpose, index).concat();
    let part = |fold: usize| {
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for (at, &place) in dealt.iter().enumerate() {
            if at % folds == fold { test.push(place) } else { train.push(place) }
        }
        let [train, test] = [train, test].map(|part| in_order(part, items));
        Split { name: format!("{purpose}-{fold}"), train, test, ..Default::default() }
    };
    (0..folds).map(part).collect()
}

/// The items at these places, in the order of the list.
fn in_order(mut places: Vec<usize>, items: &[u32]) -> Vec<u32> {
    places.sort_unstable();
    places.into_iter().map(|place| items[place]).collect()
}

#[cfg(test)]
mod tests {
    use fiedler_graph::{Classes, Labels};

    use super::*;

    #[test]
    fn a_share_has_one_of_each_class_and_takes_that_from_no_other() {
        let of_class = |item: u32| i64::from(item / 4).min(9);
        for order in [1, -1] {
            let classes = Classes::from_integers((0..1036).map(|item| Some(order * of_class(item))));
            let labels = Labels::Classes(classes);
            let items: Vec<u32> = (0..1036).collect();
            let taken = share(&items, 0.01, &labels, (0, "test", 0));
            let of = |class: i64| taken.iter().filter(|&&item| of_class(item) == class).count();
            assert!((0..9).all(|class| of(class) == 1), "{taken:?}");
            assert!((9..=11).contains(&of(9)), "{taken:?}");
        }
    }
}
