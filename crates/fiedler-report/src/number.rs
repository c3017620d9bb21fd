//! Numbers for people: enough digits to use, no more.

/// A whole number with its thousands set apart.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of things, in words that fit it.
pub fn several(number: usize, thing: &str) -> String {
    match number {
        0 => format!("no {thing}"),
        1 => format!("1 {thing}"),
        _ => format!("{} {thing}s", count(number)),
    }
}

/// A real number with as many digits as a person can use.
pub fn figure(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        size if size >= 100.0 => format!("{number:.1}"),
        size if size >= 1.0 => format!("{number:.2}"),
        size if size >= 0.001 => format!("{number:.4}"),
        _ => format!("{number:.2e}"),
    }
}

/// A share of one as a percentage.
pub fn percent(share: f64) -> String {
    format!("{} %", figure(100.0 * share))
}

/// A time with its unit.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => format!("{:.0} ms", 1e3 * seconds),
        seconds if seconds < 100.0 => format!("{seconds:.1} s"),
        seconds if seconds < 5400.0 => format!("{:.1} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

/// An amount of memory with its unit.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        bytes if bytes < 1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        bytes if bytes < 1_000_000_000 => format!("{:.0} MB", bytes as f64 / 1e6),
        bytes => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// A mean with its deviation, as many digits as the deviation deserves.
pub fn mean_and_deviation(mean: f64, deviation: Option<f64>) -> String {
    let digits = if mean.abs() < 10.0 { 4 } else { 2 };
    match deviation {
        Some(deviation) => format!("{mean:.digits$} ± {deviation:.digits$}"),
        None => format!("{mean:.digits$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            ["0", "999", "1,000", "13,954,819"],
            [0, 999, 1000, 13_954_819].map(count).each_ref().map(String::as_str)
        );
        assert_eq!(figure(2.4567), "2.46");
        assert_eq!(figure(0.24067), "0.2407");
        assert_eq!(figure(0.000012), "1.20e-5");
        assert_eq!(percent(0.0088), "0.8800 %");
        assert_eq!([0.0123, 12.34, 660.0, 7200.0].map(seconds), ["12 ms", "12.3 s", "11.0 min", "2.0 h"]);
        assert_eq!([1_500, 72_871_936, 1_100_000_000].map(bytes), ["2 kB", "73 MB", "1.10 GB"]);
        assert_eq!(mean_and_deviation(84.4921, Some(0.638)), "84.49 ± 0.64");
    }
}
