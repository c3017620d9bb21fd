//! A path, a known name, a generator or a transform becomes a dataset.

use std::path::Path;

use fiedler_graph::{Dataset, generate};

use crate::catalogue;
use crate::error::Result;
use crate::input::STANDARD_INPUT;
use crate::read::{self, ReadOptions};
use crate::transform;

/// Reads, finds or makes a dataset: `data` is a path, a name of the [`catalogue`], a line for [`generate::from_spec`], or one for a
/// [transform](crate::transform) of any of them. The seed is that of generators and transforms that do not name their own.
///
/// `-` is standard input. A path that exists goes first. What has a folder or an extension is taken for a path even if nothing is there.
///
/// ```
/// use fiedler_io::{ReadOptions, open};
/// let options = ReadOptions::default();
/// assert_eq!(open("karate", &options, 0)?.graphs.num_edges(), 78);
/// assert_eq!(open("sbm:nodes=50,classes=2", &options, 7)?.graphs.num_nodes(), 50);
/// assert_eq!(open("ego:karate,hops=1,count=5", &options, 0)?.graphs.len(), 5);
/// assert!(open("nothing/here.csv", &options, 0).unwrap_err().to_string().starts_with("cannot read nothing/here.csv"));
/// # Ok::<(), fiedler_io::Error>(())
/// ```
///
/// # Errors
/// When there is no such file, dataset or generator, or what there is cannot be read.
pub fn open(data: &str, options: &ReadOptions, seed: u64) -> Result<Dataset> {
    let exists = data == STANDARD_INPUT || Path::new(data).exists();
    if !exists {
        if let Some(named) = transform::named(data) {
            let mut dataset = open(named.line, options, seed)?;
            dataset.name = named.name.to_owned();
            return Ok(dataset);
        }
        if let Some((transform, rest)) = transform::find(data) {
            return transform.open(rest, options, seed);
        }
    }
    if generate::is_spec(data) && !exists {
        return Ok(generate::from_spec(data, seed)?);
    }
    if exists || looks_like_path(data) {
        return read::read(data, options);
    }
    catalogue::open(data, options)
}

/// Names have neither folders nor extensions; what has them was meant as a path, even if nothing is there.
fn looks_like_path(data: &str) -> bool {
    data.contains(std::path::is_separator) || Path::new(data).extension().is_some()
}
