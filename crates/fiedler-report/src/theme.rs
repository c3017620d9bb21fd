//! The classes that pictures name their colors by, and the colors of each theme.
//!
//! Pages define the classes with CSS variables and so switch between light and dark; a picture in a file of its own
//! carries [`light_style`], plain colors only, because programs that turn SVG into other formats know no variables.
//!
//! | class | of |
//! |---|---|
//! | `series-N` with `fill` or `line` | what belongs to the N-th group: filled, or as a stroke without filling |
//! | `axis`, `grid` | lines of axes, and those behind the data |
//! | `text`, `quiet` | words; words that matter less |
//! | `node`, `edge` | what a graph is drawn with |
//! | `gain`, `loss` | an edge that may be added, or removed |
//! | `paper` | what lies behind everything |

/// How many classes `series-0`, `series-1`, … there are; more groups than that share colors and differ by shape.
pub const SERIES: usize = 8;

/// A color's name, and what it is in the light and in the dark theme.
///
/// The groups are Okabe and Ito's colors, which people with any kind of color vision can tell apart, a little lighter on
/// dark paper.
const COLOURS: [(&str, &str, &str); 18] = [
    ("paper", "#ffffff", "#16191f"),
    ("ink", "#222222", "#e6e6e6"),
    ("quiet", "#5f6368", "#a8adb5"),
    ("axis", "#444444", "#b0b4ba"),
    ("grid", "#dddddd", "#343941"),
    ("node", "#555555", "#c4c8ce"),
    ("edge", "#999999", "#7d838c"),
    ("gain", "#0072b2", "#4aa8e0"),
    ("loss", "#d55e00", "#f0853a"),
    ("accent", "#0b62a4", "#7cc0f2"),
    ("series-0", "#0072b2", "#4aa8e0"),
    ("series-1", "#d55e00", "#f0853a"),
    ("series-2", "#009e73", "#35c79c"),
    ("series-3", "#cc79a7", "#e3a2c6"),
    ("series-4", "#e69f00", "#f2bb4a"),
    ("series-5", "#56b4e9", "#9bd6f7"),
    ("series-6", "#8a8a00", "#c4c43c"),
    ("series-7", "#444444", "#dcdcdc"),
];

/// What every class looks like, its colors by their names.
const RULES: &str = "\
.paper{fill:var(--paper)}.text{fill:var(--ink);font-family:'DejaVu Sans',sans-serif}\
.quiet{fill:var(--quiet);font-family:'DejaVu Sans',sans-serif}.axis{stroke:var(--axis);fill:none}\
.grid{stroke:var(--grid);fill:none}.node{fill:var(--node);stroke:var(--paper)}.edge{stroke:var(--edge);fill:none}\
.gain{stroke:var(--gain);fill:none}.loss{stroke:var(--loss);fill:none}";

/// The rules of the light theme with plain colors.
pub fn light_style() -> String {
    let mut style = rules();

    for (name, light, _) in COLOURS {
        style = style.replace(&format!("var(--{name})"), light);
    }
    style
}

/// The rules of a page, which follows the reader's system or what `data-theme` of the root says.
pub fn page_style() -> String {
    let all = |color: fn(&(&str, &str, &str)) -> String| COLOURS.iter().map(color).collect::<String>();
    let light = all(|(name, light, _)| format!("--{name}:{light};"));
    let dark = all(|(name, _, dark)| format!("--{name}:{dark};"));
    format!(
        ":root{{color-scheme:light;{light}}}\
         @media(prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\
         :root[data-theme=dark]{{color-scheme:dark;{dark}}}{}",
        rules()
    )
}

fn rules() -> String {
    let mut rules = RULES.to_owned();
    for number in 0..SERIES {
        rules.push_str(&format!(".series-{number}.fill{{fill:var(--series-{number})}}"));
        rules.push_str(&format!(".series-{number}.line{{stroke:var(--series-{number});fill:none}}"));
    }
    rules
}

/// The class of a group, whatever its number.
pub(crate) fn series(number: usize) -> String {
    format!("series-{}", number % SERIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_needs_no_variables_and_a_page_defines_all_it_uses() {
        assert!(!light_style().contains("var("), "{}", light_style());
        let page = page_style();
        for used in page.split("var(").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert_eq!(page.matches(&format!("{used}:")).count(), 3, "{used}");
        }
    }
}
