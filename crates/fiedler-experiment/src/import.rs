//! Encoders that others have published as PyTorch files, as encoders of ours. Nothing in such a file is run.

use std::fs;
use std::path::{Path, PathBuf};

use fiedler_io::AtomicFiles;
use fiedler_io::read::torch::StateFile;
use fiedler_learn::published::{self, PublishedEncoder};
use fiedler_learn::state_dict::StateDict;
use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::finetune::RECORD;
use crate::run::ENCODER;

/// What an import left.
#[derive(Debug, Clone, Serialize)]
pub struct Import {
    /// The file that was read.
    pub from: PathBuf,
    /// The encoder, as a run would have left it.
    pub encoder: PathBuf,
    /// What it is, in words.
    pub shape: String,
    /// Tensors of the file that are no part of it.
    pub left_out: Vec<String>,
}

/// Reads a published encoder: the graph isomorphism network of Hu et al. with the names that it has in their program.
///
/// # Errors
/// When the file is not what `torch.save` writes, or its weights are not those of such an encoder; names the tensor that does not fit.
pub fn read_published(path: &Path) -> Result<PublishedEncoder> {
    let file = StateFile::read(path)?;
    let mut weights = StateDict::default();
    for (name, array) in file.tensors() {
        // Counts of batches are whole numbers; nothing else of them is.
        weights.insert(name, array.shape().to_vec(), array.to_f32()?)?;
    }
    published::hu_gin(&weights).map_err(|error| {
        let hint = "imported are the GIN encoders of Hu et al. for molecules, whose tensors are called x_embedding1.weight, gnns.0.mlp.0.weight, \
                    batch_norms.0.weight and so on, with or without a prefix";
        Error::new(ErrorKind::Data, format!("{}: {error}", path.display()), hint.to_owned())
    })
}

/// Imports a published encoder into a folder, where [`Start`](crate::finetune::Start) finds it.
///
/// # Errors
/// As [`read_published`], and when the folder has an encoder already and it may not be replaced, or cannot be written.
pub fn import(path: &Path, out: &Path, replace: bool) -> Result<Import> {
    let encoder = out.join(ENCODER);
    if !replace && encoder.exists() {
        return Err(Error::exists(encoder));
    }
    for record in ["run.json", RECORD] {
        if out.join(record).exists() {
            let message = format!("{} holds a run, with an encoder of its own", out.display());
            return Err(Error::new(ErrorKind::Output, message, "choose another folder".to_owned()));
        }
    }
    let published = read_published(path)?;
    let bytes = published.encoder.to_bytes()?;
    fs::create_dir_all(out).map_err(Error::io("create", out))?;
    let mut files = AtomicFiles::new(replace);
    files.write(&encoder, |file| std::io::Write::write_all(file, &bytes))?;
    files.finish()?;
    Ok(Import { from: path.to_owned(), encoder, shape: published.shape, left_out: published.left_out })
}
