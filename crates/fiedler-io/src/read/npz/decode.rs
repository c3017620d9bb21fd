//! An array's values as the numbers or strings a reader asks for, in the order of rows.

use fiedler_graph::{Classes, Dense, Features, Labels, MultiLabel, Regression};

use super::array::{Array, Data};
use super::r#type::Kind;
use crate::error::Result;
use crate::read::pickle::Value;

/// A number of any type.
#[derive(Debug, Clone, Copy)]
enum Number {
    Integer(i64),
    Unsigned(u64),
    Float(f64),
}

impl Array {
    /// The values as `f64`; whole numbers beyond 2⁵³ are rounded.
    ///
    /// # Errors
    /// When they are not numbers.
    pub fn to_f64(&self) -> Result<Vec<f64>> {
        self.numbers("numbers", |number| Some(number.to_f64()))
    }

    /// The values as `f32`, rounded.
    ///
    /// # Errors
    /// When they are not numbers, or one is finite but too large.
    pub fn to_f32(&self) -> Result<Vec<f32>> {
        self.numbers("numbers below 3.4e38", |number| {
            let wide = number.to_f64();
            let narrow = wide as f32;
            (narrow.is_finite() || !wide.is_finite()).then_some(narrow)
        })
    }

    /// The values as whole numbers; floats are taken where they are whole.
    ///
    /// # Errors
    /// When one is not a whole number, or exceeds 64 bits.
    pub fn to_i64(&self) -> Result<Vec<i64>> {
        self.numbers("whole numbers", Number::to_i64)
    }

    /// The values as whole numbers that are not negative.
    ///
    /// # Errors
    /// When one is negative or not a whole number.
    pub fn to_usize(&self) -> Result<Vec<usize>> {
        self.numbers("whole numbers from 0 on", |number| number.to_i64()?.try_into().ok())
    }

    /// The values as ids.
    ///
    /// # Errors
    /// When one is negative, not a whole number, or exceeds 32 bits.
    pub fn to_u32(&self) -> Result<Vec<u32>> {
        self.numbers("whole numbers from 0 to 4294967295", |number| number.to_i64()?.try_into().ok())
    }

    /// The values as strings.
    ///
    /// # Errors
    /// When they are not strings.
    pub fn to_strings(&self) -> Result<Vec<String>> {
        let strings = match &self.data {
            Data::Objects { pickle, .. } => self.object_strings(pickle.size())?,
            Data::Bytes { .. } => {
                let width = self.of.width;
                let values =
                    (0..self.len()).map(|at| self.stored().get(at * width..(at + 1) * width).unwrap_or_default());
                match self.of.kind {
                    Kind::Bytes => values.map(|bytes| String::from_utf8_lossy(trimmed(bytes)).into_owned()).collect(),
                    Kind::Text => values.map(|bytes| self.characters(bytes)).collect::<Result<_>>()?,
                    _ => return Err(self.malformed(self.of.to_string(), "strings").into()),
                }
            }
        };
        Ok(self.by_rows(strings))
    }

    /// The values as features: one row a node.
    ///
    /// # Errors
    /// When they are not finite numbers in one or two dimensions.
    pub fn to_features(&self) -> Result<Features> {
        let (rows, columns) = self.rows_and_columns()?;
        let values = self.to_f32()?;
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (row, column) = (at / columns.max(1), at % columns.max(1));
            let found = format!("{} in row {row}, column {column}", values[at]);
            return Err(self.malformed(found, "finite features").into());
        }
        Ok(Features::Dense(Dense::new(rows, columns, values)?))
    }

    /// The values as labels.
    ///
    /// One column of strings or whole numbers is classes; of other numbers, real values. Several columns of 0 and 1 are
    /// classes when no row has two ones, else tasks; of other numbers, real values. NaN is a missing label.
    ///
    /// # Errors
    /// When the array has more than two dimensions, or values that are neither strings nor numbers.
    pub fn to_labels(&self) -> Result<Labels> {
        let (_, columns) = self.rows_and_columns()?;
        if columns == 1
            && let Ok(labels) = self.to_i64()
        {
            return Ok(Labels::Classes(Classes::from_integers(labels.into_iter().map(Some))));
        }
        if columns == 1 && matches!(self.of.kind, Kind::Text | Kind::Bytes | Kind::Object) {
            return Ok(Labels::Classes(Classes::from_labels(self.to_strings()?.into_iter().map(Some))));
        }
        let values = self.to_f64()?;
        let known = || values.iter().copied().filter(|value| !value.is_nan());
        if columns == 1 && known().all(|value| Number::Float(value).to_i64().is_some()) {
            let labels = values.iter().map(|&value| Number::Float(value).to_i64());
            return Ok(Labels::Classes(Classes::from_integers(labels)));
        }
        if columns > 1 && known().all(|value| value == 0.0 || value == 1.0) {
            return match one_hot(&values, columns) {
                Some(classes) => Ok(Labels::Classes(Classes::from_integers(classes))),
                None => {
                    let answers = values.iter().map(|value| (!value.is_nan()).then_some(*value == 1.0)).collect();
                    Ok(Labels::MultiLabel(MultiLabel::new(numbered(columns), answers)?))
                }
            };
        }
        let values = values.iter().map(|&value| (!value.is_nan()).then_some(value as f32)).collect();
        Ok(Labels::Regression(Regression::new(numbered(columns), values)?))
    }

    /// The class of each row in which a single 1 stands among zeros; a row of zeros has none.
    ///
    /// # Errors
    /// When the array is not such a table.
    pub fn to_one_hot(&self) -> Result<Vec<Option<i64>>> {
        let (_, columns) = self.rows_and_columns()?;
        one_hot(&self.to_f64()?, columns)
            .ok_or_else(|| self.malformed("rows of other numbers", "rows of zeros with a single 1").into())
    }

    fn stored(&self) -> &[u8] {
        match &self.data {
            Data::Bytes { bytes, start } => bytes.get(*start..).unwrap_or_default(),
            Data::Objects { .. } => &[],
        }
    }

    fn numbers<T: Clone>(&self, expected: &str, convert: impl Fn(Number) -> Option<T>) -> Result<Vec<T>> {
        use Number::{Float, Integer, Unsigned};
        let values = match (self.of.kind, self.of.width) {
            (Kind::Bool, _) => self.each(|[byte]| Integer((byte != 0).into()), convert),
            (Kind::Integer, 1) => self.each(|bytes| Integer(i8::from_le_bytes(bytes).into()), convert),
            (Kind::Integer, 2) => self.each(|bytes| Integer(i16::from_le_bytes(bytes).into()), convert),
            (Kind::Integer, 4) => self.each(|bytes| Integer(i32::from_le_bytes(bytes).into()), convert),
            (Kind::Integer, 8) => self.each(|bytes| Integer(i64::from_le_bytes(bytes)), convert),
            (Kind::Unsigned, 1) => self.each(|bytes| Unsigned(u8::from_le_bytes(bytes).into()), convert),
            (Kind::Unsigned, 2) => self.each(|bytes| Unsigned(u16::from_le_bytes(bytes).into()), convert),
            (Kind::Unsigned, 4) => self.each(|bytes| Unsigned(u32::from_le_bytes(bytes).into()), convert),
            (Kind::Unsigned, 8) => self.each(|bytes| Unsigned(u64::from_le_bytes(bytes)), convert),
            (Kind::Float, 2) => self.each(|bytes| Float(half(u16::from_le_bytes(bytes))), convert),
            (Kind::Float, 4) => self.each(|bytes| Float(f32::from_le_bytes(bytes).into()), convert),
            (Kind::Float, 8) => self.each(|bytes| Float(f64::from_le_bytes(bytes)), convert),
            (Kind::Object, _) => self.object_numbers(convert),
            _ => return Err(self.malformed(self.of.to_string(), expected).into()),
        };
        let values = values.map_err(|found| self.malformed(found, expected))?;
        Ok(self.by_rows(values))
    }

    /// Converts every stored value, or says which one cannot be.
    fn each<T, const WIDTH: usize>(
        &self,
        decode: impl Fn([u8; WIDTH]) -> Number,
        convert: impl Fn(Number) -> Option<T>,
    ) -> Result<Vec<T>, String> {
        let (values, _) = self.stored().as_chunks::<WIDTH>();
        let mut converted = Vec::with_capacity(values.len());
        for (at, &bytes) in values.iter().enumerate() {
            let number = if self.of.big_endian {
                let mut bytes = bytes;
                bytes.reverse();
                decode(bytes)
            } else {
                decode(bytes)
            };
            converted.push(convert(number).ok_or_else(|| format!("{} as value {at}", number.to_f64()))?);
        }
        Ok(converted)
    }

    fn object_numbers<T>(&self, convert: impl Fn(Number) -> Option<T>) -> Result<Vec<T>, String> {
        let objects = self.objects().into_iter().flat_map(|objects| objects.iter());
        let numbers = objects.map(|object| {
            let number = match object {
                Value::Integer(value) => Some(Number::Integer(value)),
                Value::Bool(value) => Some(Number::Integer(value.into())),
                Value::Float(value) => Some(Number::Float(value)),
                _ => None,
            };
            number.and_then(&convert).ok_or_else(|| object.to_string())
        });
        numbers.collect()
    }

    fn object_strings(&self, pickle_size: usize) -> Result<Vec<String>> {
        let mut strings = Vec::new();
        let mut budget = pickle_size.saturating_mul(16).max(1 << 24);
        for object in self.objects().into_iter().flat_map(|objects| objects.iter()) {
            let Some(text) = object.text() else {
                return Err(self.malformed(object.to_string(), "strings").into());
            };
            // One long string can stand in a pickle once and be used a million times.
            let Some(left) = budget.checked_sub(text.len()) else {
                return Err(self.malformed("more text than a file of names has", "short strings").into());
            };
            budget = left;
            strings.push(text.to_owned());
        }
        Ok(strings)
    }

    /// Text stored as four bytes a character, filled up with zeros.
    fn characters(&self, bytes: &[u8]) -> Result<String> {
        let (codes, _) = bytes.as_chunks::<4>();
        let big_endian = self.of.big_endian;
        let decode = |code: &[u8; 4]| if big_endian { u32::from_be_bytes(*code) } else { u32::from_le_bytes(*code) };
        let end = codes.iter().rposition(|code| *code != [0; 4]).map_or(0, |last| last + 1);
        let text: Option<String> = codes[..end].iter().map(|code| char::from_u32(decode(code))).collect();
        text.ok_or_else(|| self.malformed("a string with a code that is no character", "Unicode text").into())
    }

    /// Brings values stored column after column into the order of rows.
    fn by_rows<T: Clone>(&self, values: Vec<T>) -> Vec<T> {
        if !self.fortran || self.shape.len() < 2 || values.len() != self.len() {
            return values;
        }
        let mut ordered = Vec::with_capacity(values.len());
        let mut index = vec![0usize; self.shape.len()];
        for _ in 0..values.len() {
            let stored = index.iter().zip(&self.shape).rev().fold(0, |place, (at, length)| place * length + at);
            ordered.push(values[stored].clone());
            for (at, &length) in index.iter_mut().zip(&self.shape).rev() {
                *at += 1;
                if *at < length {
                    break;
                }
                *at = 0;
            }
        }
        ordered
    }
}

impl Number {
    fn to_f64(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Unsigned(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    fn to_i64(self) -> Option<i64> {
        match self {
            Number::Integer(value) => Some(value),
            Number::Unsigned(value) => value.try_into().ok(),
            // 2⁶³ is the first float that i64 cannot hold.
            Number::Float(value) => {
                (value.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&value)).then_some(value as i64)
            }
        }
    }
}

/// A float of 16 bits.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => sign * f64::INFINITY,
        0x1f => f64::NAN,
        _ => sign * (fraction + 1024.0) * 2f64.powi(exponent - 25),
    }
}

/// Bytes without the zeros that fill them up.
fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

/// The column of the 1 in each row of zeros; `None` when some row is not of this form.
fn one_hot(values: &[f64], columns: usize) -> Option<Vec<Option<i64>>> {
    let class = |row: &[f64]| {
        let mut ones = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
        let first = ones.next();
        let alone = ones.next().is_none() && first.is_none_or(|(_, value)| *value == 1.0);
        alone.then_some(first.map(|(column, _)| column as i64))
    };
    values.chunks_exact(columns.max(1)).map(class).collect()
}

fn numbered(columns: usize) -> Vec<String> {
    (0..columns).map(|column| column.to_string()).collect()
}
