//! What a page says of a run: what was learned, how well, how long it took, and how to do it again.

use crate::figure::Figure;
use crate::number::{count, figure};
use crate::page::{Fact, Section};
use crate::plane::Layout;
use crate::plot::{Axis, Bar, Bars, Group, Line, Lines, Point, Scatter};
use crate::table::{Cell, Table};

/// A run in figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunPage {
    /// The dataset.
    pub data: String,
    /// What embeds: the method, and what stands beside it.
    pub method: String,
    /// The recipe that settings started from.
    pub recipe: Option<String>,
    /// The seed.
    pub seed: u64,
    /// What is to be doubted, one sentence each.
    pub warnings: Vec<String>,
    /// What was embedded: `nodes` or `graphs`.
    pub items: String,
    /// Rows and columns of the embeddings.
    pub size: (usize, usize),
    /// The loss after each epoch.
    pub losses: Vec<f32>,
    /// The epoch whose weights were kept, where it was not the last.
    pub kept_epoch: Option<usize>,
    /// How well labels can be predicted, what was asked for first.
    pub scores: Vec<ScoreRow>,
    /// One sentence on who won.
    pub verdict: Option<String>,
    /// How alike embeddings are, from 0 to 1.
    pub spread: f64,
    /// Seconds for the scheme and for training.
    pub seconds: (f64, f64),
    /// Threads that were used.
    pub threads: usize,
    /// Bytes at most.
    pub peak_bytes: Option<u64>,
    /// Settings by their names.
    pub settings: Vec<(String, String)>,
    /// The embeddings on a plane.
    pub plane: Option<Plane>,
    /// Commands, each with what it does.
    pub commands: Vec<(String, String)>,
}

/// How well labels can be predicted from something.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreRow {
    /// From what.
    pub of: String,
    /// Name of the metric.
    pub metric: String,
    /// The metric, a share or, of errors, itself.
    pub value: f64,
    /// How far it may be off.
    pub deviation: Option<f64>,
    /// What that is.
    pub deviation_is: String,
    /// How it was come by.
    pub protocol: String,
}

/// Embeddings on a plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// Where items lie, and what each is called.
    pub points: Vec<([f32; 2], String)>,
    /// The class of each, where it is known.
    pub classes: Vec<Option<u32>>,
    /// Names of the classes; none where there are none.
    pub class_names: Vec<String>,
    /// How many items there are in all; more than points, where a sample is shown.
    pub of: usize,
    /// How they were laid out.
    pub layout: Layout,
}

/// Classes that a picture tells apart; the others share one mark.
const MOST_CLASSES: usize = 16;

impl RunPage {
    /// What was learned, and whether it helped.
    pub fn lead(&self) -> String {
        let score = self
            .scores
            .first()
            .map_or(String::new(), |score| format!(" {} {}.", capital(&score.metric), score.with_deviation()));
        let verdict = self.verdict.as_ref().map_or(String::new(), |verdict| format!(" {}.", capital(verdict)));
        format!(
            "{} {} embedded in {} dimensions by {}.{score}{verdict}",
            count(self.size.0),
            self.items,
            count(self.size.1),
            self.method
        )
    }

    /// Where it comes from, in one line.
    fn origin(&self) -> String {
        let recipe = self.recipe.as_ref().map_or(String::new(), |recipe| format!(", recipe {recipe}"));
        format!("Data {}{recipe}, seed {}.", self.data, self.seed)
    }

    /// The sections: results, embeddings, how it was made.
    pub fn sections(&self) -> Vec<Section> {
        let mut results = Section::new("results", "Results");
        results.facts = self.facts();
        results.words.push(self.origin());
        results.words.extend(self.warnings.iter().map(|warning| format!("Warning: {warning}.")));
        results.figures =
            self.score_figure().into_iter().chain(self.plane_figure()).chain(self.loss_figure()).collect();
        results.tables.extend(self.score_table());
        let mut made = Section::new("settings", "Settings, and how to repeat it");
        made.commands = self.commands.clone();
        made.tables.push(settings_table(&self.settings));
        vec![results, made]
    }

    fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        if let Some(score) = self.scores.first() {
            facts.push(
                Fact::new(score.metric.clone(), Cell::number(score.value, score.with_deviation()))
                    .noted(score.deviation_is.clone()),
            );
        }
        facts.push(Fact::new("embeddings", Cell::words(format!("{} × {}", count(self.size.0), count(self.size.1)))));
        if let (Some(first), Some(last)) = (self.losses.first(), self.losses.last()) {
            let value = Cell { text: format!("{last:.4}"), value: Some(last.to_string()) };
            facts.push(Fact::new("last loss", value).noted(format!("{first:.4} after the first epoch")));
            let note = self.kept_epoch.map_or(String::new(), |epoch| format!("that of epoch {epoch} is kept"));
            facts.push(Fact::new("epochs", Cell::count(self.losses.len())).noted(note));
        }
        if self.seconds.0 > 0.0 {
            facts.push(Fact::new("time for the scheme", Cell::seconds(self.seconds.0)));
        }
        let threads = if self.threads == 1 { "one thread".into() } else { format!("{} threads", self.threads) };
        let time = if self.losses.is_empty() { "time for fitting" } else { "time for training" };
        facts.push(Fact::new(time, Cell::seconds(self.seconds.1)).noted(threads));
        if let Some(bytes) = self.peak_bytes {
            facts.push(Fact::new("memory at most", Cell::bytes(bytes)));
        }
        facts.push(
            Fact::new("spread", Cell::figure(self.spread)).noted("0 where all embeddings are alike, 1 where none are"),
        );
        facts
    }

    fn score_figure(&self) -> Option<Figure> {
        let first = self.scores.first()?;
        let alike: Vec<&ScoreRow> = self.scores.iter().filter(|score| score.metric == first.metric).collect();
        let bar = |(at, score): (usize, &&ScoreRow)| Bar {
            name: score.of.clone(),
            value: score.scale() * score.value,
            deviation: score.deviation.map(|of| score.scale() * of),
            label: score.bare_with_deviation(),
            marked: at == 0,
        };
        // What has to be beaten first, what was learned last.
        let bars: Vec<Bar> = alike.iter().enumerate().map(bar).rev().collect();
        let texts: Vec<String> = alike.iter().map(|score| format!("{} from {}", score.text(), score.of)).collect();
        let whiskers =
            if first.deviation.is_some() { format!(" Whiskers: {}.", first.deviation_is) } else { String::new() };
        let better = if first.metric == "rmse" { " Less is better." } else { "" };
        Some(Figure {
            name: "scores".into(),
            title: "How well labels can be predicted".into(),
            caption: format!("The embedding, last, beside what it has to beat.{better}{whiskers}"),
            alternative: format!("{}: {}.", capital(&first.metric), texts.join(", ")),
            svg: Bars { x: Axis::linear(first.unit()), bars }.draw(),
        })
    }

    fn score_table(&self) -> Option<Table> {
        let first = self.scores.first()?;
        let mut table = Table::new("scores-table", "Scores", &["from", "metric", "value", "±"]);
        for score in &self.scores {
            table.push(vec![
                score.of.clone().into(),
                score.metric.clone().into(),
                Cell::number(score.value, score.bare()),
                score.deviation.map_or(Cell::default(), |of| Cell::number(of, figure(score.scale() * of))),
            ]);
        }
        table.caption = format!("Judged by: {}.", first.protocol);
        Some(table.without_empty_columns())
    }

    fn loss_figure(&self) -> Option<Figure> {
        let (first, last) = (self.losses.first()?, self.losses.last()?);
        if self.losses.len() < 2 {
            return None;
        }
        let points =
            self.losses.iter().enumerate().map(|(epoch, &loss)| Point::new(epoch as f64 + 1.0, loss.into())).collect();
        Some(Figure {
            name: "loss".into(),
            title: "Loss".into(),
            caption: format!("What training makes small, after each epoch. {}", shape(&self.losses, self.kept_epoch)),
            alternative: format!(
                "Line of the loss over {} epochs, from {first:.4} to {last:.4}.",
                count(self.losses.len())
            ),
            svg: Lines {
                lines: vec![Line { name: "loss".into(), points }],
                ..Lines::new(Axis::linear("epoch").of_whole_numbers(), Axis::linear("loss"))
            }
            .draw(),
        })
    }

    fn plane_figure(&self) -> Option<Figure> {
        let plane = self.plane.as_ref()?;
        let how = match plane.layout {
            Layout::Neighbors => {
                "by t-SNE: near are those whose embeddings are near; distances between groups mean little"
            }
            Layout::Components => "by the first two principal components",
        };
        let sample = match plane.points.len() < plane.of {
            true => format!(" A sample of {} out of {}.", count(plane.points.len()), count(plane.of)),
            false => String::new(),
        };
        let classes = if plane.class_names.is_empty() { "" } else { ", colored by class, which training did not see" };
        let classes = if self.method == "supervised" { ", colored by class" } else { classes };
        Some(Figure {
            name: "embeddings".into(),
            title: "The embeddings on a plane".into(),
            caption: format!("Every mark is one of the {}{classes}; laid out {how}.{sample}", self.items),
            alternative: format!("{} points on a plane, in {}.", count(plane.points.len()), groups_in_words(plane)),
            svg: Scatter { groups: plane.groups() }.draw(),
        })
    }
}

impl Plane {
    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = match self.class_names.len() {
            0 => vec![Group { name: "all".into(), points: Vec::new() }],
            classes => self
                .class_names
                .iter()
                .take(if classes > MOST_CLASSES { MOST_CLASSES - 1 } else { classes })
                .map(|name| Group { name: name.clone(), points: Vec::new() })
                .collect(),
        };
        let named = groups.len();
        let mut others = Group { name: "other".into(), points: Vec::new() };
        for ((place, name), class) in self.points.iter().zip(&self.classes) {
            let point = (place[0].into(), place[1].into(), name.clone());
            match class.map(|class| class as usize) {
                _ if self.class_names.is_empty() => groups[0].points.push(point),
                Some(class) if class < named => groups[class].points.push(point),
                _ => others.points.push(point),
            }
        }
        groups.retain(|group| !group.points.is_empty());
        groups.extend((!others.points.is_empty()).then_some(others));
        groups
    }
}

fn groups_in_words(plane: &Plane) -> String {
    match plane.class_names.len() {
        0 => "one group".into(),
        classes => format!("{} classes", count(classes)),
    }
}

impl ScoreRow {
    /// Shares are told in per cent.
    pub fn scale(&self) -> f64 {
        if self.metric == "rmse" { 1.0 } else { 100.0 }
    }

    /// The name of the axis it is told on.
    pub fn unit(&self) -> String {
        if self.metric == "rmse" { "root mean square error".into() } else { format!("{} in %", self.metric) }
    }

    /// The value with its unit.
    pub fn text(&self) -> String {
        if self.metric == "rmse" { self.bare() } else { format!("{} %", self.bare()) }
    }

    /// The value with its deviation, where there is one, and its unit.
    fn with_deviation(&self) -> String {
        format!("{}{}", self.bare_with_deviation(), if self.metric == "rmse" { "" } else { " %" })
    }

    /// The value with its deviation, where there is one.
    fn bare_with_deviation(&self) -> String {
        let deviation = self.deviation.map_or(String::new(), |of| format!(" ± {:.2}", self.scale() * of));
        format!("{}{deviation}", self.bare())
    }

    /// The value without its unit.
    pub fn bare(&self) -> String {
        figure(self.scale() * self.value)
    }
}

/// All settings, shown when asked for.
pub(crate) fn settings_table(settings: &[(String, String)]) -> Table {
    let mut table = Table::new("settings-table", "All settings", &["setting", "value"]);
    for (name, value) in settings {
        table.push(vec![name.clone().into(), value.clone().into()]);
    }
    table.folded = true;
    table
}

/// Share of the whole fall that the last tenth of epochs must bring for a loss to be falling still.
const STILL_FALLING: f64 = 0.02;

/// Standard errors that two means must differ by to be told apart from noise.
const BEYOND_NOISE: f64 = 2.0;

/// What there is to see of this curve at its end: means over a tenth of the epochs, for views are drawn anew each time.
fn shape(losses: &[f32], kept_epoch: Option<usize>) -> String {
    let window = (losses.len() / 10).max(1);
    let mean = |some: &[f32]| some.iter().map(|&loss| f64::from(loss)).sum::<f64>() / some.len().max(1) as f64;
    let end = losses.len().saturating_sub(window);
    let (first, before, last) =
        (mean(&losses[..window]), mean(&losses[end.saturating_sub(window)..end]), mean(&losses[end..]));
    let lowest = losses.iter().copied().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
    let fall = first - lowest.map_or(last, |(_, loss)| loss.into());
    // The noise of single epochs: how far each is from the one before, beyond the slope.
    let steps: Vec<f64> = losses.windows(2).map(|pair| f64::from(pair[1]) - f64::from(pair[0])).collect();
    let slope = steps.iter().sum::<f64>() / steps.len().max(1) as f64;
    let noise = (steps.iter().map(|step| (step - slope).powi(2)).sum::<f64>() / (2 * steps.len()).max(1) as f64).sqrt();
    let told_apart = BEYOND_NOISE * noise * (2.0 / window as f64).sqrt();
    let least = (STILL_FALLING * fall).max(told_apart).max(f64::MIN_POSITIVE);
    let kept = kept_epoch.map_or(String::new(), |epoch| format!(" The weights of epoch {epoch} are kept."));
    let seen = if before - last > least && last < first {
        "It is still falling at the end: more epochs may help.".to_owned()
    } else if last - before > least {
        let epoch = lowest.map_or(0, |(at, _)| at + 1);
        format!("It was lowest after epoch {epoch} and rises at the end.")
    } else {
        "It has levelled out, as far as its noise lets one see.".to_owned()
    };
    seen + &kept
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::shape;

    #[test]
    fn the_caption_is_true_of_the_curve() {
        let falling: Vec<f32> = (0..50).map(|epoch| 10.0 - 0.1 * epoch as f32).collect();
        assert!(shape(&falling, None).contains("still falling"));
        let level: Vec<f32> = (0..50).map(|epoch| 1.0 + (-(epoch as f32)).exp()).collect();
        assert!(shape(&level, None).starts_with("It has levelled out"));
        let rising: Vec<f32> = (0..50).map(|epoch| (epoch as f32 - 30.0).powi(2)).collect();
        assert_eq!(
            shape(&rising, Some(31)),
            "It was lowest after epoch 31 and rises at the end. The weights of epoch 31 are kept."
        );
        assert!(shape(&[1.0, 1.0], None).starts_with("It has levelled out"));
        let noisy: Vec<f32> = (0..50).map(|epoch| [3.0, 1.0, 2.5, 0.5, 1.5, 2.0, 0.7][epoch * 5 % 7]).collect();
        assert!(shape(&noisy, None).starts_with("It has levelled out"), "{}", shape(&noisy, None));
    }
}
