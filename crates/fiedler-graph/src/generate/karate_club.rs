//! Zachary's karate club.

use super::spec::Spec;
use crate::dataset::Dataset;
use crate::labels::{Classes, Labels};

pub(super) const SPEC: Spec = Spec {
    name: "karate",
    about: "Zachary's karate club: 34 members, 78 friendships, two factions",
    parameters: &[],
    defaults: serde_json::Map::new,
    make: |_, _| Ok(karate_club()),
};

const MEMBERS: usize = 34;

/// Each member with the friends that come later in the club's list.
const FRIENDS: &[(u32, &[u32])] = &[
    (0, &[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31]),
    (1, &[2, 3, 7, 13, 17, 19, 21, 30]),
    (2, &[3, 7, 8, 9, 13, 27, 28, 32]),
    (3, &[7, 12, 13]),
    (4, &[6, 10]),
    (5, &[6, 10, 16]),
    (6, &[16]),
    (8, &[30, 32, 33]),
    (9, &[33]),
    (13, &[33]),
    (14, &[32, 33]),
    (15, &[32, 33]),
    (18, &[32, 33]),
    (19, &[33]),
    (20, &[32, 33]),
    (22, &[32, 33]),
    (23, &[25, 27, 29, 32, 33]),
    (24, &[25, 27, 31]),
    (25, &[31]),
    (26, &[29, 33]),
    (27, &[33]),
    (28, &[31, 33]),
    (29, &[32, 33]),
    (30, &[32, 33]),
    (31, &[32, 33]),
    (32, &[33]),
];

/// The members that followed the officer when the club split; the others stayed with the instructor.
const OFFICER: &[u32] = &[9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33];

/// Zachary's karate club: 34 members, 78 friendships, and the faction each member chose (`Mr. Hi` or `Officer`) as its class.
///
/// W. W. Zachary, *An information flow model for conflict and fission in small groups*, 1977. Friendships are not weighted.
pub fn karate_club() -> Dataset {
    let pairs = FRIENDS.iter().flat_map(|&(member, friends)| friends.iter().map(move |&friend| (member, friend)));
    let mut dataset = super::dataset("karate", MEMBERS, pairs.collect()).expect("every friend is a member");
    let factions = (0..MEMBERS as u32).map(|member| if OFFICER.contains(&member) { "Officer" } else { "Mr. Hi" });
    dataset.node_labels = Some(Labels::Classes(Classes::from_labels(factions.map(Some))));
    dataset
}
