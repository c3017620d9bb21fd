//! Embeddings of a model, and what early stopping looks at.

use burn::Tensor;
use burn::module::Module;

use super::{Clock, Trainer};
use crate::Embeddings;
use crate::error::Result;
use crate::method::Method;
use crate::sample::Loaded;
use crate::supervision::Part;
use crate::task::TaskLevel;

/// Graphs of a set that are embedded at once.
const EMBEDDED_AT_ONCE: usize = 128;
/// Stands for an epoch where views are drawn to be embedded.
const EMBEDDING: u32 = u32::MAX;

impl<M: Method> Trainer<'_, M> {
    /// One row for each node, or for each graph of a set.
    ///
    /// # Errors
    /// When the data do not fit the model.
    pub(crate) fn embed(&self, model: &M::Model) -> Result<Embeddings> {
        let model = model.valid();
        let views = self.fitted(&self.method.embedding_views(self.given))?;
        let embed = |loaded: &Loaded<'_>| -> Result<Tensor<2>> {
            let samples = self.draw(loaded, &views, (EMBEDDING, 0), 0)?;
            self.method.embed(&model, &self.eval_step(None, &samples, None, Clock::default()))
        };
        let mut embeddings = Embeddings::default();
        match self.task.level {
            TaskLevel::Nodes => embeddings.extend(embed(&self.data.load_all(self.device)?)?),
            TaskLevel::Graphs => {
                let graphs: Vec<usize> = (0..self.task.num_graphs).collect();
                for graphs in graphs.chunks(EMBEDDED_AT_ONCE) {
                    embeddings.extend(embed(&self.data.load(graphs, self.device)?)?);
                }
            }
        }
        Ok(embeddings)
    }

    /// The method's own value on the validation set, the mean over its items; `None` where the method has none.
    pub(super) fn validation(&self, model: &M::Model, clock: Clock) -> Result<Option<f32>> {
        let model = model.valid();
        let items = self.supervision.map(|labels| labels.known(Part::Validation));
        let validate = |loaded: &Loaded<'_>| -> Result<Option<f32>> {
            let clean = loaded.clean(self.data, &self.requirements.operators)?;
            let labels =
                self.supervision.map(|labels| labels.of_step(loaded, self.task.level, Part::Validation, &self.balance));
            self.method.validate(&model, &self.eval_step(Some(&clean), &[], labels.as_ref(), clock))
        };
        if self.task.level == TaskLevel::Nodes {
            return validate(&self.data.load_all(self.device)?);
        }
        let graphs: Vec<usize> = match items {
            Some(items) => items.into_iter().map(|graph| graph as usize).collect(),
            None => (0..self.task.num_graphs).collect(),
        };
        let (mut sum, mut count) = (0.0, 0);
        for graphs in graphs.chunks(EMBEDDED_AT_ONCE) {
            let Some(value) = validate(&self.data.load(graphs, self.device)?)? else { return Ok(None) };
            sum += f64::from(value) * graphs.len() as f64;
            count += graphs.len();
        }
        Ok((count > 0).then(|| (sum / count as f64) as f32))
    }
}
