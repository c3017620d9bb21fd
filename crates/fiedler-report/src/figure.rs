use crate::theme;

/// A picture with its words.
///
/// The picture is an `<svg>` element that names its colours only by the classes of [`theme`], so that a page can show
/// it light or dark. Everything of a user's in it (names of nodes, of datasets) is escaped already.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Name for files and links: lower case, digits and dashes.
    pub name: String,
    /// A few words above the picture.
    pub title: String,
    /// One or two sentences below it: what one sees, and what to make of it.
    pub caption: String,
    /// What the picture shows, for someone who can't see it.
    pub alternative: String,
    /// The `<svg …>…</svg>` element with its `viewBox`.
    pub svg: String,
}

impl Figure {
    /// The picture as a file of its own: light, on white, with its colours inside.
    pub fn to_svg_file(&self) -> String {
        let style = format!("<style>{}</style>", theme::light_style());
        match self.svg.find('>') {
            Some(end) => format!("{}{style}{}\n", &self.svg[..=end], &self.svg[end + 1..]),
            None => self.svg.clone(),
        }
    }
}
