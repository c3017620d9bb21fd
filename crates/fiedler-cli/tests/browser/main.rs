//! Pages in a browser: everything is drawn, pointing and switching work, nothing is asked of a network.
//!
//! Skipped by name where there is no Chromium; `FIEDLER_BROWSER` names another one.
#![allow(clippy::unwrap_used)]

mod chromium;
mod pages;
