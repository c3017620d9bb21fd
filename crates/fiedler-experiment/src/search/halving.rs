//! Which trials get more seeds: after each round the best quarter.

/// Seeds that a trial has had at the end of each round.
pub const SEEDS: [usize; 3] = [1, 3, 7];
/// One in so many goes on.
const KEPT: usize = 4;

/// How many trials each round has, so that all their runs together stay within a budget.
pub fn rounds(budget: usize) -> Vec<usize> {
    let mut best = vec![1];
    for trials in 1..=budget {
        let rounds = sizes(trials);
        if runs(&rounds) > budget {
            break;
        }
        best = rounds;
    }
    best
}

/// All runs of all rounds.
pub fn runs(rounds: &[usize]) -> usize {
    let mut before = 0;
    let of_round = |(&trials, &seeds): (&usize, &usize)| {
        let new = seeds - before;
        before = seeds;
        trials * new
    };
    rounds.iter().zip(&SEEDS).map(of_round).sum()
}

fn sizes(trials: usize) -> Vec<usize> {
    let mut sizes = vec![trials];
    while sizes.len() < SEEDS.len() && sizes[sizes.len() - 1] > 1 {
        sizes.push(sizes[sizes.len() - 1].div_ceil(KEPT));
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_fill_the_budget_without_exceeding_it() {
        assert_eq!(rounds(1), [1]);
        assert_eq!(rounds(60), [32, 8, 2]);
        for budget in 1..200 {
            assert!(runs(&rounds(budget)) <= budget, "{budget}");
        }
    }
}
