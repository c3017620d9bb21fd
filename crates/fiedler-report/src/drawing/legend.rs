//! What lines and colours mean.

use super::groups::Groups;
use super::panel::{DASHES, Scales, faint_strength, mark, strength};
use super::svg::{escape, pixels, push, shortened, text_width};

const FONT: f64 = 13.0;
const ROW: f64 = 24.0;
/// Pixels between entries, and between an entry's parts.
const GAP: f64 = 16.0;
const NEAR: f64 = 6.0;
const SAMPLE: f64 = 34.0;
const RADIUS: f64 = 6.5;
/// Groups that are named; how many more there are is said.
const MOST_GROUPS: usize = 16;
const NAME_LENGTH: usize = 28;

/// A legend that is as high as its entries need.
pub(super) struct Legend {
    pub markup: String,
    pub height: f64,
}

/// What an entry has before its words.
enum Sample {
    None,
    /// Share of the largest probability; solid for removals, dashed for additions.
    Line {
        class: &'static str,
        share: f64,
    },
    Mark(String),
}

/// Puts entries side by side, and begins a new row where one is full.
struct Flow {
    width: f64,
    left: f64,
    top: f64,
    markup: String,
}

impl Flow {
    fn begin_row(&mut self) {
        if self.left > 0.0 {
            (self.left, self.top) = (0.0, self.top + ROW);
        }
    }

    fn entry(&mut self, sample: &Sample, words: &str, class: &str) {
        let before = match sample {
            Sample::None => 0.0,
            Sample::Line { .. } => SAMPLE + NEAR,
            Sample::Mark(_) => 2.0 * RADIUS + NEAR,
        };
        let width = before + text_width(words, FONT);
        if self.left > 0.0 && self.left + width > self.width {
            self.begin_row();
        }
        let middle = self.top + ROW / 2.0;
        match sample {
            Sample::None => {}
            Sample::Line { class, share } => self.line(class, *share, middle),
            Sample::Mark(mark) => {
                push(
                    &mut self.markup,
                    format_args!("<g transform=\"translate({} {middle})\">{mark}</g>", pixels(self.left + RADIUS)),
                );
            }
        }
        push(
            &mut self.markup,
            format_args!(
                "<text class=\"{class}\" x=\"{}\" y=\"{}\" font-size=\"{FONT}\">{}</text>",
                pixels(self.left + before),
                pixels(middle + 0.36 * FONT),
                escape(words)
            ),
        );
        self.left += width + GAP;
    }

    fn line(&mut self, class: &str, share: f64, middle: f64) {
        let (from, to) = (pixels(self.left), pixels(self.left + SAMPLE));
        let place = format!("x1=\"{from}\" y1=\"{middle}\" x2=\"{to}\" y2=\"{middle}\"");
        if class == "loss" {
            push(&mut self.markup, format_args!("<line class=\"edge\" {place} stroke-width=\"1.2\"/>"));
        }
        if share > 0.0 {
            let ((width, opacity), dashes) = match class {
                "gain" => (faint_strength(share), format!(" stroke-dasharray=\"{DASHES}\"")),
                _ => (strength(share), String::new()),
            };
            let width = pixels(width);
            push(
                &mut self.markup,
                format_args!(
                    "<line class=\"{class}\" {place} stroke-width=\"{width}\" stroke-opacity=\"{opacity:.2}\"{dashes}/>"
                ),
            );
        }
    }
}

/// The legend of all panels. A scale of zero is that of changes which no panel has.
pub(super) fn legend(width: f64, scales: Scales, groups: Option<&Groups>) -> Legend {
    let mut flow = Flow { width, left: 0.0, top: 0.0, markup: String::new() };
    if scales.removal > 0.0 {
        flow.entry(&Sample::None, "Edge removed with probability", "text");
        for share in [0.0, 0.5, 1.0] {
            flow.entry(&Sample::Line { class: "loss", share }, &plain(share * scales.removal), "text");
        }
    }
    if scales.addition > 0.0 {
        flow.begin_row();
        flow.entry(&Sample::None, "Edge added with probability", "text");
        for share in [0.5, 1.0] {
            flow.entry(&Sample::Line { class: "gain", share }, &plain(share * scales.addition), "text");
        }
    }
    if let Some(groups) = groups {
        flow.begin_row();
        let mut title: Vec<char> = groups.title().chars().collect();
        title.iter_mut().take(1).for_each(|first| *first = first.to_ascii_uppercase());
        flow.entry(&Sample::None, &title.into_iter().collect::<String>(), "text");
        for (group, name) in groups.names().iter().enumerate().take(MOST_GROUPS) {
            let sample = mark(groups.shape(group), [0.0, 0.0], RADIUS, &groups.paint(group));
            flow.entry(&Sample::Mark(sample), &shortened(name, NAME_LENGTH), "text");
        }
        if groups.names().len() > MOST_GROUPS {
            let more = format!("and {} more", groups.names().len() - MOST_GROUPS);
            flow.entry(&Sample::None, &more, "quiet");
        }
    }
    flow.begin_row();
    Legend { height: flow.top, markup: flow.markup }
}

/// The next round number at or above a probability: 1, 2 or 5 of some decimal place.
pub(super) fn round_up(probability: f64) -> f64 {
    if probability <= 0.0 {
        return 0.0;
    }
    let place = probability.log10().floor() as i32;
    let candidates = [1.0, 2.0, 5.0, 10.0].map(|digit: f64| format!("{digit}e{place}").parse().unwrap_or(probability));
    candidates.into_iter().find(|candidate| *candidate >= probability * (1.0 - 1e-6)).unwrap_or(probability)
}

/// A round number as one writes it.
fn plain(number: f64) -> String {
    match number {
        number if number == 0.0 || number >= 1e-4 => format!("{number}"),
        number => format!("{number:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{plain, round_up};

    #[test]
    fn scales_end_at_round_numbers() {
        let ends = [0.0, 0.1266, 1.0, 0.999, 0.02, 0.000034].map(|largest| plain(round_up(largest)));
        assert_eq!(ends, ["0", "0.2", "1", "1", "0.02", "5e-5"]);
        assert_eq!(plain(0.5 * round_up(0.0051)), "0.005");
    }
}
