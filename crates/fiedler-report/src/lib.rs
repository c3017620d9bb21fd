//! Pictures, tables and self-contained pages of graphs, augmentation schemes and runs.
//!
//! A [`Figure`] is a picture with its words; it stands in a page, or alone as a file for a paper.

pub mod drawing;
mod figure;
pub mod theme;

pub use figure::Figure;
