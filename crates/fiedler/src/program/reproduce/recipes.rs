//! Which settings a dataset is learned with.

use std::fs;
use std::path::PathBuf;

use fiedler_augment::Settings as SchemeSettings;
use fiedler_learn::data::Level;
use fiedler_learn::run::Settings;

use crate::program::failure::{Exit, Failure};
use crate::program::ledger::Ledger;
use crate::program::run::{folder, recipe};

/// Where recipes come from: a folder of the user's, then those of the program.
pub struct Recipes {
    pub folder: Option<PathBuf>,
    pub ledger: Ledger,
    /// Overrides the number of epochs.
    pub epochs: Option<usize>,
}

/// Settings, and the name they were found under.
#[derive(Debug, Clone)]
pub struct Found {
    pub name: String,
    /// What it says of itself.
    pub about: String,
    pub settings: Settings,
}

impl Recipes {
    /// The settings of the paper's method for a dataset: `NAME-LEDGER`, else `NAME`, else what the paper says in general. The
    /// reference ledger has its own.
    pub fn span(&self, dataset: &str, level: Level) -> Result<Found, Failure> {
        if self.ledger == Ledger::Reference {
            return self.general("reference", level);
        }
        match self.first([format!("{dataset}-{}", self.ledger.name()), dataset.to_owned()])? {
            Some(found) => Ok(found),
            None => self.general("paper", level),
        }
    }

    /// The same with another scheme: `NAME-SCHEME-LEDGER`, else `NAME-SCHEME`, else [`Recipes::span`] with its scheme replaced.
    pub fn with_scheme(
        &self,
        dataset: &str,
        level: Level,
        scheme: &str,
        replace: impl Fn(&SchemeSettings) -> SchemeSettings,
    ) -> Result<Found, Failure> {
        let own = [format!("{dataset}-{scheme}-{}", self.ledger.name()), format!("{dataset}-{scheme}")];
        if self.ledger != Ledger::Reference
            && let Some(found) = self.first(own)?
        {
            return Ok(found);
        }
        let mut found = self.span(dataset, level)?;
        found.settings.scheme.0 = replace(&found.settings.scheme.0);
        Ok(found)
    }

    /// The settings of the supervised encoder for a dataset.
    pub fn supervised(&self, dataset: &str, level: Level) -> Result<Found, Failure> {
        let own = [format!("{dataset}-supervised-{}", self.ledger.name()), format!("{dataset}-supervised")];
        match self.first(own)? {
            Some(found) => Ok(found),
            None => self.general("supervised", level),
        }
    }

    fn general(&self, kind: &str, level: Level) -> Result<Found, Failure> {
        let name = match level {
            Level::Nodes => format!("{kind}-nodes"),
            Level::Graphs => format!("{kind}-graphs"),
        };
        match recipe::find(&name)? {
            Some(found) => Ok(self.adjusted(name, found)),
            None => Err(Failure::new(Exit::Unexpected, format!("there is no recipe {name}"), None)),
        }
    }

    fn first(&self, names: [String; 2]) -> Result<Option<Found>, Failure> {
        for name in &names {
            if let Some(path) = self.folder.as_ref().map(|folder| folder.join(format!("{name}.toml")))
                && path.is_file()
            {
                let (settings, _) = folder::read_settings(&path)?;
                let about = recipe::about(&fs::read_to_string(&path).unwrap_or_default());
                return Ok(Some(self.adjusted(path.display().to_string(), (settings, about))));
            }
        }
        for name in names {
            if let Some(found) = recipe::find(&name)? {
                return Ok(Some(self.adjusted(name, found)));
            }
        }
        Ok(None)
    }

    fn adjusted(&self, name: String, (mut settings, about): (Settings, String)) -> Found {
        settings.seed = 0;
        if let Some(epochs) = self.epochs {
            settings.training.epochs = epochs;
        }
        Found { name, about, settings }
    }
}
