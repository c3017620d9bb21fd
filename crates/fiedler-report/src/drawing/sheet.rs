//! Panels side by side, with a legend: a whole figure.

use fiedler_graph::Result;
use fiedler_spectral::Operator;

use super::legend::{Legend, legend, round_up};
use super::panel::{self, HEADING, Scales};
use super::scene::{Change, Changes, Scene, WIDTH};
use super::subject::Subject;
use super::svg::{probability, shortened};
use crate::figure::Figure;
use crate::markup::{escape, pixels};

/// Pixels around everything, and between panels.
const MARGIN: f64 = 12.0;
const GAP: f64 = 18.0;
/// Width of the likeliest edge as a share of the marks' radius, and its bounds.
const WIDEST_OF_RADIUS: f64 = 0.55;
const WIDEST: (f64, f64) = (3.0, 5.0);
/// Letters of a graph's name in a title.
const NAME_LENGTH: usize = 60;

/// Draws a graph and what each view does to it, side by side.
///
/// With `around`, only what lies around that node. Without it, the whole graph; nothing, where that would be too much to see anything
/// ([`Subject::fits`]), or where no view has probabilities of its own. Titles, captions and alternatives are plain text.
///
/// # Errors
/// When there is no such node.
pub fn drawings(subject: &Subject<'_>, around: Option<u32>) -> Result<Vec<Figure>> {
    let scene = match around {
        Some(centre) => Scene::around(subject, centre)?,
        None if subject.fits() && subject.graph.num_nodes() > 0 => Scene::whole(subject),
        None => return Ok(Vec::new()),
    };
    let changes: Vec<Changes<'_>> = subject.views.iter().map(|view| scene.changes(view)).collect();
    if changes.is_empty() && !subject.original {
        return Ok(Vec::new());
    }
    Ok(vec![figure(&scene, &changes)])
}

fn figure(scene: &Scene<'_>, changes: &[Changes<'_>]) -> Figure {
    let name = shortened(&scene.subject.name, NAME_LENGTH);
    let (what, file) = match changes.is_empty() {
        true => (name, "graph-drawing"),
        false => (format!("What the scheme does to {name}"), "scheme-drawing"),
    };
    let (title, file) = match scene.centre {
        Some(centre) => {
            let node = shortened(&scene.subject.graph.name(scene.nodes[centre]), NAME_LENGTH);
            (format!("{what}, around node {node}"), format!("{file}-around"))
        }
        None => (what, file.to_owned()),
    };
    let alternative = alternative(scene, changes);
    let svg = svg(scene, changes, &alternative);
    Figure { name: file, title, caption: caption(scene, changes), alternative, svg }
}

fn svg(scene: &Scene<'_>, changes: &[Changes<'_>], alternative: &str) -> String {
    let largest = |all: &dyn Fn(&Changes<'_>) -> f64| round_up(changes.iter().map(all).fold(0.0, f64::max));
    let most = |list: &[Change]| list.iter().map(|change| change.probability).fold(0.0, f64::max);
    let scales = Scales {
        removal: largest(&|of| most(&of.removals)),
        addition: largest(&|of| most(&of.additions)),
        // Where marks are small there are many edges, and little place.
        widest: (WIDEST_OF_RADIUS * scene.radius).clamp(WIDEST.0, WIDEST.1),
    };
    let mut panels = Vec::new();
    panels.extend(scene.subject.original.then(|| panel::original(scene)));
    panels.extend(changes.iter().map(|changes| panel::of_view(scene, changes, scales)));

    let inner = panels.len() as f64 * (WIDTH + GAP) - GAP;
    let Legend { markup: legend, height } = legend(inner, scales, scene.subject.groups.as_ref(), &scene.shown_groups());
    let below = MARGIN + HEADING + scene.height + MARGIN;
    let (whole_width, whole_height) = (pixels(inner + 2.0 * MARGIN), pixels(below + height + MARGIN));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {whole_width} {whole_height}\" role=\"group\" \
         aria-label=\"{}\"><rect class=\"paper\" width=\"{whole_width}\" height=\"{whole_height}\"/>",
        escape(alternative)
    );
    for (at, panel) in panels.iter().enumerate() {
        let left = pixels(MARGIN + at as f64 * (WIDTH + GAP));
        svg.push_str(&format!("<g transform=\"translate({left} {MARGIN})\">{panel}</g>"));
    }
    svg.push_str(&format!("<g transform=\"translate({MARGIN} {})\">{legend}</g></svg>", pixels(below)));
    svg
}

fn caption(scene: &Scene<'_>, changes: &[Changes<'_>]) -> String {
    let mut caption = String::new();
    if let Some(centre) = scene.centre {
        caption.push_str(&format!(
            "The {} nodes around {} (ringed). ",
            scene.nodes.len(),
            shortened(&scene.subject.graph.name(scene.nodes[centre]), NAME_LENGTH)
        ));
    }
    if changes.is_empty() {
        caption.push_str("Nodes stand near those that few steps lead to.");
        return caption;
    }
    caption.push_str("Solid lines are edges, thicker and stronger the likelier they are removed");
    let shown = changes.iter().map(|changes| changes.additions.len()).max().unwrap_or(0);
    match shown {
        0 => caption.push_str(". "),
        shown => caption.push_str(&format!("; dashed lines are the {shown} likeliest additions. ")),
    }
    let operator = match scene.subject.operator {
        Operator::Laplacian => "normalized Laplacian's",
        Operator::Propagation => "propagation matrix's",
    };
    caption.push_str(&format!(
        "The effect of a pair is how much the norm of the {operator} spectrum changes, to first order, if that pair alone is flipped: \
         above zero, flipping it raises the norm."
    ));
    caption
}

fn alternative(scene: &Scene<'_>, changes: &[Changes<'_>]) -> String {
    let part = match scene.centre {
        Some(_) => "Part of a graph",
        None => "A graph",
    };
    let mut words = format!("{part}, {} nodes and {} edges.", scene.graph.num_nodes(), scene.graph.num_edges());
    for of_view in changes {
        words.push_str(&format!(" {}: ", of_view.view.title));
        let likeliest = |list: &[Change]| {
            let most = list.iter().max_by(|a, b| a.probability.total_cmp(&b.probability).then(b.ends.cmp(&a.ends)))?;
            (most.probability > 0.0).then_some(*most)
        };
        let found = [("removed", likeliest(&of_view.removals)), ("added", likeliest(&of_view.additions))];
        let found: Vec<String> = found
            .iter()
            .filter_map(|(done, most)| Some((done, (*most)?)))
            .map(|(done, most)| {
                let (a, b) = most.ends;
                format!(
                    "likeliest to be {done} is {} – {}, with probability {}",
                    scene.name(a),
                    scene.name(b),
                    probability(most.probability)
                )
            })
            .collect();
        match found.is_empty() {
            true => words.push_str("nothing changes."),
            false => words.push_str(&format!("{}.", found.join("; "))),
        }
    }
    words
}
