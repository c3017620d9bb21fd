//! The fast path: lines of whole numbers, parsed in parallel straight from the bytes.
//!
//! Anything unusual, right or wrong, is refused; the general path then reads the file from its start and, if there is
//! an error, says where.

use rayon::prelude::*;

use super::super::separated::{Separator, whole_number};
use super::declared_name;
use super::layout::{Layout, Weight, without_mark};

/// Bytes that one task parses.
const CHUNK_BYTES: usize = 1 << 19;

/// Why a file is not plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// An id does not fit the type.
    Range,
    /// There is something else than whole numbers.
    Form,
}

/// An id as it stands in the file.
pub(super) trait Id: Copy + Ord + Send + Sync + TryFrom<i64> + Into<i64> {
    /// Puts a number in the place of every id; without a rule for it, ids are numbers already.
    fn numbered(pairs: Vec<(Self, Self)>, number: Option<impl Fn(Self) -> u32>) -> Vec<(u32, u32)>;
}

impl Id for u32 {
    fn numbered(mut pairs: Vec<(u32, u32)>, number: Option<impl Fn(u32) -> u32>) -> Vec<(u32, u32)> {
        if let Some(number) = number {
            pairs.iter_mut().for_each(|pair| *pair = (number(pair.0), number(pair.1)));
        }
        pairs
    }
}

impl Id for i64 {
    fn numbered(pairs: Vec<(i64, i64)>, number: Option<impl Fn(i64) -> u32>) -> Vec<(u32, u32)> {
        let number = |id| number.as_ref().map_or(id as u32, |number| number(id));
        pairs.into_iter().map(|(source, target)| (number(source), number(target))).collect()
    }
}

/// What a plain file holds: ids as they stand, not yet numbered.
#[derive(Debug)]
pub(super) struct Plain<I> {
    pub(super) chunks: Vec<Lines<I>>,
    pub(super) weighted: bool,
}

/// What some lines hold.
#[derive(Debug)]
pub(super) struct Lines<I> {
    pub(super) pairs: Vec<(I, I)>,
    /// One for each pair; empty when there are none.
    pub(super) weights: Vec<f32>,
    /// Nodes that the lines say exist, in the order they say so.
    pub(super) declared: Vec<I>,
    /// The lowest and the highest id.
    pub(super) range: Option<(I, I)>,
}

impl<I: Id> Lines<I> {
    /// Does something with every id, as often as it occurs. A loop, since iterators chained together are slower.
    pub(super) fn for_each_id(&self, mut act: impl FnMut(I)) {
        for &(source, target) in &self.pairs {
            act(source);
            act(target);
        }
        self.declared.iter().for_each(|id| act(*id));
    }

    fn range(&self) -> Option<(I, I)> {
        let first = self.pairs.first().map(|pair| pair.0).or(self.declared.first().copied())?;
        let (mut lowest, mut highest) = (first, first);
        self.for_each_id(|id| (lowest, highest) = (lowest.min(id), highest.max(id)));
        Some((lowest, highest))
    }
}

/// Parses the whole file, or refuses.
pub(super) fn parse<I: Id>(bytes: &[u8], layout: &Layout) -> Result<Plain<I>, Refusal> {
    let weighted = match layout.weight {
        Weight::None => false,
        Weight::Column(2) => true,
        Weight::Column(_) | Weight::Dictionary => return Err(Refusal::Form),
    };
    if (layout.source, layout.target) != (0, 1) {
        return Err(Refusal::Form);
    }
    let (before, after) = around_header(without_mark(bytes), layout.header);
    let texts: Vec<&[u8]> = [before].into_iter().chain(cut(after)).collect();
    let chunks: Vec<Lines<I>> = texts
        .into_par_iter()
        .map(|bytes| Walk { bytes, at: 0, separator: layout.separator }.parse(weighted))
        .collect::<Result<_, _>>()?;
    // A file without edges is an error, which the general path words.
    let empty = chunks.iter().all(|chunk| chunk.pairs.is_empty() && chunk.declared.is_empty());
    if empty { Err(Refusal::Form) } else { Ok(Plain { chunks, weighted }) }
}

/// The lines before the header, which can only be comments, and those after it.
fn around_header(bytes: &[u8], header: Option<u64>) -> (&[u8], &[u8]) {
    let Some(header) = header else { return bytes.split_at(0) };
    let mut start = 0;
    for _ in 1..header {
        start = line_end(bytes, start);
    }
    (&bytes[..start], &bytes[line_end(bytes, start)..])
}

/// Cuts at line ends.
fn cut(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::with_capacity(bytes.len() / CHUNK_BYTES + 1);
    while !bytes.is_empty() {
        let (chunk, rest) = bytes.split_at(line_end(bytes, CHUNK_BYTES.min(bytes.len())));
        chunks.push(chunk);
        bytes = rest;
    }
    chunks
}

/// Where the line that `from` lies in ends, its line end included.
fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| from + length + 1)
}

/// A walk over the lines of one chunk.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    separator: Separator,
}

impl Walk<'_> {
    fn parse<I: Id>(mut self, weighted: bool) -> Result<Lines<I>, Refusal> {
        // A guess: most lines are longer, some shorter.
        let expected = self.bytes.len() / 12;
        let weights = Vec::with_capacity(if weighted { expected } else { 0 });
        let mut lines = Lines { pairs: Vec::with_capacity(expected), weights, declared: Vec::new(), range: None };
        while self.at < self.bytes.len() {
            self.skip_padding();
            match self.peek() {
                Some(b'0'..=b'9' | b'-') => {}
                Some(b'\r' | b'\n') => {
                    self.finish_line()?;
                    continue;
                }
                Some(b'#' | b'%' | b'/') => {
                    lines.declared.extend(self.comment::<I>()?);
                    continue;
                }
                None => break,
                Some(_) => return Err(Refusal::Form),
            }
            let source = self.number()?;
            self.cross_separator()?;
            let target = self.number()?;
            lines.pairs.push((source, target));
            if weighted {
                self.cross_separator()?;
                lines.weights.push(self.weight()?);
            }
            self.skip_columns()?;
        }
        lines.range = lines.range();
        Ok(lines)
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn skip_padding(&mut self) {
        while self.peek().is_some_and(|byte| self.separator.pads(byte)) {
            self.at += 1;
        }
    }

    #[inline]
    fn cross_separator(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        self.skip_padding();
        match self.separator.byte() {
            Some(byte) if self.peek() == Some(byte) => {
                self.at += 1;
                self.skip_padding();
                Ok(())
            }
            None if self.at > start => Ok(()),
            _ => Err(Refusal::Form),
        }
    }

    #[inline(always)]
    fn number<I: Id>(&mut self) -> Result<I, Refusal> {
        if let Some(word) = self.bytes[self.at..].first_chunk() {
            let (value, digits) = leading_number(u64::from_le_bytes(*word));
            // Almost every id has one to seven digits and no leading zero.
            if (1..8).contains(&digits) && (word[0] != b'0' || digits == 1) {
                self.at += digits;
                return I::try_from(value as i64).map_err(|_| Refusal::Range);
            }
        }
        self.long_number()
    }

    #[cold]
    fn long_number<I: Id>(&mut self) -> Result<I, Refusal> {
        let rest = &self.bytes[self.at..];
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += sign + digits;
        let text = std::str::from_utf8(&rest[..sign + digits]).unwrap_or_default();
        let value = whole_number(text).ok_or(Refusal::Form)?;
        I::try_from(value).map_err(|_| Refusal::Range)
    }

    fn weight(&mut self) -> Result<f32, Refusal> {
        let start = self.at;
        let ends = |byte: u8| matches!(byte, b'\r' | b'\n' | b' ' | b'\t') || Some(byte) == self.separator.byte();
        let length = self.bytes[start..].iter().position(|byte| ends(*byte)).unwrap_or(self.bytes.len() - start);
        self.at = start + length;
        let text = std::str::from_utf8(&self.bytes[start..self.at]).map_err(|_| Refusal::Form)?;
        let weight: f32 = text.parse().map_err(|_| Refusal::Form)?;
        if weight.is_finite() && weight > 0.0 { Ok(weight) } else { Err(Refusal::Form) }
    }

    /// Passes over what is left of a line after a whole field.
    #[inline]
    fn skip_columns(&mut self) -> Result<(), Refusal> {
        self.skip_padding();
        match self.peek() {
            Some(b'\n') => {
                self.at += 1;
                Ok(())
            }
            Some(b'\r') | None => self.finish_line(),
            Some(byte) => {
                let after_field = match self.separator.byte() {
                    Some(separator) => byte == separator,
                    None => self.at > 0 && self.separator.pads(self.bytes[self.at - 1]),
                };
                self.at = line_end(self.bytes, self.at);
                if after_field { Ok(()) } else { Err(Refusal::Form) }
            }
        }
    }

    fn finish_line(&mut self) -> Result<(), Refusal> {
        self.at += usize::from(self.peek() == Some(b'\r'));
        match self.peek() {
            Some(b'\n') => self.at += 1,
            None => {}
            Some(_) => return Err(Refusal::Form),
        }
        Ok(())
    }

    /// Passes over a comment; if it says that a node exists, gives the node.
    fn comment<I: Id>(&mut self) -> Result<Option<I>, Refusal> {
        let end = line_end(self.bytes, self.at);
        let line = &self.bytes[self.at..end];
        self.at = end;
        if line.starts_with(b"/") && !line.starts_with(b"//") {
            return Err(Refusal::Form);
        }
        // Comments may be in any encoding.
        let Some(name) = std::str::from_utf8(line).ok().and_then(declared_name) else { return Ok(None) };
        let id = whole_number(name.trim()).ok_or(Refusal::Form)?;
        I::try_from(id).map(Some).map_err(|_| Refusal::Range)
    }
}

/// The number in the leading digits of eight characters, the first in the lowest byte, and how many digits it has.
///
/// All at once: a loop over digits would be mispredicted at the end of every number.
#[inline]
fn leading_number(word: u64) -> (u64, usize) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // Digits become 0 to 9, everything else becomes more. The first sum to reach 128 marks the first that is no digit;
    // what it carries over spoils only those after it.
    let values = word ^ (EACH * 0x30);
    let others = (values.wrapping_add(EACH * 0x76) | values) & (EACH * 0x80);
    let digits = others.trailing_zeros() as usize / 8;
    if digits == 0 {
        return (0, 0);
    }
    // Zeros in front make it eight digits; then pairs, then fours, then all of them are put together.
    let ones = values << (64 - 8 * digits);
    let pairs = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let all = (fours * 10_000 + (fours >> 32)) & 0xffff_ffff;
    (all, digits)
}

#[cfg(test)]
mod tests {
    use super::leading_number;

    #[test]
    fn eight_characters_are_read_at_once() {
        for (text, expected) in [
            (b"12345678", (12_345_678, 8)),
            (b"99999999", (99_999_999, 8)),
            (b"7\t123456", (7, 1)),
            (b"1234567\n", (1_234_567, 7)),
            (b"00420x99", (420, 5)),
            (b"/1234567", (0, 0)),
            (b":1234567", (0, 0)),
            (b"12\xff45678", (12, 2)),
            (b"\xfa2345678".first_chunk().unwrap(), (0, 0)),
        ] {
            assert_eq!(leading_number(u64::from_le_bytes(*text)), expected, "{text:?}");
        }
    }
}
