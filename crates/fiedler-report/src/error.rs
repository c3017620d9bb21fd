/// What can go wrong when pictures are made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A picture's SVG cannot be turned into pixels.
    #[error("the picture {name:?} cannot be drawn as PNG: {problem}")]
    Picture {
        /// The picture.
        name: String,
        /// What the renderer says.
        problem: String,
    },
    /// A page cannot be put together.
    #[error("the page cannot be put together: {0}")]
    Page(#[from] askama::Error),
}

/// The result of making a picture or a page.
pub type Result<T, E = Error> = std::result::Result<T, E>;
