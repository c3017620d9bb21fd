//! Marks that differ by shape, so that nobody needs their colors to tell them apart.

use crate::markup::{escape, pixels};

/// A filled mark of about the same area whatever its shape; what it says when pointed at, if anything.
pub fn mark(shape: usize, (x, y): (f64, f64), radius: f64, attributes: &str, title: &str) -> String {
    let at = |dx: f64, dy: f64| format!("{} {}", pixels(x + dx * radius), pixels(y + dy * radius));
    let (element, form) = match shape % 4 {
        0 => ("circle", format!("cx=\"{}\" cy=\"{}\" r=\"{}\"", pixels(x), pixels(y), pixels(radius))),
        1 => ("path", format!("d=\"M{}L{}L{}L{}z\"", at(-0.9, -0.9), at(0.9, -0.9), at(0.9, 0.9), at(-0.9, 0.9))),
        2 => ("path", format!("d=\"M{}L{}L{}z\"", at(0.0, -1.25), at(1.15, 0.85), at(-1.15, 0.85))),
        _ => ("path", format!("d=\"M{}L{}L{}L{}z\"", at(0.0, -1.3), at(1.3, 0.0), at(0.0, 1.3), at(-1.3, 0.0))),
    };
    let space = if attributes.is_empty() { "" } else { " " };
    match title {
        "" => format!("<{element} {form}{space}{attributes}/>"),
        title => format!("<{element} {form}{space}{attributes}><title>{}</title></{element}>", escape(title)),
    }
}
