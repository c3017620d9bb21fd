//! Pixels out of SVG.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::error::{Error, Result};

const TYPEFACE: &[u8] = include_bytes!("../font/DejaVuSans-subset.ttf");
const FAMILY: &str = "DejaVu Sans";
/// Pixels on a side at most; a larger picture is drawn smaller.
const LARGEST: f32 = 8000.0;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(TYPEFACE.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    fonts.set_serif_family(FAMILY);
    fonts.set_monospace_family(FAMILY);
    Arc::new(fonts)
});

/// Draws an SVG file at so many pixels for each of its units.
pub fn render(name: &str, svg: &str, scale: f32) -> Result<Vec<u8>> {
    let refuse = |problem: String| Error::Picture { name: name.to_owned(), problem };
    let options = Options { font_family: FAMILY.into(), fontdb: FONTS.clone(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| refuse(error.to_string()))?;
    let size = tree.size();
    let scale = scale.min(LARGEST / size.width().max(size.height()));
    let pixels = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()));
    let mut pixmap = pixmap.ok_or_else(|| refuse("it has no size".into()))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| refuse(error.to_string()))
}
