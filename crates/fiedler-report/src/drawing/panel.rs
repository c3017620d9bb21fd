//! One panel: the graph as it is, or what a view does to it.

use super::groups::Shape;
use super::layout::{Place, length, minus};
use super::scene::{Change, Changes, Scene, WIDTH};
use super::svg::push;
use crate::markup::{escape, pixels};
use crate::plot::label;

/// Pixels above the drawing, for two lines of words.
pub(super) const HEADING: f64 = 46.0;
/// Width of the invisible line that makes a thin one easy to point at.
const EASY_WIDTH: f64 = 12.0;
/// How far an addition's line leaves the straight one, as a share of its length, so that it passes what stands between.
const BEND: f64 = 0.09;
/// Names of at most so many letters stand inside their nodes.
const SHORT_NAME: usize = 3;
/// Radius from which on letters fit into a mark.
const ROOM_FOR_LETTERS: f64 = 7.0;

/// The largest probabilities that lines are drawn for; lines of all panels follow the same ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scales {
    pub removal: f64,
    pub addition: f64,
    /// Width of an edge that goes with the largest probability.
    pub widest: f64,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Strength {
    pub width: f64,
    pub opacity: f64,
}

impl Scales {
    /// How an edge is drawn that goes with this probability; `None` where it is a plain edge.
    pub fn of_removal(&self, probability: f64) -> Option<Strength> {
        let share = (probability / self.removal).clamp(0.0, 1.0);
        let width = 1.4 + (self.widest - 1.4) * share;
        (probability > 0.0).then_some(Strength { width, opacity: 0.4 + 0.6 * share })
    }

    /// How a pair is drawn that is joined with this probability: thinner, because there may be many.
    pub fn of_addition(&self, probability: f64) -> Strength {
        let share = (probability / self.addition).clamp(0.0, 1.0);
        Strength { width: 0.8 + 1.2 * share, opacity: 0.4 + 0.6 * share }
    }
}

/// An edge that may go, as a line between two places in the words of SVG.
pub(super) fn removal(place: &str, strength: Option<Strength>) -> String {
    match strength {
        None => format!("<line class=\"edge\" {place} stroke-width=\"1.2\"/>"),
        Some(Strength { width, opacity }) => format!(
            "<line class=\"loss\" {place} stroke-width=\"{}\" stroke-opacity=\"{opacity:.2}\" stroke-linecap=\"round\"/>",
            pixels(width)
        ),
    }
}

pub(super) const DASHES: &str = "5 3";

/// The graph as it is.
pub(super) fn original(scene: &Scene<'_>) -> String {
    let mut markup =
        heading("Graph as it is", &format!("{} nodes, {} edges", scene.graph.num_nodes(), scene.graph.num_edges()));
    markup.push_str(&format!("<g transform=\"translate(0 {HEADING})\">"));
    for (a, b) in scene.graph.edge_pairs() {
        markup.push_str(&removal(&ends(scene.places[a as usize], scene.places[b as usize]), None));
    }
    nodes(scene, &mut markup);
    markup.push_str("</g>");
    markup
}

/// What a view does to the graph.
pub(super) fn of_view(scene: &Scene<'_>, changes: &Changes<'_>, scales: Scales) -> String {
    let mut markup = heading(&changes.view.title, &expectation(changes));
    markup.push_str(&format!("<g transform=\"translate(0 {HEADING})\">"));
    for change in &changes.additions {
        let Strength { width, opacity } = scales.of_addition(change.probability);
        let curve = curve(scene, change);
        let drawn = format!(
            "<path class=\"gain\" d=\"{curve}\" stroke-width=\"{}\" stroke-opacity=\"{opacity:.2}\" \
             stroke-dasharray=\"{DASHES}\"/>",
            pixels(width)
        );
        let easy = format!("<path d=\"{curve}\" fill=\"none\" stroke=\"transparent\" stroke-width=\"{EASY_WIDTH}\"/>");
        pair(scene, change, &[&easy, &drawn], &mut markup);
    }
    // The likeliest are drawn last, over the others.
    let mut removals: Vec<&Change> = changes.removals.iter().collect();
    removals.sort_by(|a, b| a.probability.total_cmp(&b.probability).then(a.ends.cmp(&b.ends)));
    for change in removals {
        let (from, to) = (scene.places[change.ends.0], scene.places[change.ends.1]);
        let easy = format!("<line {} stroke=\"transparent\" stroke-width=\"{EASY_WIDTH}\"/>", ends(from, to));
        let drawn = removal(&ends(from, to), scales.of_removal(change.probability));
        pair(scene, change, &[&easy, &drawn], &mut markup);
    }
    nodes(scene, &mut markup);
    markup.push_str("</g>");
    markup
}

fn heading(title: &str, below: &str) -> String {
    // Titles are short, but a view's name may come from anywhere.
    let size = (15.0 * (WIDTH - 10.0) / label::width(title, 15.0).max(1.0)).min(15.0);
    format!(
        "<text class=\"text\" x=\"{middle}\" y=\"17\" font-size=\"{}\" font-weight=\"600\" text-anchor=\"middle\">{}</text>\
         <text class=\"quiet\" x=\"{middle}\" y=\"36\" font-size=\"13\" text-anchor=\"middle\">{}</text>",
        pixels(size),
        escape(title),
        escape(below),
        middle = WIDTH / 2.0,
    )
}

fn expectation(changes: &Changes<'_>) -> String {
    let number = |count: f64| match count {
        0.0 => "none".into(),
        count if count < 0.05 => "almost none".into(),
        count if count < 100.0 => format!("{count:.1}"),
        count => format!("{count:.0}"),
    };
    let (removed, added) = (changes.expected.removed, changes.expected.added);
    match (removed, added) {
        (0.0, 0.0) => "nothing changes".into(),
        _ => format!("edges removed on average: {}, added: {}", number(removed), number(added)),
    }
}

/// A pair of nodes as something to point at, or to reach by the keyboard.
fn pair(scene: &Scene<'_>, change: &Change, lines: &[&str], markup: &mut String) {
    let hint = escape(&scene.hint(change));
    push(markup, format_args!("<g class=\"pair\"><title>{hint}</title>"));
    lines.iter().for_each(|line| markup.push_str(line));
    markup.push_str("</g>");
}

fn ends(from: Place, to: Place) -> String {
    format!("x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", pixels(from[0]), pixels(from[1]), pixels(to[0]), pixels(to[1]))
}

fn curve(scene: &Scene<'_>, change: &Change) -> String {
    let (from, to) = (scene.places[change.ends.0], scene.places[change.ends.1]);
    let along = minus(to, from);
    // A curve's control point lies twice as far out as the curve goes.
    let aside = [-2.0 * BEND * along[1], 2.0 * BEND * along[0]];
    let middle = [0, 1].map(|axis| 0.5 * (from[axis] + to[axis]));
    let bend = |side: f64| [middle[0] + side * aside[0], middle[1] + side * aside[1]];
    // Outwards, where there is less to cross, and never out of the panel.
    let out = |place: Place| length(minus(place, [WIDTH / 2.0, scene.height / 2.0]));
    let side = if out(bend(1.0)) >= out(bend(-1.0)) { 1.0 } else { -1.0 };
    let [x, y] = bend(side);
    let (x, y) = (x.clamp(2.0, WIDTH - 2.0), y.clamp(2.0, scene.height - 2.0));
    format!("M{} {}Q{} {} {} {}", pixels(from[0]), pixels(from[1]), pixels(x), pixels(y), pixels(to[0]), pixels(to[1]))
}

fn nodes(scene: &Scene<'_>, markup: &mut String) {
    let groups = scene.subject.groups.as_ref();
    let letters = letters(scene);
    for (at, &place) in scene.places.iter().enumerate() {
        let group = groups.and_then(|groups| groups.of_node(scene.nodes[at]).map(|group| (groups, group)));
        let (paint, shape) = match group {
            Some((groups, group)) => (groups.paint(group), groups.shape(group)),
            None => ("class=\"node\"".to_owned(), Shape::Circle),
        };
        push(markup, format_args!("<g><title>{}</title>", escape(&scene.name(at))));
        if scene.centre == Some(at) {
            let [x, y] = place.map(pixels);
            let radius = pixels(scene.radius + 4.0);
            push(
                markup,
                format_args!("<circle class=\"axis\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" stroke-width=\"2.5\"/>"),
            );
        }
        markup.push_str(&mark(shape, place, scene.radius, &paint));
        if let Some(letters) = &letters {
            let text = &letters[at];
            let size = (2.0 * scene.radius - 4.0) / label::width(text, 1.0).max(1.0);
            push(
                markup,
                format_args!(
                    "<text class=\"text\" x=\"{}\" y=\"{}\" font-size=\"{}\" font-weight=\"600\" text-anchor=\"middle\" \
                     pointer-events=\"none\" style=\"fill:#fff;stroke:#222;stroke-width:1.4px;paint-order:stroke\">{}</text>",
                    pixels(place[0]),
                    pixels(place[1] + 0.36 * size),
                    pixels(size),
                    escape(text)
                ),
            );
        }
        markup.push_str("</g>");
    }
}

/// What stands inside the marks: symbols of atoms, or names where all are short.
fn letters(scene: &Scene<'_>) -> Option<Vec<String>> {
    if scene.radius < ROOM_FOR_LETTERS {
        return None;
    }
    let text = |&node: &u32| match &scene.subject.groups {
        Some(groups) if groups.are_atoms() => groups.name_of(node).unwrap_or_default().to_owned(),
        _ => scene.subject.graph.name(node),
    };
    let letters: Vec<String> = scene.nodes.iter().map(text).collect();
    letters.iter().all(|text| text.chars().count() <= SHORT_NAME).then_some(letters)
}

/// A mark of a certain shape; all shapes cover about the same area.
pub(super) fn mark(shape: Shape, [x, y]: Place, radius: f64, paint: &str) -> String {
    let corners = |corners: &[Place]| {
        let corner = |[east, south]: &Place| format!("{},{}", pixels(x + radius * east), pixels(y + radius * south));
        let points = corners.iter().map(corner).collect::<Vec<_>>().join(" ");
        format!("<polygon {paint} points=\"{points}\"/>")
    };
    match shape {
        Shape::Circle => {
            format!("<circle {paint} cx=\"{}\" cy=\"{}\" r=\"{}\"/>", pixels(x), pixels(y), pixels(radius))
        }
        Shape::Square => corners(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]),
        Shape::Diamond => corners(&[[0.0, -1.25], [1.25, 0.0], [0.0, 1.25], [-1.25, 0.0]]),
        Shape::Triangle => corners(&[[0.0, -1.25], [1.2, 0.85], [-1.2, 0.85]]),
    }
}
