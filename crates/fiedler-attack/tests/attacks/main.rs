//! Attacks as a user meets them.

mod common;
mod degree_test;
mod flips;
mod published;
mod running;
