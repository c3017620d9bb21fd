//! The grammar of SMILES around its atoms: what is opened and closed, and where.
//!
//! A single pass without recursion, ahead of the parser, so that every mistake is named at its place in the text and no text
//! can make the parser go deep.

#![cfg_attr(not(feature = "molecules"), allow(dead_code))]

use std::borrow::Cow;

use super::InvalidSmiles;

/// Perception of rings takes more than linear time; no small molecule comes near this.
const MAX_ATOMS: usize = 2_000;
/// The parser recurses into branches.
const MAX_NESTING: usize = 400;

/// Where the atoms stand in a text whose brackets, branches, bonds and rings fit together.
#[derive(Debug, Default)]
pub(super) struct Layout {
    atoms: Vec<usize>,
    respelled: bool,
}

impl Layout {
    /// Checks a text.
    pub(super) fn of(text: &str) -> Result<Layout, InvalidSmiles> {
        let mut scan = Scan {
            text,
            at: 0,
            before: Before::Start,
            layout: Layout::default(),
            branches: Vec::new(),
            atom: 0,
            rings: Vec::new(),
        };
        while scan.at < text.len() {
            scan.step()?;
        }
        scan.finish()
    }

    /// The position of an atom, counted from one.
    pub(super) fn position_of(&self, atom: usize) -> Option<usize> {
        self.atoms.get(atom).map(|position| position + 1)
    }

    /// Number of atoms, hydrogens that are written as atoms among them.
    pub(super) fn atoms(&self) -> usize {
        self.atoms.len()
    }

    /// Whether [`Layout::plain_spelling`] differs from the text.
    pub(super) fn is_respelled(&self) -> bool {
        self.respelled
    }

    /// The text with what RDKit reads and the parser does not: `\\` becomes `\`, `%(7)` becomes `%07`.
    pub(super) fn plain_spelling<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.respelled {
            return Cow::Borrowed(text);
        }
        let mut plain = text.replace(r"\\", r"\");
        for ring in 0..100 {
            if plain.contains("%(") {
                plain = plain.replace(&format!("%({ring})"), &format!("%{ring:02}"));
            }
        }
        Cow::Owned(plain)
    }
}

/// What stands before the place that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Start,
    Atom,
    Bond,
    Branch,
    Dot,
}

/// A branch that was opened and not closed yet.
#[derive(Debug, Clone, Copy)]
struct OpenBranch {
    position: usize,
    atom: usize,
}

/// A ring that was opened and not closed yet.
#[derive(Debug, Clone, Copy)]
struct OpenRing {
    number: u32,
    position: usize,
    atom: usize,
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    before: Before,
    layout: Layout,
    /// The branches that are open.
    branches: Vec<OpenBranch>,
    /// The atom that a bond, a ring or a branch would start from.
    atom: usize,
    rings: Vec<OpenRing>,
}

impl Scan<'_> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn step(&mut self) -> Result<(), InvalidSmiles> {
        match self.byte(0) {
            Some(b'(') => self.open_branch(),
            Some(b')') => self.close_branch(),
            Some(b'[') => match self.text[self.at..].find(']') {
                Some(length) => self.atom(length + 1),
                None => Err(InvalidSmiles::at(self.at, "the bracket is never closed")),
            },
            Some(b'.') => self.dot(),
            Some(b'-') if self.byte(1) == Some(b'>') => self.bond(2),
            Some(b'<') if self.byte(1) == Some(b'-') => self.bond(2),
            Some(b'\\') if self.byte(1) == Some(b'\\') => {
                self.layout.respelled = true;
                self.bond(2)
            }
            Some(b'-' | b'=' | b'#' | b'$' | b':' | b'/' | b'\\') => self.bond(1),
            Some(b'~') => Err(InvalidSmiles::at(self.at, "\"~\" is a query, not a bond")),
            Some(b'0'..=b'9' | b'%') => self.ring(),
            Some(b'C') if self.byte(1) == Some(b'l') => self.atom(2),
            Some(b'B') if self.byte(1) == Some(b'r') => self.atom(2),
            Some(b'B' | b'C' | b'N' | b'O' | b'P' | b'S' | b'F' | b'I' | b'*') => self.atom(1),
            Some(b'b' | b'c' | b'n' | b'o' | b'p' | b's') => self.atom(1),
            _ => {
                let found = self.text.get(self.at..).and_then(|rest| rest.chars().next()).unwrap_or_default();
                Err(InvalidSmiles::at(self.at, format!("{:?} is no atom outside brackets", found.to_string())))
            }
        }
    }

    fn atom(&mut self, length: usize) -> Result<(), InvalidSmiles> {
        if self.layout.atoms.len() == MAX_ATOMS {
            return Err(InvalidSmiles::at(self.at, format!("the molecule has more than {MAX_ATOMS} atoms")));
        }
        self.atom = self.layout.atoms.len();
        self.layout.atoms.push(self.at);
        self.moved(length, Before::Atom);
        Ok(())
    }

    fn bond(&mut self, length: usize) -> Result<(), InvalidSmiles> {
        match self.before {
            Before::Atom | Before::Branch => {
                self.moved(length, Before::Bond);
                Ok(())
            }
            Before::Bond => Err(InvalidSmiles::at(self.at, "there are two bonds in a row")),
            Before::Start | Before::Dot => Err(InvalidSmiles::at(self.at, "a bond needs an atom before it")),
        }
    }

    fn dot(&mut self) -> Result<(), InvalidSmiles> {
        if self.before == Before::Bond {
            return Err(InvalidSmiles::at(self.at - 1, "the bond leads to no atom"));
        }
        if self.before != Before::Atom {
            return Err(InvalidSmiles::at(self.at, "the dot stands between no two parts"));
        }
        if let Some(branch) = self.branches.last() {
            return Err(InvalidSmiles::at(branch.position, "the branch is not closed before the dot"));
        }
        self.moved(1, Before::Dot);
        Ok(())
    }

    fn open_branch(&mut self) -> Result<(), InvalidSmiles> {
        match self.before {
            Before::Atom => {}
            Before::Bond => {
                return Err(InvalidSmiles::at(self.at - 1, "the bond stands before a branch, not inside it"));
            }
            _ => return Err(InvalidSmiles::at(self.at, "a branch needs an atom before it")),
        }
        if self.branches.len() == MAX_NESTING {
            return Err(InvalidSmiles::at(self.at, format!("branches are nested more than {MAX_NESTING} deep")));
        }
        self.branches.push(OpenBranch { position: self.at, atom: self.atom });
        self.moved(1, Before::Branch);
        Ok(())
    }

    fn close_branch(&mut self) -> Result<(), InvalidSmiles> {
        match self.before {
            Before::Bond => return Err(InvalidSmiles::at(self.at - 1, "the bond leads to no atom")),
            Before::Branch => return Err(InvalidSmiles::at(self.at, "the branch is empty")),
            _ => {}
        }
        let Some(branch) = self.branches.pop() else {
            return Err(InvalidSmiles::at(self.at, "there is no branch to close"));
        };
        self.atom = branch.atom;
        self.moved(1, Before::Atom);
        Ok(())
    }

    /// A ring opens or closes.
    fn ring(&mut self) -> Result<(), InvalidSmiles> {
        let Some((number, length)) = self.ring_number() else {
            return Err(InvalidSmiles::at(self.at, "% is not followed by the number of a ring"));
        };
        if !matches!(self.before, Before::Atom | Before::Bond) {
            return Err(InvalidSmiles::at(self.at, "a ring needs an atom before it"));
        }
        match self.rings.iter().position(|ring| ring.number == number) {
            Some(open) => {
                if self.rings.remove(open).atom == self.atom {
                    return Err(InvalidSmiles::at(self.at, format!("ring {number} closes on the atom that opened it")));
                }
            }
            None => self.rings.push(OpenRing { number, position: self.at, atom: self.atom }),
        }
        self.moved(length, Before::Atom);
        Ok(())
    }

    /// The number of a ring, and how many characters it takes: `1`, `%12` or `%(123)`.
    fn ring_number(&mut self) -> Option<(u32, usize)> {
        let rest = &self.text.as_bytes()[self.at..];
        let (digits, length) = match rest {
            [b'%', b'(', inside @ ..] => {
                let digits = inside.iter().take_while(|byte| byte.is_ascii_digit()).count();
                (inside.get(..digits).filter(|_| inside.get(digits) == Some(&b')'))?, digits + 3)
            }
            [b'%', digits @ ..] => (digits.get(..2)?, 3),
            digits => (digits.get(..1)?, 1),
        };
        let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
        if length != 1 && length != 3 && number < 100 {
            self.layout.respelled = true;
        }
        Some((number, length))
    }

    fn moved(&mut self, length: usize, before: Before) {
        self.at += length;
        self.before = before;
    }

    fn finish(self) -> Result<Layout, InvalidSmiles> {
        let last = self.text.len().saturating_sub(1);
        match self.before {
            Before::Start => return Err(InvalidSmiles { position: None, why: "the text is empty".into() }),
            Before::Bond => return Err(InvalidSmiles::at(last, "the bond leads to no atom")),
            Before::Dot => return Err(InvalidSmiles::at(last, "the dot stands between no two parts")),
            Before::Atom | Before::Branch => {}
        }
        if let Some(branch) = self.branches.last() {
            return Err(InvalidSmiles::at(branch.position, "the branch is never closed"));
        }
        if let Some(ring) = self.rings.first() {
            return Err(InvalidSmiles::at(ring.position, format!("ring {} is never closed", ring.number)));
        }
        Ok(self.layout)
    }
}
