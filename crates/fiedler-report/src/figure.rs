use crate::error::Result;
use crate::markup::escape;
use crate::theme;

/// A picture with its words.
///
/// The picture is an `<svg>` element that names its colors only by the classes of [`theme`], so that a page can show
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

/// Pixels of a PNG file for each unit of the picture: sharp in print at the width of a column.
#[cfg(feature = "png")]
const SCALE: f32 = 3.0;

impl Figure {
    /// The picture as a file of its own: light, on white, with its colors inside.
    pub fn to_svg_file(&self) -> String {
        let style = format!("<style>{}</style>", theme::light_style());
        let Some(end) = self.svg.find('>') else { return self.svg.clone() };
        let (opening, rest) = self.svg.split_at(end);
        let namespace = if opening.contains("xmlns=") { "" } else { " xmlns=\"http://www.w3.org/2000/svg\"" };
        let paper = match self.view_box() {
            Some([x, y, width, height]) => {
                format!("<rect class=\"paper\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>")
            }
            None => String::new(),
        };
        let words = format!("<title>{}</title><desc>{}</desc>", escape(&self.title), escape(&self.alternative));
        format!("{opening}{namespace}>{words}{style}{paper}{}\n", &rest[1..])
    }

    /// The picture as a PNG file, with a typeface that the program brings along: the same bytes on every machine.
    ///
    /// # Errors
    /// When the SVG is not well-formed, or the crate was built without the feature `png`.
    #[cfg(feature = "png")]
    pub fn to_png(&self) -> Result<Vec<u8>> {
        crate::png::render(&self.name, &self.to_svg_file(), SCALE)
    }

    /// The picture as a PNG file: this build has no means to make one.
    ///
    /// # Errors
    /// Always; see [`Error::hint`](crate::Error::hint).
    #[cfg(not(feature = "png"))]
    pub fn to_png(&self) -> Result<Vec<u8>> {
        Err(crate::Error::WithoutPng)
    }

    /// Whether a page should give it the whole width.
    pub(crate) fn is_wide(&self) -> bool {
        self.view_box().is_some_and(|[_, _, width, _]| width > 600.0)
    }

    fn view_box(&self) -> Option<[f64; 4]> {
        let (_, rest) = self.svg.split_once("viewBox=\"")?;
        let numbers: Vec<f64> =
            rest.split('"').next()?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        numbers.try_into().ok()
    }
}
