//! Draws what the opposite scheme does to a dataset: `cargo run --example draw -- DATA [NODE or GRAPH] > picture.svg`.

use fiedler_augment::scheme::{Settings, Spectral, unwatched};
use fiedler_graph::{catalogue, generate, read};
use fiedler_report::drawing::{Subject, drawings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let data = arguments.first().map_or("karate", String::as_str);
    let number: Option<u32> = arguments.get(1).map(|text| text.parse()).transpose()?;
    let dataset = match generate::is_spec(data) {
        true => generate::from_spec(data, 0)?,
        false => catalogue::open(data, &read::Options::default())?,
    };
    let scheme = Settings::Opposite(Spectral::default()).compute(&dataset.graphs, &unwatched)?;
    let many = dataset.graphs.len() > 1;
    let place = number.filter(|_| many).unwrap_or(0) as usize;
    let graph = dataset.graphs.graph(place);
    let subject = Subject { original: many, ..Subject::of(&dataset, place, &graph, &scheme) };
    for figure in drawings(&subject, number.filter(|_| !many))? {
        eprintln!("{}\n{}\n{}", figure.title, figure.caption, figure.alternative);
        print!("{}", figure.to_svg_file());
    }
    Ok(())
}
