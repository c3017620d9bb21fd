//! The pairs of one graph in parts, which several processes hold between steps: only numbers of nodes travel.
//!
//! A [`Part`] has a stretch of the nodes, with all pairs around them, and a stretch of the pairs. It gathers for its nodes what the objective asks of their
//! partners, and adds up over its pairs; a pair whose ends are in two parts is held by both, and moves alike in both. Stretches end where one process
//! ends a piece of its sums, and sums of pieces are added in their order: what comes of an ascent has the same bits as [`Pairs`], however many parts there are.

mod part;
mod question;

use std::sync::{Mutex, PoisonError};

use fiedler_spectral::Operator;

pub use part::Part;
use question::Ask;
pub use question::{Answer, Question};

use super::{From, Mass, Moved, Pairs, Power, Rise, Support};
use crate::error::{Error, Result};
use crate::kernel::PairKernel;
use crate::objective::Evaluation;
use crate::objective::sampled::Quadrature;
use crate::objective::sampled::listed::{Gathered, together};
use crate::projection::shift_to_budget;

/// Whoever holds the parts of a graph's pairs.
///
/// A part answers by what it has been asked before, and by nothing else: one that is lost can be had again from what it was handed, or a later copy of it,
/// and the questions since.
pub trait Holders: Sync {
    /// How many parts there are to be.
    fn count(&self) -> usize;

    /// Takes the parts, in place of any that were held before.
    ///
    /// # Errors
    /// When they cannot be held.
    fn hold(&self, parts: Vec<Part>) -> Result<()>;

    /// Asks every part the same, and gives their answers in the order of the parts.
    ///
    /// # Errors
    /// When a part cannot be reached any more.
    fn ask(&self, question: &Question) -> Result<Vec<Answer>>;
}

/// Pairs that are held in parts elsewhere.
pub(crate) struct PartedPairs<'h> {
    holders: &'h dyn Holders,
    operator: Operator,
    /// Which pairs there are; values and their shift are elsewhere, but for the largest value.
    pairs: Pairs,
    shift: f32,
    held_shift: f32,
    /// The mass of the values as they are, at the last shift it was asked for in a projection.
    weighed: Option<(f32, (f64, f64))>,
    /// What went wrong where there was no way to say so.
    failed: Mutex<Option<Error>>,
}

impl<'h> PartedPairs<'h> {
    /// Hands out the pairs with their values.
    pub(crate) fn new(pairs: Pairs, operator: Operator, holders: &'h dyn Holders) -> Result<PartedPairs<'h>> {
        let shift = pairs.raw().1.shift;
        holders.hold(Part::all(&pairs, operator, holders.count()))?;
        let failed = Mutex::new(None);
        Ok(PartedPairs { holders, operator, pairs, shift, held_shift: 0.0, weighed: None, failed })
    }

    /// The norm of drawn graphs and its derivative.
    ///
    /// # Errors
    /// When a part cannot be reached, now or before.
    pub(crate) fn evaluate(&self) -> Result<Evaluation> {
        let mut nodes = Vec::with_capacity(self.num_nodes());
        for answer in self.ask(Ask::Products)? {
            nodes.extend(answer.products()?);
        }
        let mut gathered = Gathered::default();
        let question = self.question(Ask::Gather { nodes });
        for answer in self.holders.ask(&question)? {
            gathered.extend(answer.gathered()?);
        }
        let Ask::Gather { nodes } = question.ask else { return Err(Error::parts("a question was lost")) };
        Ok(together(&nodes, gathered, self.operator))
    }

    /// The pairs with the values that they have come to.
    ///
    /// # Errors
    /// When a part cannot be reached, now or before.
    pub(crate) fn into_pairs(self) -> Result<Pairs> {
        self.fetched()
    }

    fn fetched(&self) -> Result<Pairs> {
        let mut values = Vec::with_capacity(self.pairs.len());
        for answer in self.ask(Ask::Values)? {
            values.extend(answer.values()?);
        }
        if values.len() != self.pairs.len() {
            return Err(Error::parts(format!("{} values came of {} pairs", values.len(), self.pairs.len())));
        }
        let mut pairs = self.pairs.clone();
        pairs.set_raw(values, self.shift);
        Ok(pairs)
    }

    fn question(&self, ask: Ask) -> Question {
        Question { shift: self.shift, held_shift: self.held_shift, ask }
    }

    /// Asks, unless something went wrong before.
    fn ask(&self, ask: Ask) -> Result<Vec<Answer>> {
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => self.holders.ask(&self.question(ask)),
        }
    }

    /// What came of something that cannot fail by its signature; the next that can will tell.
    fn or_later<T: Default>(&self, result: Result<T>) -> T {
        result.unwrap_or_else(|error| {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            T::default()
        })
    }

    /// Asks for a change of the values, which are projected by `shift` from then on.
    fn change(&mut self, ask: Ask, shift: f32) {
        let done = self.ask(ask).map(drop);
        self.or_later(done);
        self.changed(shift);
    }

    fn changed(&mut self, shift: f32) {
        (self.shift, self.weighed) = (shift, None);
    }

    fn quadrature(&self, kernel: &PairKernel) -> Vec<Quadrature> {
        let found = kernel.sampled.as_deref().map(|sampled| sampled.quadrature().to_vec());
        self.or_later(found.ok_or_else(|| Error::parts("the objective is not that of drawn graphs")))
    }

    /// What every piece of pairs comes to, in their order.
    fn pieces<T>(&self, ask: Ask, of: impl Fn(Answer) -> Result<Vec<T>>) -> Vec<T> {
        let all = || self.ask(ask)?.into_iter().map(of).collect::<Result<Vec<_>>>();
        self.or_later(all()).into_iter().flatten().collect()
    }
}

impl Support for PartedPairs<'_> {
    fn num_nodes(&self) -> usize {
        self.pairs.num_nodes()
    }

    fn sums(&self, power: Power, factor: &[f64]) -> Vec<f64> {
        self.or_later(self.fetched().map(|pairs| pairs.sums(power, factor)))
    }

    fn places(&self) -> usize {
        self.pairs.places()
    }

    fn advance(&mut self, kernel: &PairKernel, rate: f64) {
        let quadrature = self.quadrature(kernel);
        self.change(Ask::Advance { quadrature, rate }, 0.0);
    }

    fn attempt(&mut self, from: From, kernel: &PairKernel, rate: f64, _guess: f64) {
        let is_current = from == From::Current;
        if is_current {
            self.held_shift = self.shift;
        }
        let quadrature = self.quadrature(kernel);
        self.change(Ask::Attempt { is_current, quadrature, rate }, 0.0);
    }

    fn blend(&mut self, share: f64) {
        self.change(Ask::Blend { share }, 0.0);
    }

    fn restore(&mut self) {
        self.change(Ask::Restore, self.held_shift);
    }

    fn release(&mut self) {
        self.change(Ask::Release, self.shift);
    }

    fn moved(&self) -> Moved {
        self.pieces(Ask::Moved, Answer::moved).into_iter().sum()
    }

    fn rise(&self, kernel: &PairKernel, sign: f64, threshold: f64) -> Rise {
        let quadrature = self.quadrature(kernel);
        let pieces = self.pieces(Ask::Rise { quadrature, sign, threshold }, Answer::rises);
        pieces.into_iter().fold(Rise::default(), Rise::and)
    }

    fn fill(&mut self, value: &mut dyn FnMut() -> f32) {
        self.pairs.fill(value);
        let held = self.holders.hold(Part::all(&self.pairs, self.operator, self.holders.count()));
        self.or_later(held);
        self.changed(0.0);
    }

    fn mass_at(&self, shift: f64) -> (f64, f64) {
        let shift = shift as f32;
        if let Some((_, mass)) = self.weighed.filter(|(weighed, _)| *weighed == shift) {
            return mass;
        }
        let pieces = self.pieces(Ask::Weigh { shift }, Answer::masses);
        pieces.into_iter().fold((0.0, 0.0), |sum, piece| (sum.0 + piece.0, sum.1 + piece.1))
    }

    fn project(&mut self, budget: f64, guess: f64) -> f64 {
        let mut weighed = None;
        let shift = shift_to_budget(budget, guess, |shift| {
            let mass = self.mass_at(shift);
            weighed = Some((shift as f32, mass));
            mass
        });
        self.changed(shift as f32);
        self.weighed = weighed;
        shift
    }

    fn shift(&self) -> f64 {
        self.shift.into()
    }

    fn set_shift(&mut self, shift: f64) {
        self.changed(shift as f32);
    }

    fn most(&self) -> f64 {
        self.pairs.most()
    }

    fn set_most(&mut self, most: f64) {
        // Parts know the largest value from the beginning.
        let mut pairs = self.or_later(self.fetched().map(Some)).unwrap_or_else(|| self.pairs.clone());
        pairs.set_most(most);
        let held = self.holders.hold(Part::all(&pairs, self.operator, self.holders.count()));
        self.or_later(held);
        self.pairs = pairs;
    }

    fn mass(&self) -> Mass {
        self.or_later(self.fetched().map(|pairs| pairs.mass()))
    }

    fn visit(&self, visit: &mut dyn FnMut(u32, u32, bool, f32)) {
        let found = self.fetched().map(|pairs| pairs.visit(visit));
        self.or_later(found);
    }

    fn bytes(&self) -> u64 {
        self.pairs.bytes()
    }
}
