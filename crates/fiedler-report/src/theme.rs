//! The classes that pictures name their colours by, and the colours of each theme.
//!
//! Pages define the classes with CSS variables and so switch between light and dark; a picture in a file of its own
//! carries [`light_style`], plain colours only, because programs that turn SVG into other formats know no variables.

/// How many classes `series-0`, `series-1`, … there are; more groups than that share colours and differ by shape.
pub const SERIES: usize = 8;

/// Okabe and Ito's colours, which people with any kind of colour vision can tell apart; black is last, for light pages.
const LIGHT_SERIES: [&str; SERIES] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a00", "#444444"];

/// The rules of the light theme with plain colours.
///
/// | class | of |
/// |---|---|
/// | `series-N` with `fill` or `line` | what belongs to the N-th group: filled, or as a stroke without filling |
/// | `axis`, `grid` | lines of axes, and those behind the data |
/// | `text`, `quiet` | words; words that matter less |
/// | `node`, `edge` | what a graph is drawn with |
/// | `gain`, `loss` | an edge that may be added, or removed |
pub fn light_style() -> String {
    let mut style = String::from(
        ".paper{fill:#fff}.text{fill:#222;font-family:sans-serif}.quiet{fill:#666;font-family:sans-serif}\
         .axis{stroke:#444;fill:none}.grid{stroke:#ddd;fill:none}.node{fill:#555;stroke:#fff}\
         .edge{stroke:#999;fill:none}.gain{stroke:#0072b2;fill:none}.loss{stroke:#d55e00;fill:none}",
    );
    for (number, colour) in LIGHT_SERIES.iter().enumerate() {
        style.push_str(&format!(".series-{number}.fill{{fill:{colour}}}"));
        style.push_str(&format!(".series-{number}.line{{stroke:{colour};fill:none}}"));
    }
    style
}
