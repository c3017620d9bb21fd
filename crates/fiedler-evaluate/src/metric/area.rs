//! The area under the receiver operating characteristic.

/// The probability that a yes has a higher score than a no, ties counting half; `None` where there is only one kind.
///
/// ```
/// use fiedler_evaluate::metric::roc_auc;
/// assert_eq!(roc_auc(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]), Some(0.75));
/// assert_eq!(roc_auc(&[0.1, 0.4], &[true, true]), None);
/// ```
pub fn roc_auc(scores: &[f64], truth: &[bool]) -> Option<f64> {
    let positives = truth.iter().filter(|truth| **truth).count();
    let negatives = truth.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let mut order: Vec<usize> = (0..truth.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    // Twice the number of pairs in the right order, so that ties stay whole numbers.
    let (mut pairs, mut below) = (0u128, 0u128);
    for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let yes = tied.iter().filter(|&&at| truth[at]).count() as u128;
        let no = tied.len() as u128 - yes;
        pairs += yes * (2 * below + no);
        below += no;
    }
    Some(pairs as f64 / (2 * positives as u128 * negatives as u128) as f64)
}

/// Of two classes the area; of more, the mean over classes, each against the rest by its probability.
pub(super) fn of_classes(truth: &[u32], classes: usize, scores: &[&[f64]]) -> Option<f64> {
    let area = |class: usize, score: &dyn Fn(&[f64]) -> f64| {
        let scores: Vec<f64> = scores.iter().map(|row| score(row)).collect();
        let truth: Vec<bool> = truth.iter().map(|&truth| truth as usize == class).collect();
        roc_auc(&scores, &truth)
    };
    if classes == 2 {
        return area(1, &|row| row[1] - row[0]);
    }
    super::mean((0..classes).filter_map(|class| area(class, &|row| probability(row, class))))
}

fn probability(row: &[f64], class: usize) -> f64 {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|score| (score - largest).exp()).sum();
    (row[class] - largest).exp() / sum
}
