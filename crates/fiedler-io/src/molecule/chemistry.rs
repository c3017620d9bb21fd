//! The molecule that a SMILES describes, by the rules of RDKit.

use chematic_smiles::{OgbGraphFeatures, SmilesError, ogb_graph_features, rdkit_detect_chemistry_problems};

use super::syntax::Layout;
#[cfg(doc)]
use super::{ATOM_CARDINALITIES, BOND_CARDINALITIES};
use super::{InvalidSmiles, former_rules};

/// A molecule's atoms and bonds as category codes.
///
/// ```
/// use fiedler_io::molecule::Molecule;
///
/// let phenol = Molecule::from_smiles("Oc1ccccc1")?;
/// assert_eq!((phenol.atoms.len(), phenol.bonds.len()), (7, 7));
/// assert_eq!(phenol, Molecule::from_smiles("OC1=CC=CC=C1")?);
///
/// let open = Molecule::from_smiles("Oc1ccccc").unwrap_err();
/// assert_eq!(open.to_string(), "character 3: ring 1 is never closed");
/// # Ok::<(), fiedler_io::molecule::InvalidSmiles>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Molecule {
    /// The codes of each atom, columns as in [`ATOM_CARDINALITIES`].
    pub atoms: Vec<[u8; 9]>,
    /// The bonds, each once.
    pub bonds: Vec<Bond>,
}

/// A bond between two atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bond {
    /// The atoms it joins, by their places in [`Molecule::atoms`].
    pub ends: (u32, u32),
    /// Its codes, columns as in [`BOND_CARDINALITIES`].
    pub codes: [u8; 3],
}

impl Molecule {
    /// Reads a molecule from SMILES. What follows the first white space is a name, and ignored.
    ///
    /// # Errors
    /// When the text breaks the grammar, an atom has more bonds than it can, aromatic atoms cannot be given alternating
    /// double bonds, or the molecule is larger than 2,000 atoms.
    pub fn from_smiles(text: &str) -> Result<Molecule, InvalidSmiles> {
        let text = text.split_whitespace().next().unwrap_or_default();
        let layout = Layout::of(text)?;
        let plain = layout.plain_spelling(text);
        let parsed = chematic_smiles::parse(&plain).map_err(|error| unparsed(error, &layout))?;
        if let Ok(graph) = ogb_graph_features(&parsed) {
            let molecule = Molecule::from(graph);
            return match former_rules::unwritten_donor(&molecule, &plain) {
                Some(donor) => Err(InvalidSmiles {
                    // Hydrogens written as atoms are gone by now.
                    position: layout.position_of(donor).filter(|_| layout.atoms() == molecule.atoms.len()),
                    why: "the atom has more bonds than is possible, one of them to a metal".into(),
                }),
                None => Ok(molecule),
            };
        }
        let problems = rdkit_detect_chemistry_problems(&parsed).unwrap_or_default();
        if let Some(molecule) = former_rules::read_tolerantly(&plain, &parsed, &problems) {
            return Ok(molecule);
        }
        Err(match problems.first() {
            Some(problem) => {
                let position = problem.atoms.first().and_then(|&atom| layout.position_of(atom));
                InvalidSmiles { position, why: explain(&problem.kind, &problem.message) }
            }
            None => InvalidSmiles { position: None, why: "its rings are tangled beyond what can be perceived".into() },
        })
    }
}

impl From<OgbGraphFeatures> for Molecule {
    fn from(graph: OgbGraphFeatures) -> Molecule {
        // Every bond is listed in both directions, one after the other.
        let once = graph.edge_index.iter().zip(&graph.edge_feat).step_by(2);
        Molecule {
            atoms: graph.node_feat.iter().map(|codes| codes.map(|code| code as u8)).collect(),
            bonds: once
                .map(|(&[a, b], codes)| Bond { ends: (a as u32, b as u32), codes: codes.map(|code| code as u8) })
                .collect(),
        }
    }
}

/// What the parser found wrong inside brackets and rings; the rest [`Layout::of`] has found before.
fn unparsed(error: SmilesError, layout: &Layout) -> InvalidSmiles {
    let (position, why) = match error {
        SmilesError::UnknownElement { symbol, pos } => (Some(pos), format!("no element is called {symbol:?}")),
        SmilesError::InvalidBracketAtom { detail, pos } => (Some(pos), detail),
        SmilesError::ConflictingRingBond { ring_num, pos } => (pos.checked_sub(1), conflicting(ring_num.into())),
        SmilesError::ConflictingExtendedRingBond { ring_num, pos } => (pos.checked_sub(1), conflicting(ring_num)),
        SmilesError::UnsupportedChiralityClass { class, pos } => (Some(pos), format!("there is no chirality @{class}")),
        SmilesError::UnexpectedCharacter { pos } => (Some(pos), "nothing that SMILES knows".into()),
        SmilesError::InvalidValence { element, atom, valence, max } => {
            let why = format!("{element} has valence {valence}, at most {max} is possible");
            return InvalidSmiles { position: layout.position_of(atom), why };
        }
        other => (None, other.to_string()),
    };
    // Where the text was respelled, the parser's positions are not the user's.
    InvalidSmiles { position: position.filter(|_| !layout.is_respelled()).map(|position| position + 1), why }
}

fn conflicting(ring: u32) -> String {
    format!("ring {ring} is opened with one kind of bond and closed with another")
}

/// RDKit's reasons in plain words.
fn explain(kind: &str, message: &str) -> String {
    if kind == "AtomValenceException" {
        // "Explicit valence for atom # 3 Al, 6, is greater than permitted"
        let found = message.split("# ").nth(1).and_then(|rest| rest.split_once(' '));
        return match found.and_then(|(_, rest)| rest.split_once(',')) {
            Some((element, rest)) => {
                let valence: String = rest.chars().filter(char::is_ascii_digit).collect();
                format!("{element} has valence {valence}, more than is possible")
            }
            None => "the atom has more bonds than is possible".into(),
        };
    }
    if message.contains("non-ring") {
        return "the atom is written as aromatic but is in no ring".into();
    }
    "the aromatic atoms cannot be given alternating double bonds".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(smiles: &str) -> Molecule {
        Molecule::from_smiles(smiles).unwrap_or_else(|error| panic!("{smiles}: {error}"))
    }

    fn refusal(smiles: &str) -> String {
        match Molecule::from_smiles(smiles) {
            Ok(_) => panic!("{smiles} was read"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn describes_the_molecule_of_the_benchmark_documentation() {
        let molecule = read("Cl[C@H](/C=C/C)Br");
        assert_eq!(molecule.atoms[1], [5, 2, 4, 5, 1, 0, 2, 0, 0]);
        assert_eq!(molecule.bonds[2], Bond { ends: (2, 3), codes: [1, 2, 0] });
    }

    #[test]
    fn reads_every_way_to_write_a_molecule() {
        let sizes = [
            ("c1ccccc1", 6, 6),
            ("C1CC2CCC1C2", 7, 8),
            ("C%10CCCC%10", 5, 5),
            ("C%(7)CCCC%(7)", 5, 5),
            ("C%(123)CCCC%(123)", 5, 5),
            ("C=1CCCC=1", 5, 5),
            ("C(CCC1)1", 4, 4),
            ("[Na+].[Cl-]", 2, 0),
            ("[13CH4]", 1, 0),
            ("*C", 2, 1),
            ("C$C", 2, 1),
            ("[H]C([H])([H])O", 2, 1),
            ("[H][H]", 2, 1),
            ("[2H]O", 2, 1),
            ("[C@TH1](F)(Cl)(Br)I", 5, 4),
            ("F[P@TB1](F)(F)(Cl)Br", 6, 5),
            ("[nH]1cccc1", 5, 5),
            ("[se]1cccc1", 5, 5),
            ("[O-][N+](=O)c1ccccc1", 9, 9),
            ("C[N](C)(C)->[Co]", 5, 4),
            ("CC=C(C)C nobody's name", 5, 4),
        ];
        for (smiles, atoms, bonds) in sizes {
            let molecule = read(smiles);
            assert_eq!((molecule.atoms.len(), molecule.bonds.len()), (atoms, bonds), "{smiles}");
        }
    }

    #[test]
    fn doubled_backslashes_mean_one() {
        assert_eq!(read(r"C/C=C\\C"), read(r"C/C=C\C"));
        assert_ne!(read(r"C/C=C/C"), read(r"C/C=C\C"));
    }

    #[test]
    fn says_where_the_text_goes_wrong_and_why() {
        let refusals = [
            ("", "the text is empty"),
            ("CC1CC", "character 3: ring 1 is never closed"),
            ("C%12CC", "character 2: ring 12 is never closed"),
            ("C11", "character 3: ring 1 closes on the atom that opened it"),
            ("C%1", "character 2: % is not followed by the number of a ring"),
            ("C-1CCCC=1", "character 9: ring 1 is opened with one kind of bond and closed with another"),
            ("CC(C", "character 3: the branch is never closed"),
            ("CC)C", "character 3: there is no branch to close"),
            ("CC()C", "character 4: the branch is empty"),
            ("(C)C", "character 1: a branch needs an atom before it"),
            ("=C", "character 1: a bond needs an atom before it"),
            ("C=", "character 2: the bond leads to no atom"),
            ("C(=)C", "character 3: the bond leads to no atom"),
            ("C=-C", "character 3: there are two bonds in a row"),
            ("1CC1", "character 1: a ring needs an atom before it"),
            ("C..C", "character 3: the dot stands between no two parts"),
            ("C.", "character 2: the dot stands between no two parts"),
            ("C[NH", "character 2: the bracket is never closed"),
            ("CQ", "character 2: \"Q\" is no atom outside brackets"),
            ("C~C", "character 2: \"~\" is a query, not a bond"),
            ("CÅ", "character 2: \"Å\" is no atom outside brackets"),
            ("C(C)(C)(C)(C)C", "character 1: C has valence 5, more than is possible"),
            ("CCO(C)C", "character 3: O has valence 3, at most 2 is possible"),
            ("C=N(C)[Co]", "character 3: the atom has more bonds than is possible, one of them to a metal"),
            ("Cc1cccc1", "character 2: the aromatic atoms cannot be given alternating double bonds"),
            ("CCn", "character 3: the atom is written as aromatic but is in no ring"),
        ];
        for (smiles, expected) in refusals {
            assert_eq!(refusal(smiles), expected, "{smiles}");
        }
        assert_eq!(refusal("CC[Xx]"), "character 4: missing element symbol");
    }

    #[test]
    fn hostile_text_is_refused_in_time() {
        for smiles in
            ["[C+999]", "[C-128]", "[CH999]", "[99999999999C]", "[C:99999999]", "C%(99999999999)C", "[C@TB99]"]
        {
            let _ = Molecule::from_smiles(smiles);
        }
        let nested = format!("{}C{}", "C(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(refusal(&nested), "character 802: branches are nested more than 400 deep");
        assert!(refusal(&"C".repeat(100_000)).contains("more than 2000 atoms"));
        read(&"C".repeat(2000));
        read(&format!("{}C{}", "C(".repeat(400), ")".repeat(400)));
        read(&format!("C1{}1", "C".repeat(1900)));
        read(&"C1CCCC1".repeat(300));
    }

    #[test]
    fn accepts_the_valences_the_benchmarks_were_made_with() {
        let aluminium = read("CC(=O)O[AlH3](O)O");
        assert_eq!(aluminium.atoms[4], [12, 0, 6, 5, 3, 0, 3, 0, 0]);
        assert_eq!(read("CP(=O)(=O)(O)C").atoms[1][0], 14);
    }
}
