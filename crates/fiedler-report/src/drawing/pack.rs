//! Several drawings side by side.

use super::layout::{Place, bounds};

/// Free space around each drawing.
const MARGIN: f64 = 0.6;
/// How much wider than high the whole is to be.
const WIDTH_TO_HEIGHT: f64 = 1.3;

/// Moves drawings so that none overlaps another: in rows, the highest first.
pub(super) fn pack(drawn: &mut [Vec<Place>]) {
    if drawn.len() < 2 {
        return;
    }
    let corners: Vec<(Place, Place)> = drawn.iter().map(|places| bounds(places)).collect();
    let sizes: Vec<Place> =
        corners.iter().map(|(low, high)| [0, 1].map(|axis| high[axis] - low[axis] + 2.0 * MARGIN)).collect();
    let area: f64 = sizes.iter().map(|size| size[0] * size[1]).sum();
    let widest = sizes.iter().map(|size| size[0]).fold(0.0, f64::max);
    let width = widest.max((area * WIDTH_TO_HEIGHT).sqrt());

    let mut order: Vec<usize> = (0..drawn.len()).collect();
    order.sort_by(|&a, &b| {
        sizes[b][1].total_cmp(&sizes[a][1]).then(sizes[b][0].total_cmp(&sizes[a][0])).then(a.cmp(&b))
    });
    let (mut left, mut top, mut row_height) = (0.0, 0.0, 0.0f64);
    for at in order {
        let [own_width, own_height] = sizes[at];
        if left > 0.0 && left + own_width > width {
            (left, top, row_height) = (0.0, top + row_height, 0.0);
        }
        let low = corners[at].0;
        let shift = [left + MARGIN - low[0], top + MARGIN - low[1]];
        drawn[at].iter_mut().for_each(|place| *place = [place[0] + shift[0], place[1] + shift[1]]);
        left += own_width;
        row_height = row_height.max(own_height);
    }
}
