//! Several runs side by side.

use crate::figure::Figure;
use crate::number::{count, seconds};
use crate::page::Section;
use crate::plot::{Axis, Bar, Bars, Dot, DotRow, Dots, Line, Lines, Point};
use crate::run::{RunPage, ScoreRow};
use crate::table::{Cell, Table};

/// Runs with their names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// The runs; names differ.
    pub runs: Vec<(String, RunPage)>,
}

/// Lines that a picture has room for.
const MOST_LINES: usize = 8;
/// Rows that a picture has room for.
const MOST_ROWS: usize = 40;

impl Comparison {
    /// One sentence.
    pub fn lead(&self) -> String {
        let best = self.best().map_or(String::new(), |(name, run)| {
            run.scores
                .first()
                .map_or(String::new(), |score| format!(" The best is {name}, {} {}.", score.metric, score.text()))
        });
        format!("{} runs side by side.{best}", count(self.runs.len()))
    }

    fn best(&self) -> Option<&(String, RunPage)> {
        let metric = &self.runs.first()?.1.scores.first()?.metric;
        if !self.are_alike(metric) {
            return None;
        }
        let value = |run: &RunPage| {
            run.scores
                .first()
                .map_or(f64::NEG_INFINITY, |score| if metric == "rmse" { -score.value } else { score.value })
        };
        self.runs.iter().max_by(|a, b| value(&a.1).total_cmp(&value(&b.1)))
    }

    /// Whether all were judged alike on the same data.
    fn are_alike(&self, metric: &str) -> bool {
        let data = self.runs.first().map(|(_, run)| &run.data);
        self.runs
            .iter()
            .all(|(_, run)| Some(&run.data) == data && run.scores.first().is_some_and(|score| score.metric == metric))
    }

    /// The sections.
    pub fn sections(&self) -> Vec<Section> {
        let mut section = Section::new("comparison", "Comparison");
        section.tables.push(self.table());
        section.figures = self.score_figures();
        section.figures.extend(self.sweep_figure());
        section.figures.extend(self.loss_figure());
        section.figures.extend(self.time_figure());
        let notes = self.notes();
        section.tables.extend((notes.columns.len() > 1).then_some(notes));
        let differing = self.differing_settings();
        if !differing.rows.is_empty() {
            section.tables.push(differing);
        }
        vec![section]
    }

    fn table(&self) -> Table {
        let metric =
            self.runs.first().and_then(|(_, run)| run.scores.first()).map_or("score", |score| score.metric.as_str());
        let mut table = Table::new(
            "runs",
            "The runs",
            &["run", "data", "method", "metric", metric, "±", "epochs", "scheme", "training", "memory"],
        );
        for (name, run) in &self.runs {
            let score = run.scores.first();
            table.push(vec![
                name.clone().into(),
                run.data.clone().into(),
                run.method.clone().into(),
                score.map_or(Cell::default(), |score| score.metric.clone().into()),
                score.map_or(Cell::default(), |score| Cell::number(score.value, score.text())),
                score
                    .and_then(|score| score.deviation.map(|of| Cell::number(of, format!("{:.2}", score.scale() * of))))
                    .unwrap_or_default(),
                Cell::count(run.losses.len()),
                Cell::seconds(run.seconds.0),
                Cell::seconds(run.seconds.1),
                run.peak_bytes.map_or(Cell::default(), Cell::bytes),
            ]);
        }
        table.without_empty_columns()
    }

    /// What is to be known of each run: whether training helped, how it was judged, what is to be doubted.
    fn notes(&self) -> Table {
        let columns = ["run", "verdict", "judged by", "±", "warnings"];
        let mut table = Table::new("notes", "Notes on each run", &columns);
        for (name, run) in &self.runs {
            let score = run.scores.first();
            let of_score =
                |text: fn(&ScoreRow) -> &String| score.map_or(Cell::default(), |score| text(score).clone().into());
            table.push(vec![
                name.clone().into(),
                run.verdict.clone().map_or(Cell::default(), Cell::from),
                of_score(|score| &score.protocol),
                of_score(|score| &score.deviation_is),
                run.warnings.join("; ").into(),
            ]);
        }
        table.without_empty_columns()
    }

    /// A picture for each dataset and metric.
    fn score_figures(&self) -> Vec<Figure> {
        let mut kinds: Vec<(&str, &str)> = Vec::new();
        for (_, run) in &self.runs {
            if let Some(score) = run.scores.first()
                && !kinds.contains(&(&run.data, &score.metric))
            {
                kinds.push((&run.data, &score.metric));
            }
        }
        let picture = |(data, metric): (&str, &str)| {
            let mut rows: Vec<DotRow> = Vec::new();
            let mut unit = String::new();
            for (name, run) in self.runs.iter().filter(|(_, run)| run.data == data) {
                let Some(score) = run.scores.first().filter(|score| score.metric == metric) else { continue };
                unit = score.unit();
                let dot =
                    Dot { mean: score.scale() * score.value, deviation: score.deviation.map(|of| score.scale() * of) };
                rows.push(DotRow { name: name.clone(), dots: vec![Some(dot)] });
            }
            rows.truncate(MOST_ROWS);
            (rows.len() > 1).then(|| Figure {
                name: "scores".into(),
                title: format!("{metric} on {data}"),
                caption: "How well labels can be predicted from the embeddings of each run.".into(),
                alternative: format!("{metric} of {} runs on {data}; the table has the figures.", rows.len()),
                svg: Dots { x: Axis::linear(unit), kinds: vec![metric.to_owned()], rows }.draw(),
            })
        };
        kinds.into_iter().filter_map(picture).collect()
    }

    /// The score over a setting, where one number is all that differs beside the seed.
    fn sweep_figure(&self) -> Option<Figure> {
        let metric = self.runs.first()?.1.scores.first()?;
        if !self.are_alike(&metric.metric) {
            return None;
        }
        let differing: Vec<String> =
            self.differing_names().into_iter().filter(|name| !name.ends_with("seed")).collect();
        let [setting] = differing.as_slice() else { return None };
        let mut values: Vec<(f64, Vec<f64>)> = Vec::new();
        for (_, run) in &self.runs {
            let x: f64 = run.settings.iter().find(|(name, _)| name == setting)?.1.parse().ok()?;
            let score = run.scores.first()?;
            let y = score.scale() * score.value;
            match values.iter_mut().find(|(known, _)| *known == x) {
                Some((_, ys)) => ys.push(y),
                None => values.push((x, vec![y])),
            }
        }
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        if values.len() < 2 {
            return None;
        }
        let point = |(x, ys): &(f64, Vec<f64>)| {
            let mean = ys.iter().sum::<f64>() / ys.len() as f64;
            let square = ys.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>();
            let deviation = (ys.len() > 1).then(|| (square / (ys.len() - 1) as f64).sqrt());
            Point { x: *x, y: mean, deviation }
        };
        Some(Figure {
            name: "sweep".into(),
            title: format!("{} over {setting}", metric.metric),
            caption: "All that differs between these runs is this setting, and perhaps the seed; whiskers are deviations over seeds.".into(),
            alternative: format!("Line of {} by {setting}, {} values.", metric.metric, values.len()),
            svg: Lines {
                lines: vec![Line { name: metric.metric.clone(), points: values.iter().map(point).collect() }],
                ..Lines::new(Axis::linear(setting.clone()), Axis::linear(metric.unit()))
            }
            .draw(),
        })
    }

    fn loss_figure(&self) -> Option<Figure> {
        let with: Vec<&(String, RunPage)> = self.runs.iter().filter(|(_, run)| run.losses.len() > 1).collect();
        let line = |(name, run): &&(String, RunPage)| Line {
            name: name.clone(),
            points: run
                .losses
                .iter()
                .enumerate()
                .map(|(epoch, &loss)| Point::new(epoch as f64 + 1.0, loss.into()))
                .collect(),
        };
        let left_out = match with.len() {
            all if all > MOST_LINES => format!(" The first {MOST_LINES} of {all} runs."),
            _ => String::new(),
        };
        let lines: Vec<Line> = with.iter().take(MOST_LINES).map(line).collect();
        (lines.len() > 1).then(|| Figure {
            name: "losses".into(),
            title: "Losses".into(),
            caption: format!("What training makes small, after each epoch; losses of different objectives cannot be compared.{left_out}"),
            alternative: format!("Lines of the losses of {} runs by epoch.", lines.len()),
            svg: Lines { lines, ..Lines::new(Axis::linear("epoch").of_whole_numbers(), Axis::linear("loss")) }.draw(),
        })
    }

    fn time_figure(&self) -> Option<Figure> {
        let bars: Vec<Bar> = self
            .runs
            .iter()
            .take(MOST_ROWS)
            .map(|(name, run)| {
                let total = run.seconds.0 + run.seconds.1;
                Bar { name: name.clone(), value: total, deviation: None, label: seconds(total), marked: false }
            })
            .collect();
        (bars.len() > 1).then(|| Figure {
            name: "times".into(),
            title: "Time".into(),
            caption:
                "Seconds for the scheme and for training together; only times of the same machine can be compared."
                    .into(),
            alternative: format!("Bars of the time that {} runs took; the table has the figures.", bars.len()),
            svg: Bars { x: Axis::linear("seconds"), bars }.draw(),
        })
    }

    fn differing_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.runs.iter().flat_map(|(_, run)| &run.settings) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let differs = |name: &String| {
            let mut values = self.runs.iter().map(|(_, run)| setting(run, name));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        names.retain(differs);
        names
    }

    fn differing_settings(&self) -> Table {
        let names: Vec<&str> = self.runs.iter().map(|(name, _)| name.as_str()).collect();
        let columns: Vec<&str> = std::iter::once("setting").chain(names).collect();
        let mut table = Table::new("differences", "Settings that differ", &columns);
        for name in self.differing_names() {
            let values = self.runs.iter().map(|(_, run)| setting(run, &name).unwrap_or("").into());
            table.push(std::iter::once(name.clone().into()).chain(values).collect());
        }
        table
    }
}

fn setting<'a>(run: &'a RunPage, name: &str) -> Option<&'a str> {
    run.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}
