//! Probes: simple models on top of embeddings, whose success tells how good the embeddings are.
//!
//! A probe is one file with its settings, how it is fitted, and how its hyperparameters are chosen on validation; and one line in the list
//! below. `grid.rs` chooses for every probe that has one penalty, so that such a probe only has to tell its grid and how to fit.

mod adam;
mod columns;
mod design;
mod grid;
mod lbfgs;
mod likelihood;
mod linear;
mod linear_svm;
mod logistic;
mod logistic_solver;
mod ridge;
mod smo;
mod svm;
mod task;

use fiedler_graph::Labels;

pub use adam::{AdamSettings, AdamTrainer};
pub use design::Design;
pub use linear::Linear;
pub use linear_svm::{LinearSvmSettings, fit_linear_svm};
pub use logistic::{DEFAULT_CS, LogisticFit, LogisticSettings, fit_logistic};
pub use ridge::{DEFAULT_ALPHAS, RidgeSettings, fit_ridge};
pub use svm::{DEFAULT_SVM_CS, SvmModel, SvmSettings, fit_svm};
pub(crate) use task::{ChosenProbe, ProbeTask, SCORED_AT_ONCE, meaningless};

use crate::error::{Error, Result};
use crate::list::listed_settings;
use crate::protocol::Protocol;
use crate::scaling::{DEFAULT_SCALING, Scaling};
use crate::target::{LabelKind, Target};

listed_settings! {
    /// Probe: the simple model that is fitted to embeddings, with its settings.
    ///
    /// In settings it is a name, which stands for default settings, or a table:
    ///
    /// ```
    /// use fiedler_evaluate::Probe;
    /// use fiedler_evaluate::probe::LogisticSettings;
    ///
    /// let probe: Probe = serde_json::from_str(r#"{"name": "logistic", "cs": [0.1, 1.0]}"#)?;
    /// assert_eq!(probe, Probe::Logistic(LogisticSettings { cs: vec![0.1, 1.0], ..Default::default() }));
    /// assert_eq!("ridge".parse::<Probe>()?, Probe::Ridge(Default::default()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub enum Probe as "probe", dyn ProbeMethod {
        "logistic" => Logistic(LogisticSettings),
        "ridge" => Ridge(RidgeSettings),
        "adam" => Adam(AdamSettings),
        "svm" | "rbf-svm" => Svm(SvmSettings),
        "linear-svm" => LinearSvm(LinearSvmSettings),
    }
}

/// What a probe has to tell and to do.
trait ProbeMethod {
    /// The kinds of labels it can predict.
    fn serves(&self) -> &'static [LabelKind];

    /// # Errors
    /// When a setting is out of its range.
    fn check(&self) -> Result<()>;

    /// The probe and what is chosen, in words.
    fn describe(&self, target: &Target) -> String;

    /// Fits models to the training set and chooses one on the validation set; nothing else is known to it.
    fn choose(&self, task: &ProbeTask<'_>) -> Result<ChosenProbe>;

    /// Scalings to choose from where none are asked for.
    fn scaling(&self) -> &'static [Scaling] {
        &DEFAULT_SCALING
    }

    /// Whether every split must have a validation set.
    fn needs_validation(&self) -> bool {
        false
    }

    /// Steps of progress that one split takes.
    fn steps(&self, _target: &Target, _scalings: usize) -> usize {
        1
    }
}

impl Probe {
    /// The protocol's own probe where it has one; else logistic regression for classes and tasks, ridge regression for values.
    pub fn usual(protocol: &Protocol, labels: &Labels) -> Probe {
        protocol.probe().unwrap_or_else(|| match LabelKind::of(labels) {
            LabelKind::Classes | LabelKind::MultiLabel => LogisticSettings::default().into(),
            LabelKind::Regression => RidgeSettings::default().into(),
        })
    }

    /// The kinds of labels it can predict.
    pub fn serves(&self) -> &'static [LabelKind] {
        self.settings().serves()
    }

    /// Checks the settings, and that the probe can predict labels of this kind.
    ///
    /// # Errors
    /// When a setting is out of its range; when other labels are needed, naming the probes that would do.
    pub fn check(&self, labels: &Labels) -> Result<()> {
        let kind = LabelKind::of(labels);
        if !self.serves().contains(&kind) {
            let able: Vec<&str> =
                Probe::all().iter().filter(|probe| probe.serves().contains(&kind)).map(Probe::name).collect();
            let expected = format!("{}, since labels are {kind}", able.join(" or "));
            let error = Error::setting("probe", self, expected);
            return Err(error.advise("name a probe, or a protocol that has no probe of its own"));
        }
        self.settings().check()
    }

    pub(crate) fn describe(&self, target: &Target) -> String {
        self.settings().describe(target)
    }

    pub(crate) fn choose(&self, task: &ProbeTask<'_>) -> Result<ChosenProbe> {
        self.settings().choose(task)
    }

    pub(crate) fn scaling(&self) -> &'static [Scaling] {
        self.settings().scaling()
    }

    pub(crate) fn needs_validation(&self) -> bool {
        self.settings().needs_validation()
    }

    pub(crate) fn steps(&self, target: &Target, scalings: usize) -> usize {
        self.settings().steps(target, scalings)
    }
}

/// Checks a list of numbers to choose from.
fn check_grid(name: &str, values: &[f64], is_fine: impl Fn(f64) -> bool, expected: &str) -> Result<()> {
    if values.is_empty() {
        return Err(Error::setting(name, "empty", "at least one number to choose from"));
    }
    match values.iter().find(|value| !is_fine(**value)) {
        Some(value) => Err(Error::setting(format!("one of {name}"), value, expected)),
        None => Ok(()),
    }
}

fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// Numbers to choose from, in words.
fn list(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("{{{}}}", numbers.join(", "))
}
