//! Our own format: see [`compact`](crate::compact). Sections are read one after the other into the arrays that they become: no second copy of the file is held.

use std::io::Read;
use std::path::Path;

use fiedler_graph::{
    Categorical, Classes, Dataset, Dense, Features, Graph, GraphSet, GraphSource, Labels, MultiLabel, Names,
    Regression, Sparse, Split, StoredFeatures,
};

use super::stored::{FileRows, Layout};
use super::{Format, ReadOptions};
use crate::compact::{Header, Kind, LabelKind, MAGIC, Number, PREAMBLE, Section, Shape, VERSION, aligned};
use crate::error::{Error, Malformed, Place, Result};
use crate::input::DataSource;

/// Bytes that are read at once.
const AT_ONCE: usize = 1 << 20;
/// Columns that a sparse matrix may have.
const MOST_COLUMNS: u64 = 1 << 28;

/// Our own format.
pub const FORMAT: Format = Format {
    name: "fiedler",
    about: "fiedler's own format, as fiedler convert NAME.fiedler writes it",
    recognizes,
    read,
};

fn recognizes(input: &DataSource) -> bool {
    let head = input.file_name().and_then(|name| input.head(name, MAGIC.len()).ok());
    head.is_some_and(|head| head == MAGIC)
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let Some(name) = input.file_name() else { return Err(Error::UnknownFormat { path: input.path().into() }) };
    let (reader, length) = input.stream(name)?;
    let mut file = Sections::open(reader, length, Place::file(input.path()))?;
    let header = file.header.clone();
    let nodes = file.size(header.nodes, "nodes")?;
    let graph = graph(&mut file, nodes, options)?;
    let edges = graph.num_edges();
    let graphs = match header.graphs {
        1 => GraphSet::single(graph),
        count => GraphSet::from_block_diagonal(graph, file.take("graph.sizes", count)?)?,
    };
    let mut dataset = Dataset::set(input.stem(), graphs);
    if let Some(names) = file.node_names(nodes)? {
        let (graphs, sizes) = (dataset.graphs.block_diagonal().clone(), dataset.graphs.node_offsets());
        let sizes: Vec<u32> = sizes.windows(2).map(|ends| ends[1] - ends[0]).collect();
        let graph = graphs.with_names(names)?;
        dataset.graphs = match header.graphs {
            1 => GraphSet::single(graph),
            _ => GraphSet::from_block_diagonal(graph, sizes)?,
        };
    }
    let path = input.file_path(name).filter(|_| options.stream_features && header.graphs == 1);
    match (path, &header.features) {
        (Some(path), Some(Shape::Dense { .. } | Shape::Sparse { .. })) => {
            dataset.stored_features = Some(file.stored_features(&path, header.features.as_ref(), nodes)?);
        }
        (_, shape) => dataset.features = file.features("features", shape.as_ref(), nodes)?,
    }
    dataset.feature_names = file.texts("features.names")?;
    dataset.edge_features = file.features("edge_features", header.edge_features.as_ref(), edges)?;
    dataset.node_labels = file.labels("node_labels", header.node_labels, nodes)?;
    let count = file.size(header.graphs, "graphs")?;
    dataset.graph_labels = file.labels("graph_labels", header.graph_labels, count)?;
    if file.next_is("source.lines") {
        let lines = file.take("source.lines", header.graphs)?;
        dataset.graph_source = Some(GraphSource { lines, names: file.texts("source.names")? });
    }
    for (at, name) in header.splits.into_iter().enumerate() {
        let mut part = |part: &str| file.take_all(&format!("split.{at}.{part}"));
        let (train, validation, test, stopping) =
            (part("train")?, part("validation")?, part("test")?, part("stopping")?);
        dataset.splits.push(Split { name, train, validation, test, stopping });
    }
    file.finish()?;
    Ok(dataset)
}

fn graph(file: &mut Sections, nodes: usize, options: &ReadOptions) -> Result<Graph> {
    let indptr: Vec<usize> = file.take("graph.indptr", nodes as u64 + 1)?;
    let indices: Vec<u32> = file.take_all("graph.indices")?;
    let weights: Option<Vec<f32>> = match file.next_is("graph.weights") {
        true => Some(file.take("graph.weights", indices.len() as u64)?),
        false => None,
    };
    Ok(Graph::from_csr(indptr, indices, weights.filter(|_| !options.unweighted))?)
}

/// A file that is read from its beginning to its end.
struct Sections {
    reader: Box<dyn Read>,
    place: Place,
    header: Header,
    /// The section that comes next.
    next: usize,
    /// Bytes that were read.
    at: u64,
}

impl Sections {
    /// Reads the header, and makes sure that it describes a file of this length.
    fn open(mut reader: Box<dyn Read>, length: u64, place: Place) -> Result<Sections> {
        let damaged = |found: String, expected: &str| place.malformed(found, expected).hint(DAMAGED);
        let mut preamble = [0u8; PREAMBLE as usize];
        if length < PREAMBLE {
            return Err(damaged(format!("a file of {length} bytes"), "a whole file of fiedler").into());
        }
        reader.read_exact(&mut preamble).map_err(|error| damaged(error.to_string(), "a whole file of fiedler"))?;
        if preamble[..8] != MAGIC {
            return Err(place.malformed("other first bytes", "a file that fiedler convert wrote").into());
        }
        let number = |range: std::ops::Range<usize>| u64::from(u32::read(&preamble[range]).unwrap_or_default());
        if number(8..12) != u64::from(VERSION) {
            let found = format!("version {}", number(8..12));
            let expected = format!("version {VERSION}, the only one that this program reads");
            return Err(place.malformed(found, expected).hint("write it anew with this version").into());
        }
        let header_length = u64::read(&preamble[16..24]).unwrap_or(u64::MAX);
        if header_length > length - PREAMBLE {
            return Err(
                damaged(format!("a header of {header_length} bytes in a file of {length}"), "a whole file").into()
            );
        }
        let mut json = vec![0; header_length as usize];
        reader.read_exact(&mut json).map_err(|error| damaged(error.to_string(), "a whole header"))?;
        if u64::from(crc32fast::hash(&json)) != number(12..16) {
            return Err(damaged("a header with another checksum".into(), "the header that was written").into());
        }
        let header: Header = serde_json::from_slice(&json)
            .map_err(|error| damaged(format!("a header that is none ({error})"), "a header of this format"))?;
        let mut end = Some(PREAMBLE + header_length).and_then(aligned);
        for section in &header.sections {
            end = end.zip(section.bytes()).and_then(|(end, bytes)| end.checked_add(bytes)).and_then(aligned);
        }
        if end != Some(length) {
            let found =
                format!("sections that end at byte {}", end.map_or("2^64 or beyond".into(), |end| end.to_string()));
            return Err(damaged(found, &format!("{length}, where the file ends")).into());
        }
        let mut file = Sections { reader, place, header, next: 0, at: PREAMBLE + header_length };
        file.skip_filling()?;
        Ok(file)
    }

    fn damaged(&self, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        self.place.malformed(found, expected).hint(DAMAGED)
    }

    /// A number of things, each of which has at least a byte of the file.
    fn size(&self, count: u64, of: &str) -> Result<usize> {
        let most = fiedler_graph::MAX_NODES as u64;
        if count > most {
            return Err(self.damaged(format!("{count} {of}"), format!("at most {most}")).into());
        }
        Ok(count as usize)
    }

    fn next_is(&self, name: &str) -> bool {
        self.header.sections.get(self.next).is_some_and(|section| section.name == name)
    }

    fn next_kind(&self) -> Option<Kind> {
        self.header.sections.get(self.next).map(|section| section.kind)
    }

    /// The next section, which must be of this name and have so many numbers.
    fn take<N: Number>(&mut self, name: &str, count: u64) -> Result<Vec<N>> {
        match self.header.sections.get(self.next) {
            Some(section) if section.name == name && section.count != count => {
                let found = format!("{} numbers of {name}", section.count);
                Err(self.damaged(found, format!("{count}, as the rest of the header has it")).into())
            }
            _ => self.take_all(name),
        }
    }

    /// The next section, which must be of this name.
    fn take_all<N: Number>(&mut self, name: &str) -> Result<Vec<N>> {
        let section = self.expect::<N>(name)?;
        let numbers = self.numbers(&section)?;
        self.skip_filling()?;
        Ok(numbers)
    }

    /// Passes over the next section, which must be of this name and have so many numbers; the byte where it begins.
    fn pass<N: Number>(&mut self, name: &str, count: u64) -> Result<u64> {
        let section = self.expect::<N>(name)?;
        if section.count != count {
            let found = format!("{} numbers of {name}", section.count);
            return Err(self.damaged(found, format!("{count}, as the rest of the header has it")).into());
        }
        let start = self.at;
        self.bytes(&section, |_| {})?;
        self.skip_filling()?;
        Ok(start)
    }

    /// Goes on to the next section, which must be of this name and kind.
    fn expect<N: Number>(&mut self, name: &str) -> Result<Section> {
        let Some(section) = self.header.sections.get(self.next).filter(|section| section.name == name).cloned() else {
            let found = self.header.sections.get(self.next).map_or("the end".into(), |section| section.name.clone());
            return Err(self.damaged(found, format!("the section {name}")).into());
        };
        if section.kind != N::KIND {
            let found = format!("{name} of {:?}", section.kind);
            return Err(self.damaged(found, format!("{:?}", N::KIND)).into());
        }
        self.next += 1;
        Ok(section)
    }

    fn numbers<N: Number>(&mut self, section: &Section) -> Result<Vec<N>> {
        let mut numbers = Vec::with_capacity(section.count as usize);
        let mut unfit = false;
        self.bytes(section, |part| {
            for bytes in part.chunks_exact(section.kind.size() as usize) {
                match N::read(bytes) {
                    Some(number) => numbers.push(number),
                    None => unfit = true,
                }
            }
        })?;
        if unfit {
            return Err(self.damaged("a number that this machine cannot hold", "a smaller one").into());
        }
        Ok(numbers)
    }

    /// All bytes of a section, part by part, whose checksum is looked at then.
    fn bytes(&mut self, section: &Section, mut take: impl FnMut(&[u8])) -> Result<()> {
        // The header has been checked against the length of the file.
        let mut left = section.bytes().unwrap_or(0);
        let mut buffer = vec![0u8; AT_ONCE.min(left as usize)];
        let mut crc = crc32fast::Hasher::new();
        while left > 0 {
            let part = &mut buffer[..AT_ONCE.min(left as usize)];
            self.reader.read_exact(part).map_err(|error| {
                self.place.malformed(error.to_string(), format!("all of {}", section.name)).hint(DAMAGED)
            })?;
            crc.update(part);
            take(part);
            left -= part.len() as u64;
            self.at += part.len() as u64;
        }
        if crc.finalize() != section.crc32 {
            let found = format!("{} with another checksum", section.name);
            return Err(self.damaged(found, "the bytes that were written").into());
        }
        Ok(())
    }

    fn skip_filling(&mut self) -> Result<()> {
        let mut zeros = [0u8; crate::compact::ALIGNMENT as usize];
        let missing = aligned(self.at).unwrap_or(self.at) - self.at;
        let filling = &mut zeros[..missing as usize];
        self.reader
            .read_exact(filling)
            .map_err(|error| self.place.malformed(error.to_string(), "zeros between sections").hint(DAMAGED))?;
        self.at += missing;
        Ok(())
    }

    fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        if !self.next_is(name) {
            return Ok(None);
        }
        let json: Vec<u8> = self.take_all(name)?;
        let texts = serde_json::from_slice(&json);
        Ok(Some(texts.map_err(|error| self.damaged(format!("{name}: {error}"), "a list of texts in JSON"))?))
    }

    fn node_names(&mut self, nodes: usize) -> Result<Option<Names>> {
        if !self.next_is("node.names") {
            return Ok(None);
        }
        if self.next_kind() == Some(Kind::I64) {
            return Ok(Some(Names::Integers(self.take("node.names", nodes as u64)?)));
        }
        let names = self.texts("node.names")?.unwrap_or_default();
        Ok(Some(Names::Strings(names.into_iter().map(Into::into).collect())))
    }

    fn features(&mut self, prefix: &str, shape: Option<&Shape>, rows: usize) -> Result<Option<Features>> {
        let values = format!("{prefix}.values");
        let times = |columns: u64| (rows as u64).saturating_mul(columns);
        self.check_columns(prefix, shape)?;
        Ok(Some(match shape {
            None => return Ok(None),
            Some(Shape::Dense { columns }) => {
                Features::Dense(Dense::new(rows, width(*columns), self.take(&values, times(*columns))?)?)
            }
            Some(Shape::Sparse { columns }) => {
                let indptr = self.take(&format!("{prefix}.indptr"), rows as u64 + 1)?;
                let indices: Vec<u32> = self.take_all(&format!("{prefix}.indices"))?;
                let values = self.take(&values, indices.len() as u64)?;
                Features::Sparse(Sparse::new(width(*columns), indptr, indices, values)?)
            }
            Some(Shape::Categorical { cardinalities }) => {
                let codes = self.take(&format!("{prefix}.codes"), times(cardinalities.len() as u64))?;
                Features::Categorical(Categorical::new(cardinalities.clone(), codes)?)
            }
        }))
    }

    /// Features that stay in the file, which is read once to see that it is whole.
    fn stored_features(&mut self, path: &Path, shape: Option<&Shape>, rows: usize) -> Result<StoredFeatures> {
        self.check_columns("features", shape)?;
        let (columns, layout) = match shape {
            Some(Shape::Sparse { columns }) => {
                let indptr: Vec<usize> = self.take("features.indptr", rows as u64 + 1)?;
                let entries = indptr.last().copied().unwrap_or(0);
                if indptr[0] != 0 || !indptr.is_sorted() {
                    return Err(self
                        .damaged("rows of features in another order", "rows that follow each other")
                        .into());
                }
                let indices = self.pass::<u32>("features.indices", entries as u64)?;
                let values = self.pass::<f32>("features.values", entries as u64)?;
                (*columns, Layout::Sparse { indptr, indices, values })
            }
            Some(Shape::Dense { columns }) => {
                let values = self.pass::<f32>("features.values", (rows as u64).saturating_mul(*columns))?;
                (*columns, Layout::Single { values })
            }
            _ => return Err(self.damaged("features of another kind", "dense or sparse ones").into()),
        };
        let rows = FileRows::open(path, rows, width(columns), layout).map_err(Error::io("read", path))?;
        Ok(StoredFeatures::new(rows)?)
    }

    /// Of a sparse matrix nothing in the file has a column's size.
    fn check_columns(&self, prefix: &str, shape: Option<&Shape>) -> Result<()> {
        match shape {
            Some(Shape::Sparse { columns }) if *columns > MOST_COLUMNS => {
                let found = format!("{prefix}: {columns} columns");
                Err(self.damaged(found, "at most 268,435,456 of a sparse matrix").into())
            }
            _ => Ok(()),
        }
    }

    fn labels(&mut self, name: &str, kind: Option<LabelKind>, rows: usize) -> Result<Option<Labels>> {
        let times = |names: &[String]| (rows as u64).saturating_mul(names.len() as u64);
        Ok(Some(match kind {
            None => return Ok(None),
            Some(LabelKind::Classes { names }) => {
                let of: Vec<u32> = self.take(name, rows as u64)?;
                let of = of.into_iter().map(|class| (class != u32::MAX).then_some(class)).collect();
                Labels::Classes(Classes::new(names, of)?)
            }
            Some(LabelKind::MultiLabel { names }) => {
                let answers: Vec<u8> = self.take(name, times(&names))?;
                if let Some(other) = answers.iter().find(|answer| **answer > 2) {
                    return Err(self.damaged(format!("{name} has the answer {other}"), "0, 1, or 2 for none").into());
                }
                let answers = answers.into_iter().map(|answer| (answer < 2).then_some(answer == 1)).collect();
                Labels::MultiLabel(MultiLabel::new(names, answers)?)
            }
            Some(LabelKind::Regression { names }) => {
                let values: Vec<f32> = self.take(name, times(&names))?;
                let values = values.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect();
                Labels::Regression(Regression::new(names, values)?)
            }
        }))
    }

    fn finish(&self) -> Result<()> {
        match self.header.sections.get(self.next) {
            Some(section) => Err(self.damaged(format!("the section {}", section.name), "no more sections").into()),
            None => Ok(()),
        }
    }
}

fn width(columns: u64) -> usize {
    columns.min(u64::from(u32::MAX)) as usize
}

const DAMAGED: &str = "the file may be damaged; write or copy it anew";
