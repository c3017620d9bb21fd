//! What a reader of the losses should know: where they were lowest, and whether what is embedded lies far above that.

/// Share of the fall of the loss that may be lost again without a warning.
const LOST_AGAIN: f32 = 0.25;
/// Rises below this share of the lowest loss are noise of the views that are drawn.
const NOISE: f32 = 0.02;

/// The epoch, counted from one, with the lowest loss.
pub fn lowest(losses: &[f32]) -> Option<(usize, f32)> {
    losses.iter().copied().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(epoch, loss)| (epoch + 1, loss))
}

/// A warning where the last epoch is what is embedded, and its loss is far above the lowest.
pub(super) fn warning(losses: &[f32], keeps_best: bool) -> Option<String> {
    let (first, last) = (*losses.first()?, *losses.last()?);
    let (epoch, lowest) = lowest(losses)?;
    let rise = last - lowest;
    if keeps_best || rise <= LOST_AGAIN * (first - lowest) || rise <= NOISE * lowest.abs() {
        return None;
    }
    Some(format!(
        "the last epoch is embedded, and its loss, {last:.4}, is far above the lowest, {lowest:.4} after epoch {epoch}: --patience N keeps the \
         lowest, a smaller --learning-rate may avoid the rise"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_that_rose_again_is_a_warning_unless_the_lowest_is_kept() {
        let rose = [3.0, 2.0, 1.0, 2.5];
        assert_eq!(lowest(&rose), Some((3, 1.0)));
        let words = warning(&rose, false).unwrap_or_default();
        assert!(words.contains("2.5000") && words.contains("1.0000 after epoch 3"), "{words}");
        assert_eq!(warning(&rose, true), None);
        for quiet in [&[3.0, 2.0, 1.0][..], &[3.0, 1.0, 1.1], &[0.7, 0.69, 0.695], &[-1.0, -3.0, -2.9], &[1.0], &[]] {
            assert_eq!(warning(quiet, false), None, "{quiet:?}");
        }
        assert!(warning(&[-1.0, -3.0, -2.0], false).is_some());
        assert!(warning(&[1.0, 4.0], false).is_some(), "it never fell");
    }
}
