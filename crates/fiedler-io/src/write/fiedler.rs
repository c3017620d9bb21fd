//! Our own format: see [`compact`](crate::compact).

use std::io::{self, Write};
use std::path::Path;

use fiedler_graph::{Dataset, Features, Labels, Names};

use super::Format;
use crate::atomic::AtomicFiles;
use crate::compact::{ALIGNMENT, Header, LabelKind, Number, Section, Shape, aligned, preamble};
use crate::error::{Error, Result};

/// Numbers that become bytes at once.
const AT_ONCE: usize = 1 << 16;

/// Our own format.
pub(super) const FORMAT: Format = Format {
    name: "fiedler",
    endings: &[".fiedler"],
    about: "fiedler's own format: a graph or a set, with everything that is known of it, with checksums; opened fastest",
    holds_sets: true,
    left_out: |_| Vec::new(),
    write,
};

fn write(dataset: &Dataset, path: &Path, files: &mut AtomicFiles) -> Result<()> {
    let mut sections = Sections::default();
    let written = dataset_sections(dataset, &mut sections);
    let header = Header {
        nodes: dataset.graphs.num_nodes() as u64,
        graphs: dataset.graphs.len() as u64,
        features: dataset.features.as_ref().map(Shape::of),
        edge_features: dataset.edge_features.as_ref().map(Shape::of),
        node_labels: dataset.node_labels.as_ref().map(LabelKind::of),
        graph_labels: dataset.graph_labels.as_ref().map(LabelKind::of),
        splits: dataset.splits.iter().map(|split| split.name.clone()).collect(),
        sections: sections.described,
    };
    let unwritable = |error: serde_json::Error| Error::setting("name", error, "text that JSON can hold");
    written.map_err(unwritable)?;
    let header = serde_json::to_vec(&header).map_err(unwritable)?;
    files.write(path, |writer| {
        writer.write_all(&preamble(&header))?;
        writer.write_all(&header)?;
        fill(writer, (preamble(&header).len() + header.len()) as u64)?;
        for bytes in &sections.parts {
            let length = bytes(&mut *writer)?;
            fill(writer, length)?;
        }
        Ok(())
    })
}

/// Zeros up to the next section.
fn fill(writer: &mut dyn Write, length: u64) -> io::Result<()> {
    let zeros = [0u8; ALIGNMENT as usize];
    let missing = aligned(length).unwrap_or(length) - length;
    writer.write_all(&zeros[..missing as usize])
}

type Part<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<u64> + 'a>;

/// Sections, described for the header and ready to be written.
#[derive(Default)]
struct Sections<'a> {
    described: Vec<Section>,
    parts: Vec<Part<'a>>,
}

impl<'a> Sections<'a> {
    /// Adds an array; it is gone through twice, once for its checksum.
    fn push<N: Number + 'a, I: Iterator<Item = N> + 'a>(
        &mut self,
        name: impl Into<String>,
        numbers: impl Fn() -> I + 'a,
    ) {
        let mut crc = crc32fast::Hasher::new();
        let mut count = 0u64;
        let parts = move |take: &mut dyn FnMut(&[u8], u64) -> io::Result<()>| -> io::Result<()> {
            let mut bytes = Vec::with_capacity(AT_ONCE * 8);
            let mut held = 0u64;
            for number in numbers() {
                number.write(&mut bytes);
                held += 1;
                if held == AT_ONCE as u64 {
                    take(&bytes, held)?;
                    bytes.clear();
                    held = 0;
                }
            }
            take(&bytes, held)
        };
        let counted = parts(&mut |bytes: &[u8], numbers: u64| {
            crc.update(bytes);
            count += numbers;
            Ok(())
        });
        debug_assert!(counted.is_ok(), "counting writes nothing");
        self.described.push(Section { name: name.into(), kind: N::KIND, count, crc32: crc.finalize() });
        self.parts.push(Box::new(move |writer| {
            let mut length = 0;
            parts(&mut |bytes: &[u8], _: u64| {
                length += bytes.len() as u64;
                writer.write_all(bytes)
            })?;
            Ok(length)
        }));
    }

    fn texts(&mut self, name: impl Into<String>, texts: &[impl AsRef<str>]) -> serde_json::Result<()> {
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let json = serde_json::to_vec(&texts)?;
        self.push(name, move || json.clone().into_iter());
        Ok(())
    }

    fn features(&mut self, prefix: &str, features: &'a Features) {
        match features {
            Features::Dense(dense) => self.push(format!("{prefix}.values"), || dense.values().iter().copied()),
            Features::Sparse(sparse) => {
                self.push(format!("{prefix}.indptr"), || sparse.indptr().iter().copied());
                self.push(format!("{prefix}.indices"), || sparse.indices().iter().copied());
                self.push(format!("{prefix}.values"), || sparse.values().iter().copied());
            }
            Features::Categorical(codes) => self.push(format!("{prefix}.codes"), || codes.codes().iter().copied()),
        }
    }

    fn labels(&mut self, name: &str, labels: &'a Labels) {
        let rows = labels.len();
        match labels {
            Labels::Classes(classes) => {
                self.push(name, || classes.of().iter().map(|class| class.unwrap_or(u32::MAX)));
            }
            Labels::MultiLabel(tasks) => self.push(name, move || {
                (0..rows).flat_map(move |row| tasks.row(row)).map(|answer| answer.map_or(2u8, u8::from))
            }),
            Labels::Regression(values) => self.push(name, move || {
                (0..rows).flat_map(move |row| values.row(row)).map(|value| value.unwrap_or(f32::NAN))
            }),
        }
    }
}

fn dataset_sections<'a>(dataset: &'a Dataset, sections: &mut Sections<'a>) -> serde_json::Result<()> {
    let graph = dataset.graphs.block_diagonal();
    sections.push("graph.indptr", || graph.indptr().iter().copied());
    sections.push("graph.indices", || graph.indices().iter().copied());
    if let Some(weights) = graph.weights() {
        sections.push("graph.weights", || weights.iter().copied());
    }
    if dataset.graphs.len() != 1 {
        sections.push("graph.sizes", || dataset.graphs.node_offsets().windows(2).map(|ends| ends[1] - ends[0]));
    }
    match graph.names() {
        Some(Names::Integers(names)) => sections.push("node.names", || names.iter().copied()),
        Some(Names::Strings(names)) => sections.texts("node.names", names)?,
        None => {}
    }
    if let Some(features) = &dataset.features {
        sections.features("features", features);
    }
    if let Some(names) = &dataset.feature_names {
        sections.texts("features.names", names)?;
    }
    if let Some(features) = &dataset.edge_features {
        sections.features("edge_features", features);
    }
    if let Some(labels) = &dataset.node_labels {
        sections.labels("node_labels", labels);
    }
    if let Some(labels) = &dataset.graph_labels {
        sections.labels("graph_labels", labels);
    }
    if let Some(source) = &dataset.graph_source {
        sections.push("source.lines", || source.lines.iter().copied());
        if let Some(names) = &source.names {
            sections.texts("source.names", names)?;
        }
    }
    for (at, split) in dataset.splits.iter().enumerate() {
        let parts = [
            ("train", &split.train),
            ("validation", &split.validation),
            ("test", &split.test),
            ("stopping", &split.stopping),
        ];
        for (part, ids) in parts {
            sections.push(format!("split.{at}.{part}"), || ids.iter().copied());
        }
    }
    Ok(())
}
