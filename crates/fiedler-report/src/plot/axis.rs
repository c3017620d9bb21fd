//! Axes: from values to places, and the values that are worth a mark.

use crate::number::count;

/// How values are spread over an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    Linear,
    /// Equal ratios are equally long; values are positive.
    Logarithmic,
}

/// An axis with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is measured, with its unit.
    pub title: String,
    /// How values are spread.
    pub scale: Scale,
    /// What must be on the axis beside the data.
    pub includes: Vec<f64>,
    /// Whether only whole numbers have a meaning.
    pub whole: bool,
}

/// A marked value.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// The value.
    pub value: f64,
    /// How it is written.
    pub label: String,
}

impl Axis {
    /// An axis on which equal differences are equally long.
    pub fn linear(title: impl Into<String>) -> Axis {
        Axis { title: title.into(), scale: Scale::Linear, includes: Vec::new(), whole: false }
    }

    /// An axis on which equal ratios are equally long.
    pub fn logarithmic(title: impl Into<String>) -> Axis {
        Axis { scale: Scale::Logarithmic, ..Axis::linear(title) }
    }

    /// The axis with values that it must reach to.
    pub fn including(mut self, values: impl IntoIterator<Item = f64>) -> Axis {
        self.includes.extend(values);
        self
    }

    /// The axis with whole numbers only.
    pub fn of_whole_numbers(mut self) -> Axis {
        self.whole = true;
        self
    }

    /// The range that the values take, never empty; what has no place on the axis is passed over.
    pub(crate) fn range(&self, values: impl Iterator<Item = f64>, pad: f64) -> (f64, f64) {
        let fits = |value: &f64| value.is_finite() && (self.scale == Scale::Linear || *value > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(fits) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low <= high && self.scale == Scale::Linear {
            let room = pad * (high - low);
            (low, high) = (low - room, high + room);
        }
        for &value in self.includes.iter().filter(|value| fits(value)) {
            (low, high) = (low.min(value), high.max(value));
        }
        match (self.scale, low < high) {
            (Scale::Linear, true) => (low, high),
            (Scale::Logarithmic, true) => (low / 1.05, high * 1.05),
            (Scale::Linear, false) if low == high => {
                let room = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
                (low - room, low + room)
            }
            (Scale::Logarithmic, false) if low == high => (low / 2.0, low * 2.0),
            (Scale::Linear, false) => (0.0, 1.0),
            (Scale::Logarithmic, false) => (1.0, 10.0),
        }
    }

    /// Where a value lies, from 0 at the low end to 1 at the high end.
    pub(crate) fn share(&self, value: f64, (low, high): (f64, f64)) -> f64 {
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Logarithmic => (value.max(low).ln() - low.ln()) / (high.ln() - low.ln()),
        }
    }

    /// The values worth a mark, about as many as wanted.
    pub fn ticks(&self, range: (f64, f64), wanted: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.even_ticks(range, wanted),
            Scale::Logarithmic => logarithmic_ticks(range, wanted).unwrap_or_else(|| self.even_ticks(range, wanted)),
        }
    }

    fn even_ticks(&self, (low, high): (f64, f64), wanted: usize) -> Vec<Tick> {
        let rough = (high - low) / wanted.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        // The round step that is nearest in ratio.
        let mut step = match rough / power {
            factor if factor < 2f64.sqrt() => power,
            factor if factor < 10f64.sqrt() => 2.0 * power,
            factor if factor < 50f64.sqrt() => 5.0 * power,
            _ => 10.0 * power,
        };
        if self.whole {
            step = step.max(1.0);
        }
        if !(step.is_finite() && step > 0.0) {
            return Vec::new();
        }
        let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
        // Values that differ less than their own precision give no steps to count.
        (first..=last.min(first.saturating_add(50)))
            .map(|place| Tick { value: place as f64 * step, label: written(place as f64 * step, step) })
            .collect()
    }
}

/// Powers of ten, or their simple multiples where there are few; none where the range is within one such step.
fn logarithmic_ticks((low, high): (f64, f64), wanted: usize) -> Option<Vec<Tick>> {
    let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let within = |value: &f64| *value >= low * 0.999 && *value <= high * 1.001;
    for factors in [&[1.0][..], &[1.0, 3.0], &[1.0, 2.0, 5.0]] {
        let values: Vec<f64> = decades
            .clone()
            .flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powi(decade)))
            .filter(within)
            .collect();
        if values.len() >= 3 {
            let every = values.len().div_ceil(wanted.max(3) + 2);
            let kept = values.into_iter().step_by(every);
            return Some(kept.map(|value| Tick { value, label: written(value, value) }).collect());
        }
    }
    None
}

/// A value to the precision of the steps between ticks.
fn written(value: f64, step: f64) -> String {
    let value = if value.abs() < step * 1e-6 { 0.0 } else { value };
    let largest = value.abs().max(step);
    if value == 0.0 && !(1e-3..1e7).contains(&step) {
        return "0".into();
    }
    if !(1e-3..1e7).contains(&largest) {
        return in_powers(value, step);
    }
    let digits = (-step.log10() - 1e-9).ceil().clamp(0.0, 9.0) as usize;
    if digits == 0 {
        let sign = if value < 0.0 { "−" } else { "" };
        return format!("{sign}{}", count(value.abs().round() as usize));
    }
    format!("{value:.digits$}").replace('-', "−")
}

/// A value as a multiple of a power of ten.
fn in_powers(value: f64, step: f64) -> String {
    let power = value.abs().log10().floor();
    let digits = (power - step.log10() - 1e-9).ceil().clamp(0.0, 3.0) as usize;
    let factor = format!("{:.digits$}", value / 10f64.powf(power)).replace('-', "−");
    let raised: String = format!("{power:.0}").chars().map(superscript).collect();
    match factor.as_str() {
        "1" => format!("10{raised}"),
        factor => format!("{factor}·10{raised}"),
    }
}

fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => digit.to_digit(10).and_then(|value| char::from_u32(0x2070 + value)).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, range: (f64, f64), wanted: usize) -> Vec<String> {
        axis.ticks(range, wanted).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_written_to_the_precision_of_their_steps() {
        let axis = Axis::linear("");
        assert_eq!(labels(&axis, (0.0, 1.0), 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&axis, (-3.0, 12.0), 4), ["0", "5", "10"]);
        assert_eq!(labels(&axis, (12.6, 13.9), 5), ["12.6", "12.8", "13.0", "13.2", "13.4", "13.6", "13.8"]);
        assert_eq!(labels(&axis, (0.0, 13_000.0), 3), ["0", "5,000", "10,000"]);
        assert_eq!(labels(&axis, (-0.02, 0.02), 4), ["−0.02", "−0.01", "0.00", "0.01", "0.02"]);
        assert_eq!(labels(&axis, (0.0, 3e-5), 3), ["0", "10⁻⁵", "2·10⁻⁵", "3·10⁻⁵"]);
        assert_eq!(labels(&Axis::linear("").of_whole_numbers(), (1.0, 3.0), 6), ["1", "2", "3"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_or_their_simple_multiples() {
        let axis = Axis::logarithmic("");
        assert_eq!(labels(&axis, (1.0, 1000.0), 4), ["1", "10", "100", "1,000"]);
        assert_eq!(labels(&axis, (1.0, 40.0), 5), ["1", "3", "10", "30"]);
        assert_eq!(labels(&axis, (0.001, 1.0), 5), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(&axis, (3.0, 4.0), 2), ["3.0", "3.5", "4.0"]);
    }

    #[test]
    fn a_range_is_never_empty() {
        let none = std::iter::empty();
        assert_eq!(Axis::linear("").range(none.clone(), 0.1), (0.0, 1.0));
        assert_eq!(Axis::logarithmic("").range([0.0, -3.0].into_iter(), 0.1), (1.0, 10.0));
        assert_eq!(Axis::linear("").range([5.0, f64::NAN, 5.0].into_iter(), 0.1), (4.5, 5.5));
        assert_eq!(Axis::linear("").including([0.0]).range([2.0, 4.0].into_iter(), 0.0), (0.0, 4.0));
    }
}
