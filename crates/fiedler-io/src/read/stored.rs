//! Features that stay in their file: rows are read by their places in it, when they are needed.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fiedler_graph::{Dense, Error, Features, Result, RowSource, Sparse};

/// Rows of features in a file that is as it was when it was opened.
#[derive(Debug)]
pub(super) struct FileRows {
    file: File,
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) layout: Layout,
}

/// Where the numbers of the rows begin, in bytes, and what they are.
#[derive(Debug)]
pub(super) enum Layout {
    /// Row after row of numbers of 32 bits.
    Single { values: u64 },
    /// Row after row of numbers of 64 bits, which are rounded.
    Double { values: u64 },
    /// Column indices and values of 32 bits; where each row begins is held in memory.
    Sparse { indptr: Vec<usize>, indices: u64, values: u64 },
}

impl FileRows {
    pub(super) fn open(path: &Path, rows: usize, columns: usize, layout: Layout) -> io::Result<FileRows> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        let (length, modified) = (metadata.len(), metadata.modified().ok());
        Ok(FileRows { file, path: path.into(), length, modified, rows, columns, layout })
    }

    fn unreadable(&self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Unreadable { place: self.path.display().to_string(), found: found.into(), expected: expected.into() }
    }

    fn check_unchanged(&self) -> Result<()> {
        let now = self.file.metadata().map_err(|error| self.unreadable(error.to_string(), "a file"))?;
        if now.len() != self.length {
            let found = format!("{} bytes", now.len());
            return Err(self.unreadable(found, format!("{}, as when it was opened", self.length)));
        }
        if now.modified().ok() != self.modified {
            return Err(self.unreadable("a file that has changed", "what it was when it was opened"));
        }
        Ok(())
    }

    /// The numbers with these places among those that begin at a byte of the file.
    fn numbers<N, const SIZE: usize>(
        &self,
        start: u64,
        places: Range<usize>,
        number: fn([u8; SIZE]) -> N,
    ) -> Result<Vec<N>> {
        let mut bytes = vec![0; places.len() * SIZE];
        read_at(&self.file, &self.path, &mut bytes, start + (places.start * SIZE) as u64)
            .map_err(|error| self.unreadable(error.to_string(), "the bytes that were there when it was opened"))?;
        Ok(bytes.as_chunks().0.iter().map(|bytes| number(*bytes)).collect())
    }

    fn dense(&self, rows: &Range<usize>, values: Vec<f32>) -> Result<Features> {
        let not_finite = values.iter().position(|value| !value.is_finite());
        if let Some(at) = not_finite {
            let (row, column) = (rows.start + at / self.columns, at % self.columns);
            let found = format!("{} in row {row}, column {column}", values[at]);
            return Err(self.unreadable(found, "finite numbers of 32 bits"));
        }
        Ok(Features::Dense(Dense::new(rows.len(), self.columns, values)?))
    }

    fn sparse(&self, rows: Range<usize>, indptr: &[usize], starts: (u64, u64)) -> Result<Features> {
        let bounds = &indptr[rows.start..=rows.end];
        let (first, end) = (bounds[0], bounds[bounds.len() - 1]);
        let indices = self.numbers(starts.0, first..end, u32::from_le_bytes)?;
        let values = self.numbers(starts.1, first..end, f32::from_le_bytes)?;
        let offsets: Vec<usize> = bounds.iter().map(|bound| bound - first).collect();
        let ascend = |bounds: &[usize]| indices[bounds[0]..bounds[1]].is_sorted_by(|a, b| a < b);
        // Rows are taken as they stand, so that all of them together are what the file says.
        if !offsets.windows(2).all(ascend) || values.contains(&0.0) {
            let expected = "rows with ascending columns and without zeros, as fiedler convert writes them";
            return Err(self.unreadable("a row of another form", expected));
        }
        let sparse = Sparse::new(self.columns, offsets, indices, values);
        Ok(Features::Sparse(sparse.map_err(|error| self.unreadable(error.to_string(), "sparse rows"))?))
    }
}

impl RowSource for FileRows {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn entries(&self) -> Option<usize> {
        match &self.layout {
            Layout::Sparse { indptr, .. } => Some(indptr.last().copied().unwrap_or(0)),
            Layout::Single { .. } | Layout::Double { .. } => None,
        }
    }

    fn read(&self, rows: Range<usize>) -> Result<Features> {
        self.check_unchanged()?;
        let places = rows.start * self.columns..rows.end * self.columns;
        match &self.layout {
            Layout::Single { values } => {
                let values = self.numbers(*values, places, f32::from_le_bytes)?;
                self.dense(&rows, values)
            }
            Layout::Double { values } => {
                let wide = self.numbers(*values, places, f64::from_le_bytes)?;
                self.dense(&rows, wide.into_iter().map(|value| value as f32).collect())
            }
            Layout::Sparse { indptr, indices, values } => self.sparse(rows, indptr, (*indices, *values)),
        }
    }
}

/// Fills a buffer with what begins at a byte of a file.
#[cfg(unix)]
fn read_at(file: &File, _: &Path, bytes: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

/// Fills a buffer with what begins at a byte of a file.
#[cfg(not(unix))]
fn read_at(_: &File, path: &Path, bytes: &mut [u8], start: u64) -> io::Result<()> {
    use std::io::{Read, Seek};
    let mut file = File::open(path)?;
    file.seek(io::SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

/// The length of a file.
pub(super) fn length(path: &Path) -> io::Result<u64> {
    fs::metadata(path).map(|metadata| metadata.len())
}
