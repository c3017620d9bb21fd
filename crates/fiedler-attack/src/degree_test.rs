//! The degree-distribution constraint: an attack that a test of the degrees would not notice.

/// Degrees below this do not count, d_min in the literature.
const LEAST_DEGREE: usize = 2;

/// The ratio that must not be reached: χ² with one degree of freedom, 5 % of its mass.
const CUTOFF: f64 = 0.004;

/// Degrees up to which a flip is judged by a table.
const TABLE: usize = 64;

/// Likelihood-ratio test that the degrees before and after are of one power law (Zügner and Günnemann 2019).
///
/// The log-likelihood has −(α + 1) Σ ln d, as in the program of the authors of Mettack; other programs have a plus there.
///
/// ```
/// use fiedler_attack::DegreeTest;
/// let test = DegreeTest::new(&[3, 3, 2, 2, 2, 1, 1]);
/// assert_eq!(test.ratio(), 0.0);
/// assert!(test.ratio_after(1, 1, true) > 0.0);
/// ```
#[derive(Debug, Clone)]
pub struct DegreeTest {
    original: Tail,
    current: Tail,
    /// Whether an addition, and a removal, at two degrees stays below the cutoff.
    table: Vec<[bool; 2]>,
}

/// Degrees that count: how many, and the sum of their logarithms.
#[derive(Debug, Clone, Copy)]
struct Tail {
    count: f64,
    logarithms: f64,
}

impl Tail {
    fn of(degrees: &[usize]) -> Tail {
        let counted = degrees.iter().filter(|degree| **degree >= LEAST_DEGREE);
        let mut tail = Tail { count: 0.0, logarithms: 0.0 };
        counted.for_each(|&degree| tail.shift(degree, 1.0));
        tail
    }

    fn shift(&mut self, degree: usize, times: f64) {
        if degree >= LEAST_DEGREE {
            self.count += times;
            self.logarithms += times * (degree as f64).ln();
        }
    }

    fn joined(self, other: Tail) -> Tail {
        Tail { count: self.count + other.count, logarithms: self.logarithms + other.logarithms }
    }

    fn log_likelihood(self) -> f64 {
        let Tail { count, logarithms } = self;
        if count == 0.0 {
            return 0.0;
        }
        let least = LEAST_DEGREE as f64;
        let alpha = 1.0 + count / (logarithms - count * (least - 0.5).ln());
        count * alpha.ln() + count * alpha * least.ln() - (alpha + 1.0) * logarithms
    }
}

impl DegreeTest {
    /// The test against these degrees.
    pub fn new(degrees: &[usize]) -> DegreeTest {
        let original = Tail::of(degrees);
        let mut test = DegreeTest { original, current: original, table: Vec::new() };
        test.fill_table();
        test
    }

    /// The likelihood ratio of two sequences of degrees.
    pub fn between(before: &[usize], after: &[usize]) -> f64 {
        DegreeTest { original: Tail::of(before), current: Tail::of(after), table: Vec::new() }.ratio()
    }

    /// The likelihood ratio of the current degrees against the original ones.
    pub fn ratio(&self) -> f64 {
        self.ratio_of(self.current)
    }

    /// The ratio after a pair whose ends have these degrees is joined, or parted.
    pub fn ratio_after(&self, a: usize, b: usize, added: bool) -> f64 {
        let mut tail = self.current;
        for degree in [a, b] {
            tail.shift(degree, -1.0);
            tail.shift(if added { degree + 1 } else { degree.saturating_sub(1) }, 1.0);
        }
        self.ratio_of(tail)
    }

    /// Whether a flip stays below the cutoff.
    pub fn allows(&self, a: usize, b: usize, added: bool) -> bool {
        match a.max(b) < TABLE {
            true => self.table[a * TABLE + b][usize::from(added)],
            false => self.ratio_after(a, b, added) < CUTOFF,
        }
    }

    /// A node's degree has changed.
    pub(crate) fn change(&mut self, before: usize, after: usize) {
        self.current.shift(before, -1.0);
        self.current.shift(after, 1.0);
        self.fill_table();
    }

    fn ratio_of(&self, tail: Tail) -> f64 {
        let joined = self.original.joined(tail).log_likelihood();
        2.0 * (self.original.log_likelihood() + tail.log_likelihood() - joined)
    }

    fn fill_table(&mut self) {
        let judge =
            |place: usize| [false, true].map(|added| self.ratio_after(place / TABLE, place % TABLE, added) < CUTOFF);
        self.table = (0..TABLE * TABLE).map(judge).collect();
    }
}
