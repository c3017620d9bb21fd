//! What a fine-tuning starts from.

use std::path::{Path, PathBuf};

use fiedler_learn::run::Settings;
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::{PretrainedEncoder, SavedEncoder, TaskLevel};

use crate::error::{Error, ErrorKind, Result};
use crate::recipe;
use crate::run::{ENCODER, read_encoder};
use crate::task::Task;

/// What a fine-tuning starts from: the encoder of a run, an encoder of the same shape with random weights, or neither.
pub struct Start {
    encoder: Option<(SavedEncoder, PretrainedEncoder)>,
    run: Option<PathBuf>,
}

impl Start {
    /// The encoder of a run: its folder, or the file of an encoder; `none` for random weights, in the shape of the encoder of `like` where
    /// one is given.
    ///
    /// # Errors
    /// When there is no encoder, it cannot be read, or its method has none that could be trained further.
    pub fn read(run: &str, like: Option<&Path>) -> Result<Start> {
        if run != "none" && like.is_some() {
            let hint = "leave it out, or give `none` as RUN".to_owned();
            return Err(Error::new(ErrorKind::Usage, "--like is for an encoder that starts from random weights", hint));
        }
        let (source, from_weights) = match (run, like) {
            ("none", None) => return Ok(Start { encoder: None, run: None }),
            ("none", Some(like)) => (like.to_owned(), false),
            (run, _) => (PathBuf::from(run), true),
        };
        let path = if source.is_dir() { source.join(ENCODER) } else { source.clone() };
        if !path.is_file() {
            let message = format!("{} holds no encoder", source.display());
            let hint = "give the folder of a finished `fiedler embed`, its encoder.safetensors, or none".to_owned();
            return Err(Error::new(ErrorKind::NotFound, message, hint));
        }
        Start::of(read_encoder(&path)?, from_weights.then_some(source)).map_err(Error::in_file(&path))
    }

    /// An encoder that is there already: with its weights, where the run that it comes from is named, else with random ones in its shape.
    ///
    /// # Errors
    /// When its method has none that could be trained further.
    pub fn of(encoder: SavedEncoder, run: Option<PathBuf>) -> Result<Start> {
        let pretrained = encoder.pretrained()?;
        Ok(Start { encoder: Some((encoder, pretrained)), run })
    }

    /// The run whose weights it starts from.
    pub fn run(&self) -> Option<&Path> {
        self.run.as_deref()
    }

    /// The weights that it starts from.
    pub fn weights(&self) -> Option<&StateDict> {
        self.encoder.as_ref().filter(|_| self.run.is_some()).map(|(_, pretrained)| pretrained.weights())
    }

    /// Puts the features of the data in the order of those that the encoder knows.
    ///
    /// # Errors
    /// When the data have other features than those that the encoder was trained on.
    pub fn align(&self, task: &mut Task) -> Result<()> {
        match &self.encoder {
            Some((saved, _)) => Ok(saved.align(&mut task.dataset)?),
            None => Ok(()),
        }
    }

    /// The settings of the recipe `finetune-nodes` or `finetune-graphs`, with the encoder and the features of what it starts from.
    ///
    /// # Errors
    /// When the recipe cannot be read, which is a bug.
    pub fn settings(&self, level: TaskLevel) -> Result<Settings> {
        let name = if level == TaskLevel::Nodes { "finetune-nodes" } else { "finetune-graphs" };
        let mut settings = recipe::get(name)?.settings;
        if let Some((_, pretrained)) = &self.encoder {
            settings.features = pretrained.features.clone();
            settings.method = pretrained.method(self.run.is_some()).into();
        }
        Ok(settings)
    }
}
