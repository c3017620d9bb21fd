//! What lines and colors mean.

use super::groups::Groups;
use super::panel::{DASHES, Scales, Strength, mark, removal};
use super::svg::{push, shortened};
use crate::markup::{escape, pixels};
use crate::plot::label;

const REMOVED: &str = "Edge removed with probability";
const ADDED: &str = "Edge added with probability";
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
    Removal(Option<Strength>),
    Addition(Strength),
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
            Sample::Removal(_) | Sample::Addition(_) => SAMPLE + NEAR,
            Sample::Mark(_) => 2.0 * RADIUS + NEAR,
        };
        let width = before + label::width(words, FONT);
        if self.left > 0.0 && self.left + width > self.width {
            self.begin_row();
        }
        let middle = self.top + ROW / 2.0;
        match sample {
            Sample::None => {}
            Sample::Removal(strength) => {
                let line = removal(&self.place(middle), *strength);
                self.markup.push_str(&line);
            }
            Sample::Addition(Strength { width, opacity }) => {
                let (place, width) = (self.place(middle), pixels(*width));
                push(
                    &mut self.markup,
                    format_args!(
                        "<line class=\"gain\" {place} stroke-width=\"{width}\" stroke-opacity=\"{opacity:.2}\" \
                         stroke-dasharray=\"{DASHES}\"/>"
                    ),
                );
            }
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

    /// Where a sample of a line is drawn.
    fn place(&self, middle: f64) -> String {
        let (from, to) = (pixels(self.left), pixels(self.left + SAMPLE));
        format!("x1=\"{from}\" y1=\"{middle}\" x2=\"{to}\" y2=\"{middle}\"")
    }
}

/// The legend of all panels, with the groups that are shown in them. A scale of zero is that of changes which no panel has.
pub(super) fn legend(width: f64, scales: Scales, groups: Option<&Groups>, shown: &[usize]) -> Legend {
    let mut flow = Flow { width, left: 0.0, top: 0.0, markup: String::new() };
    if scales.removal > 0.0 {
        flow.entry(&Sample::None, REMOVED, "text");
        for probability in [0.0, 0.5 * scales.removal, scales.removal] {
            flow.entry(&Sample::Removal(scales.of_removal(probability)), &plain(probability), "text");
        }
    }
    if scales.addition > 0.0 {
        flow.begin_row();
        flow.entry(&Sample::None, ADDED, "text");
        // Samples stand below those of removals.
        flow.left = flow.left.max(label::width(REMOVED, FONT) + GAP);
        for probability in [0.5 * scales.addition, scales.addition] {
            flow.entry(&Sample::Addition(scales.of_addition(probability)), &plain(probability), "text");
        }
    }
    if let Some(groups) = groups {
        flow.begin_row();
        let mut title: Vec<char> = groups.title().chars().collect();
        title.iter_mut().take(1).for_each(|first| *first = first.to_ascii_uppercase());
        flow.entry(&Sample::None, &title.into_iter().collect::<String>(), "text");
        for &group in shown.iter().take(MOST_GROUPS) {
            let name = groups.names().get(group).map_or("", String::as_str);
            let sample = mark(groups.shape(group), [0.0, 0.0], RADIUS, &groups.paint(group));
            flow.entry(&Sample::Mark(sample), &shortened(name, NAME_LENGTH), "text");
        }
        if shown.len() > MOST_GROUPS {
            let more = format!("and {} more", shown.len() - MOST_GROUPS);
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
