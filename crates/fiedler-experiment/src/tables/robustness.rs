//! Who survives a poisoned graph: methods × attacks × shares of flipped edges.

use fiedler_attack::{AttackLoss, AttackSettings, Dice, GfRelaxed, Mettack, RandomFlips};
use fiedler_augment::SchemeSettings;
use fiedler_evaluate::ProtocolPreset;

use super::cell::{Cell, Measure};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use super::node::of_row;
use super::recipes::FoundRecipe;
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Robustness against poisoning",
    datasets: &["cora"],
    protocol: ProtocolPreset::Public,
    cells,
    poisons: Some(poisons),
    chooses,
    notes: &[
        SHARED_SCHEME,
        "A row is an attack, a method and the share of the edges that was flipped; 0 is the clean graph. Schemes, encoders and probes see the \
         poisoned graph only; features and labels are clean. One poisoned graph for each attack and share, with seed 0, is shared by all \
         methods and seeds.",
        "Protocol, where the paper leaves it open: the whole graph, not its largest component; ⌊share · edges⌋ undirected flips; no node \
         loses its last edge; no test of the degree distribution; the attack is made for the first split that the first seed is judged on, \
         with the protocol public the only one; the surrogate's features are not normalized. Random: any pairs are flipped. DICE: half \
         of the flips are additions, drawn binomially; it reads all labels. GF-Attack: the relaxed one, on the 128 smallest eigenvalues, \
         without labels. Mettack: Meta-Self with the authors' cross-entropy, exact gradients through 100 steps, start \
         weights drawn anew for each flip.",
        "Differences are to GCL-SPAN under the same attack, paired over seeds and splits: a negative one is in SPAN's favor. GCL-SPAN \
         matched flips: the same method with views of as many random flips as SPAN expects.",
    ],
    ..TableSpec::USUAL
};

/// Attacks as the paper calls them.
const ATTACKS: &[&str] = &["Random", "DICE", "GF-Attack", "Mettack"];
/// Shares of edges that are flipped.
const RATIOS: &[f64] = &[0.05, 0.2];

const SPAN: &str = "GCL-SPAN";

/// Rows that are a method with its recipe for the dataset, or else with what it recommends.
const METHODS: &[(&str, &str)] = &[
    ("GRACE", "grace"),
    ("BGRL", "bgrl"),
    ("GBT", "gbt"),
    ("MVGRL", "mvgrl"),
    ("GCA", "gca"),
    ("GMI", "gmi"),
    ("DGI", "dgi"),
    ("CCA-SSG", "cca-ssg"),
    ("hops", "hops"),
];

/// The attacks on a dataset, with their names and shares.
fn poisons() -> Vec<(&'static str, f64, AttackSettings)> {
    let settings = |attack: &str, ratio: f64| match attack {
        "Random" => AttackSettings::Random(RandomFlips { ratio, ..RandomFlips::default() }),
        "DICE" => AttackSettings::Dice(Dice { ratio, ..Dice::default() }),
        "GF-Attack" => AttackSettings::GfRelaxed(GfRelaxed { ratio, ..GfRelaxed::default() }),
        _ => AttackSettings::Mettack(Mettack { ratio, loss: AttackLoss::CrossEntropy, ..Mettack::default() }),
    };
    let of = |attack: &'static str| RATIOS.iter().map(move |&ratio| (attack, ratio, settings(attack, ratio)));
    ATTACKS.iter().flat_map(|&attack| of(attack)).collect()
}

fn row(attack: &str, method: &str, ratio: f64) -> String {
    format!("{attack}, {method} {ratio}")
}

/// Whether a row is among those that were asked for: names of attacks and of methods each narrow the choice.
fn chooses(row: &str, wanted: &[String]) -> bool {
    let Some((attack, rest)) = row.split_once(", ") else { return false };
    let method = rest.rsplit_once(' ').map_or(rest, |(method, _)| method);
    let has = |names: &[&String], name: &str| names.iter().any(|wanted| wanted.eq_ignore_ascii_case(name));
    let is_attack = |wanted: &&String| ATTACKS.iter().any(|attack| attack.eq_ignore_ascii_case(wanted));
    if wanted.iter().any(|wanted| wanted.eq_ignore_ascii_case(row)) {
        return true;
    }
    let (attacks, methods): (Vec<&String>, Vec<&String>) = wanted.iter().partition(is_attack);
    (attacks.is_empty() || has(&attacks, attack)) && (methods.is_empty() || has(&methods, method))
}

fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let (name, level) = (&context.data.name, context.data.level);
    let span = context.recipes.span(name, level)?;
    let mut rows: Vec<(&str, FoundRecipe)> =
        vec![("Raw-X", span.clone()), ("S-GCN", context.recipes.supervised(name, level)?), ("R-GCN", span.clone())];
    for &(row, method) in METHODS {
        rows.push((row, context.recipes.method(method, context.data)?));
    }
    let mut matched = span.clone();
    let scheme: SchemeSettings = matched.settings.scheme_or_usual();
    matched.settings.scheme = Some(scheme.with_name("uniform-matched")?);
    rows.extend([("GCL-SPAN matched flips", matched), (SPAN, span)]);

    // The clean graph is where every attack begins.
    let attacks: Vec<(&str, f64)> = match &context.data.poison {
        Some(poison) => vec![(poison.attack, poison.ratio)],
        None => ATTACKS.iter().map(|&attack| (attack, 0.0)).collect(),
    };
    let mut cells = Vec::new();
    for (attack, ratio) in attacks {
        let printed = if ratio == 0.0 { "Clean".to_owned() } else { format!("{attack}-{ratio}") };
        for (method, found) in &rows {
            cells.push(Cell {
                data: context.place,
                row: row(attack, method, ratio),
                recipe: found.name.clone(),
                about: found.about.clone(),
                settings: of_row(method, found.settings.clone()),
                start: None,
                measure: Measure::Score(None),
                paper: (name == "cora").then(|| context.paper.figure("attack-cora", &printed, method)).flatten(),
                against: (*method != SPAN).then(|| row(attack, SPAN, ratio)),
            });
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attacks_and_methods_narrow_the_rows() {
        let wanted = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let row = "Mettack, GCL-SPAN matched flips 0.05";
        assert!(chooses(row, &wanted(&["mettack"])) && chooses(row, &wanted(&["GCL-SPAN matched flips"])));
        assert!(chooses(row, &wanted(&["Mettack", "GCL-SPAN matched flips", "GRACE"])));
        assert!(!chooses(row, &wanted(&["GCL-SPAN"])) && !chooses(row, &wanted(&["DICE", "GCL-SPAN matched flips"])));
        assert!(chooses(row, &wanted(&[row])));
    }

    #[test]
    fn every_attack_has_every_share() {
        assert_eq!(poisons().len(), ATTACKS.len() * RATIOS.len());
        assert!(poisons().iter().all(|(attack, _, settings)| (*attack == "Mettack") == (settings.name() == "mettack")));
    }
}
