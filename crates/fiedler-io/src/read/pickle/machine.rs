//! The stack machine that a pickle is a program for, with every call replaced by a note of it.

use super::scan::{Scan, integer_from_bytes, unescape_unicode, unquote};
use super::{Call, Node, Slot};
use crate::error::Result;
use crate::input::File;

/// Runs the program to its end and returns all values, which of them is the result, and the byte behind the program; `outside` admits references to what is not in the pickle.
///
/// Every step takes at least one byte and adds at most a few slots; nodes and calls take several bytes each wherever data
/// are pickled. So memory stays a small multiple of the file's size.
pub(super) fn run(file: &File, start: usize, outside: bool) -> Result<(Vec<Node>, Slot, usize)> {
    let mut machine = Machine {
        scan: Scan::new(file, start),
        size: file.bytes().len(),
        outside,
        nodes: Vec::new(),
        calls: 0,
        empty_tuple: None,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Vec::new(),
    };
    loop {
        match machine.scan.byte()? {
            b'.' => {
                let root = machine.pop()?;
                return Ok((machine.nodes, root, machine.scan.at()));
            }
            operation => machine.step(operation)?,
        }
    }
}

/// No data need more nodes and calls than one for so many bytes, a few aside.
const BYTES_PER_NODE: usize = 2;
const BYTES_PER_CALL: usize = 8;
const FREE_NODES: usize = 1024;

struct Machine<'a> {
    scan: Scan<'a>,
    size: usize,
    /// Whether references to something outside of the pickle are taken down rather than refused.
    outside: bool,
    nodes: Vec<Node>,
    calls: usize,
    /// The one empty tuple, since nothing can be added to it.
    empty_tuple: Option<Slot>,
    stack: Vec<Slot>,
    marks: Vec<usize>,
    memo: Vec<Option<Slot>>,
}

impl Machine<'_> {
    fn step(&mut self, operation: u8) -> Result<()> {
        match operation {
            // The protocol's number, and the length of a frame: both only say how to read what is in memory already.
            0x80 => self.scan.byte().map(drop),
            0x95 => self.scan.array::<8>().map(drop),

            b'(' => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'0' if self.marks.last() == Some(&self.stack.len()) => self.pop_to_mark().map(drop),
            b'0' => self.pop().map(drop),
            b'1' => self.pop_to_mark().map(drop),
            b'2' => {
                let top = self.top()?;
                self.push(top)
            }

            b'p' | b'q' | b'r' | 0x94 => self.remember(operation),
            b'g' | b'h' | b'j' => self.recall(operation),

            b'N' => self.push(Slot::None),
            0x88 => self.push(Slot::Bool(true)),
            0x89 => self.push(Slot::Bool(false)),
            b'I' | b'L' => self.push_decimal(),
            b'J' => {
                let value = i32::from_le_bytes(self.scan.array()?);
                self.push(Slot::Integer(value.into()))
            }
            b'K' => {
                let value = self.scan.byte()?;
                self.push(Slot::Integer(value.into()))
            }
            b'M' => {
                let value = u16::from_le_bytes(self.scan.array()?);
                self.push(Slot::Integer(value.into()))
            }
            0x8a | 0x8b => {
                let bytes = if operation == 0x8a { self.scan.counted::<1>()? } else { self.scan.counted::<4>()? };
                self.push_integer(integer_from_bytes(bytes))
            }
            b'F' => {
                let line = self.scan.text_line()?;
                match line.trim().parse() {
                    Ok(value) => self.push(Slot::Float(value)),
                    Err(_) => Err(self.scan.malformed(format!("{line:?}"), "a number").into()),
                }
            }
            b'G' => {
                let value = f64::from_be_bytes(self.scan.array()?);
                self.push(Slot::Float(value))
            }

            b'S' => {
                let line = self.scan.line()?;
                match unquote(line) {
                    Some(bytes) => self.add(Node::Bytes(bytes.into())),
                    None => Err(self.scan.malformed("a string without quotes", "a quoted string").into()),
                }
            }
            b'U' | b'C' => {
                let bytes = self.scan.counted::<1>()?;
                self.add(Node::Bytes(bytes.into()))
            }
            b'T' | b'B' => {
                let bytes = self.scan.counted::<4>()?;
                self.add(Node::Bytes(bytes.into()))
            }
            0x8e | 0x96 => {
                let bytes = self.scan.counted::<8>()?;
                self.add(Node::Bytes(bytes.into()))
            }
            b'V' => {
                let line = self.scan.line()?;
                self.add(Node::Text(unescape_unicode(line).into()))
            }
            0x8c | b'X' | 0x8d => {
                let bytes = match operation {
                    0x8c => self.scan.counted::<1>()?,
                    b'X' => self.scan.counted::<4>()?,
                    _ => self.scan.counted::<8>()?,
                };
                self.add(Node::Text(String::from_utf8_lossy(bytes).into()))
            }

            b')' => self.push_empty_tuple(),
            b't' => {
                let items = self.pop_to_mark()?;
                self.add(Node::Tuple(items.into()))
            }
            0x85..=0x87 => {
                let items = self.pop_many(usize::from(operation - 0x84))?;
                self.add(Node::Tuple(items.into()))
            }
            b']' | 0x8f => self.add(Node::List(Vec::new())),
            b'l' | 0x91 => {
                let items = self.pop_to_mark()?;
                self.add(Node::List(items))
            }
            b'a' => {
                let items = self.pop_many(1)?;
                self.extend(items)
            }
            b'e' | 0x90 => {
                let items = self.pop_to_mark()?;
                self.extend(items)
            }
            b'}' => self.add(Node::Dictionary(Vec::new())),
            b'd' => {
                let items = self.pop_to_mark()?;
                self.add(Node::Dictionary(Vec::new()))?;
                self.set(items)
            }
            b's' => {
                let items = self.pop_many(2)?;
                self.set(items)
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.set(items)
            }

            b'c' => self.name_by_lines(),
            0x93 => self.name_by_texts(),
            b'R' | 0x81 => {
                let (arguments, callee) = (self.pop()?, self.pop()?);
                self.call(callee, arguments, Slot::None)
            }
            0x92 => {
                let (keywords, arguments, callee) = (self.pop()?, self.pop()?, self.pop()?);
                self.call(callee, arguments, keywords)
            }
            b'o' => {
                let mut items = self.pop_to_mark()?;
                if items.is_empty() {
                    return Err(self.scan.malformed("an object without a class", "a class and its arguments").into());
                }
                let callee = items.remove(0);
                self.instantiate(callee, items)
            }
            b'i' => {
                let items = self.pop_to_mark()?;
                self.name_by_lines()?;
                let callee = self.pop()?;
                self.instantiate(callee, items)
            }
            b'b' => self.build(),

            b'Q' if self.outside => {
                let id = self.pop()?;
                self.add(Node::Outside(id))
            }
            b'P' | b'Q' | 0x82..=0x84 | 0x97 | 0x98 => {
                let found = "a reference to something outside of the file";
                Err(self.scan.malformed(found, "a pickle that holds all of its data").into())
            }
            _ => Err(self.scan.malformed(format!("0x{operation:02x}"), "an operation of a pickle").into()),
        }
    }

    fn push(&mut self, slot: Slot) -> Result<()> {
        self.stack.push(slot);
        Ok(())
    }

    /// Adds a node and pushes its place.
    fn add(&mut self, node: Node) -> Result<()> {
        let Ok(place) = u32::try_from(self.nodes.len()) else {
            return Err(self.scan.malformed("more than 2³² values", "a smaller pickle").into());
        };
        if self.nodes.len() > self.size / BYTES_PER_NODE + FREE_NODES {
            return Err(self.scan.malformed("hardly anything but empty values", "data").into());
        }
        self.nodes.push(node);
        self.push(Slot::At(place))
    }

    fn push_empty_tuple(&mut self) -> Result<()> {
        match self.empty_tuple {
            Some(slot) => self.push(slot),
            None => {
                self.add(Node::Tuple([].into()))?;
                self.empty_tuple = self.stack.last().copied();
                Ok(())
            }
        }
    }

    fn push_integer(&mut self, value: Option<i64>) -> Result<()> {
        match value {
            Some(value) => self.push(Slot::Integer(value)),
            None => self.add(Node::BigInteger),
        }
    }

    /// A whole number in decimal digits; protocol 1 writes `False` and `True` as 00 and 01.
    fn push_decimal(&mut self) -> Result<()> {
        let line = self.scan.text_line()?.trim();
        match line {
            "00" => return self.push(Slot::Bool(false)),
            "01" => return self.push(Slot::Bool(true)),
            _ => {}
        }
        let number = line.strip_suffix('L').unwrap_or(line);
        let digits = number.strip_prefix('-').unwrap_or(number);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.scan.malformed(format!("{line:?}"), "a whole number").into());
        }
        self.push_integer(number.parse().ok())
    }

    /// How many values lie above the last mark.
    fn above_mark(&self) -> usize {
        self.stack.len() - self.marks.last().copied().unwrap_or(0)
    }

    fn top(&self) -> Result<Slot> {
        match self.stack.last() {
            Some(&slot) if self.above_mark() > 0 => Ok(slot),
            _ => Err(self.scan.malformed("an operation without a value to work on", "a value before it").into()),
        }
    }

    fn pop(&mut self) -> Result<Slot> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn pop_many(&mut self, count: usize) -> Result<Vec<Slot>> {
        if self.above_mark() < count {
            let found = "an operation without enough values to work on";
            return Err(self.scan.malformed(found, "more values before it").into());
        }
        Ok(self.stack.split_off(self.stack.len() - count))
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Slot>> {
        match self.marks.pop() {
            Some(mark) => Ok(self.stack.split_off(mark)),
            None => Err(self.scan.malformed("an operation without a mark", "a mark before it").into()),
        }
    }

    fn remember(&mut self, operation: u8) -> Result<()> {
        let key = match operation {
            0x94 => self.memo.len(),
            _ => self.memo_key(operation)?,
        };
        // Keys are counted up, by one for each value.
        if key > self.size {
            return Err(self
                .scan
                .malformed(format!("value {key} remembered"), "a number below the file's size")
                .into());
        }
        let top = self.top()?;
        if key >= self.memo.len() {
            self.memo.resize(key + 1, None);
        }
        self.memo[key] = Some(top);
        Ok(())
    }

    fn recall(&mut self, operation: u8) -> Result<()> {
        let key = self.memo_key(operation)?;
        match self.memo.get(key) {
            Some(&Some(slot)) => self.push(slot),
            _ => Err(self.scan.malformed(format!("value {key} recalled"), "a value remembered before").into()),
        }
    }

    fn memo_key(&mut self, operation: u8) -> Result<usize> {
        match operation {
            b'q' | b'h' => Ok(self.scan.byte()?.into()),
            b'r' | b'j' => Ok(u32::from_le_bytes(self.scan.array()?) as usize),
            _ => {
                let line = self.scan.text_line()?;
                line.trim().parse().map_err(|_| self.scan.malformed(format!("{line:?}"), "a number").into())
            }
        }
    }

    /// The node of a value on the stack's top that is about to be filled.
    fn target(&mut self) -> Result<Option<&mut Node>> {
        match self.top()? {
            Slot::At(place) => Ok(self.nodes.get_mut(place as usize)),
            _ => Ok(None),
        }
    }

    fn extend(&mut self, items: Vec<Slot>) -> Result<()> {
        match self.target()? {
            Some(Node::List(list)) => append(list, items),
            Some(Node::Object(call)) => append(&mut call.fill.get_or_insert_default().items, items),
            _ => return Err(self.scan.malformed("items for something that is no list", "a list").into()),
        }
        Ok(())
    }

    fn set(&mut self, items: Vec<Slot>) -> Result<()> {
        let (pairs, rest) = items.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(self.scan.malformed("a key without a value", "keys and values in turn").into());
        }
        let pairs = pairs.iter().map(|&[key, value]| (key, value));
        match self.target()? {
            Some(Node::Dictionary(entries)) => append(entries, pairs),
            Some(Node::Object(call)) => append(&mut call.fill.get_or_insert_default().entries, pairs),
            _ => return Err(self.scan.malformed("entries for something that is no dictionary", "a dictionary").into()),
        }
        Ok(())
    }

    /// A class or function named by two lines.
    fn name_by_lines(&mut self) -> Result<()> {
        for _ in 0..2 {
            let line = self.scan.text_line()?;
            self.add(Node::Text(line.into()))?;
        }
        self.name_by_texts()
    }

    /// A class or function named by the last two values.
    fn name_by_texts(&mut self) -> Result<()> {
        let (name, module) = (self.pop()?, self.pop()?);
        match (module, name) {
            (Slot::At(module), Slot::At(name)) if self.is_text(module) && self.is_text(name) => {
                self.add(Node::Global(module, name))
            }
            _ => Err(self.scan.malformed("a class whose name is no string", "a module and a name").into()),
        }
    }

    fn is_text(&self, place: u32) -> bool {
        matches!(self.nodes.get(place as usize), Some(Node::Text(_)))
    }

    fn call(&mut self, callee: Slot, arguments: Slot, state: Slot) -> Result<()> {
        self.calls += 1;
        if self.calls > self.size / BYTES_PER_CALL + FREE_NODES {
            return Err(self.scan.malformed("hardly anything but calls", "data").into());
        }
        self.add(Node::Object(Box::new(Call { callee, arguments, state, fill: None })))
    }

    fn instantiate(&mut self, callee: Slot, arguments: Vec<Slot>) -> Result<()> {
        self.add(Node::Tuple(arguments.into()))?;
        let arguments = self.pop()?;
        self.call(callee, arguments, Slot::None)
    }

    fn build(&mut self) -> Result<()> {
        let state = self.pop()?;
        match self.target()? {
            Some(Node::Object(call)) => call.state = state,
            _ => return Err(self.scan.malformed("a state for something that is no object", "an object").into()),
        }
        Ok(())
    }
}

/// Appends; what is filled for the first time gets no room to grow, since most is filled at once.
fn append<T>(values: &mut Vec<T>, more: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>) {
    let more = more.into_iter();
    if values.is_empty() {
        values.reserve_exact(more.len());
    }
    values.extend(more);
}
