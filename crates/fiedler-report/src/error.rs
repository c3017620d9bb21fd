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
    /// Built without the feature `png`.
    #[error("this build cannot make PNG files")]
    WithoutPng,
}

impl Error {
    /// What the user can do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::WithoutPng => Some("build with the feature `png`, or take the SVG file".into()),
            Error::Picture { .. } | Error::Page(_) => None,
        }
    }
}

/// The result of making a picture or a page.
pub type Result<T, E = Error> = std::result::Result<T, E>;
