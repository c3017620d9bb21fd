//! Pictures of whatever data: well-formed, never empty, and free of the markup in anybody's names.
#![allow(clippy::unwrap_used)]

use fiedler_augment::scheme::{SchemeSettings, Spectral};
use fiedler_graph::generate;
use fiedler_report::plot::{
    Axis, Bar, Bars, Bin, Dot, DotRow, Dots, Group, Histogram, Line, Lines, Outline, Point, Scatter,
};
use fiedler_report::{Cell, Fact, Figure, GraphPage, Page, SchemePage, Section, Table, plane};
use proptest::prelude::*;
use resvg::tiny_skia::Pixmap;
use resvg::usvg::{Options, Tree};

fn figure(svg: String) -> Figure {
    Figure { name: "picture".into(), title: "A & B".into(), caption: String::new(), alternative: "<none>".into(), svg }
}

/// Every kind of plot with the same name and numbers in it.
fn plots(name: &str, values: &[f64]) -> Vec<String> {
    let point = |(at, &y): (usize, &f64)| Point { x: at as f64, y, deviation: (at % 2 == 0).then_some(0.5) };
    let line = Line { name: name.into(), points: values.iter().enumerate().map(point).collect() };
    let bins: Vec<Bin> = values
        .iter()
        .enumerate()
        .map(|(at, count)| Bin { from: at as f64, to: at as f64 + 1.0, count: count.abs() })
        .collect();
    let outline = Outline { name: name.into(), bins };
    let dot = |&mean: &f64| DotRow { name: name.into(), dots: vec![Some(Dot { mean, deviation: Some(1.0) }), None] };
    let bar = |&value: &f64| Bar {
        name: name.into(),
        value,
        deviation: Some(value.abs() / 9.0),
        label: name.into(),
        marked: value > 1.0,
    };
    let group =
        Group { name: name.into(), points: values.iter().map(|&value| (value, -value, name.to_owned())).collect() };
    vec![
        Lines { lines: vec![line.clone(), line], ..Lines::new(Axis::linear(name), Axis::linear(name)) }.draw(),
        Histogram { x: Axis::linear(name), y: Axis::linear(name), outlines: vec![outline.clone()] }.draw(),
        Histogram { x: Axis::linear(name), y: Axis::logarithmic(name), outlines: vec![outline.clone(), outline] }
            .draw(),
        Dots { x: Axis::linear(name), kinds: vec![name.into(), name.into()], rows: values.iter().map(dot).collect() }
            .draw(),
        Bars { x: Axis::linear(name), bars: values.iter().map(bar).collect() }.draw(),
        Scatter { groups: vec![group.clone(), group] }.draw(),
    ]
}

/// Names that would do harm if they were markup.
fn hostile() -> impl Strategy<Value = String> {
    let evil = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "</title></svg><b>",
        "]]>",
        "<!--",
        "{{ x }}",
        "\u{0}\u{8}\u{fffe}",
    ];
    let part = prop_oneof![proptest::sample::select(evil.to_vec()).prop_map(str::to_owned), ".{0,12}"];
    proptest::collection::vec(part, 1..4).prop_map(|parts| parts.concat())
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![-1e6..1e6f64, -1.0..1.0f64, Just(0.0), Just(f64::NAN), Just(f64::INFINITY), Just(1e-300), Just(1e300)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_names_and_numbers_pictures_are_well_formed(name in hostile(), values in proptest::collection::vec(number(), 0..12)) {
        for svg in plots(&name, &values) {
            let file = figure(svg.clone()).to_svg_file();
            let tree = Tree::from_str(&file, &Options::default());
            prop_assert!(tree.is_ok(), "{:?}\n{file}", tree.err());
            for element in ["<script", "<img", "<b>", "<!--"] {
                prop_assert!(!svg.contains(element), "{element} in {svg}");
            }
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf "), "{svg}");
        }
    }

    #[test]
    fn a_page_shows_names_as_text(name in hostile()) {
        let mut section = Section::new("name", name.clone());
        section.words.push(name.clone());
        section.facts.push(Fact::new(name.clone(), Cell::words(name.clone())).noted(name.clone()));
        section.commands.push((name.clone(), name.clone()));
        let mut table = Table::new("table", &name, &[&name]);
        table.push(vec![Cell { text: name.clone(), value: Some(name.clone()) }]);
        section.tables.push(table);
        let figure = figure(plots(&name, &[1.0, 2.0]).remove(0));
        section.figures.push(Figure { title: name.clone(), caption: name.clone(), alternative: name.clone(), ..figure });
        let mut page = Page { title: name.clone(), lead: name.clone(), origin: name, ..Page::default() };
        page.extend([section]);
        let html = page.to_html().unwrap();
        prop_assert_eq!(html.matches("<script").count(), 1);
        prop_assert_eq!(html.matches("</script").count(), 1);
        for element in ["<img", "<b>", "<!--"] {
            prop_assert!(!html.contains(element), "{} in {}", element, html);
        }
    }
}

#[test]
fn a_png_is_drawn_with_words_and_the_same_every_time() {
    let svg = plots("names", &[1.0, 3.0, 2.0]).remove(0);
    let png = figure(svg.clone()).to_png().unwrap();
    assert_eq!(png, figure(svg.clone()).to_png().unwrap());
    let dark = |png: &[u8]| Pixmap::decode_png(png).unwrap().pixels().iter().filter(|pixel| pixel.red() < 128).count();
    let pixmap = Pixmap::decode_png(&png).unwrap();
    assert_eq!((pixmap.width(), pixmap.pixels()[0].red()), (1440, 255));
    // Without its words the picture has fewer dark pixels: the typeface is there.
    let mute: String =
        svg.split("<text").map(|part| part.split_once("</text>").map_or(part, |(_, rest)| rest)).collect();
    assert!(dark(&png) > dark(&figure(mute).to_png().unwrap()) + 1000);
}

#[test]
fn the_plane_does_not_depend_on_threads() {
    let rows: Vec<f32> = (0..200 * 16)
        .map(|at| ((at * 7919 % 1013) as f32 / 1013.0) + if at / 16 % 2 == 0 { 2.0 } else { 0.0 })
        .collect();
    let with = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| plane::lay_out(&rows, 16))
    };
    let (one, three) = (with(1), with(3));
    assert_eq!(one.1, plane::Layout::Neighbors);
    assert!(one == three);
    // Equal rows, and fewer rows than neighbors, have a place too.
    assert!(plane::lay_out(&[1.0; 100 * 4], 4).0.iter().flatten().all(|value| value.is_finite()));
    assert_eq!(plane::lay_out(&[1.0, 2.0, 3.0, 4.0], 2).0.len(), 2);
    assert!(plane::lay_out(&[], 0).0.is_empty());
}

#[test]
fn a_graph_and_its_scheme_have_the_same_page_whatever_the_number_of_threads() {
    let karate = generate::karate_club();
    let settings = SchemeSettings::Opposite(Spectral { ratio: 0.2, ..Spectral::default() });
    let make = || {
        let scheme = settings.compute(&karate.graphs, &fiedler_graph::NoObserver).unwrap();
        let graph = GraphPage::of(&karate, 0, false).unwrap();
        let mut page = Page { title: "karate".into(), lead: graph.lead(), ..Page::default() };
        page.extend([SchemePage::of(&scheme, &karate, 0).unwrap().section()]);
        page.extend(graph.sections());
        (page.to_html().unwrap(), page)
    };
    let with = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(make);
    let ((html, page), (again, _)) = (with(1), with(3));
    assert!(html == again);
    let names: Vec<&str> = page.figures().map(|figure| figure.name.as_str()).collect();
    for name in [
        "degrees",
        "classes",
        "spectrum-density",
        "lowest-eigenvalues",
        "probabilities-removal",
        "spectrum-before-after",
        "convergence",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    for figure in page.figures() {
        assert!(figure.to_png().unwrap().len() > 2000, "{}", figure.name);
    }
    assert!(html.len() < 400_000, "{}", html.len());
}

#[test]
fn names_on_a_page_are_taken_once() {
    let mut page = Page::default();
    let section = || Section { figures: vec![figure("<svg></svg>".into())], ..Section::new("same", "Same") };
    page.extend([section()]);
    page.extend([section()]);
    let names: Vec<&str> = page.figures().map(|figure| figure.name.as_str()).collect();
    assert_eq!((names, page.sections[1].name.as_str()), (vec!["picture", "picture-2"], "same-2"));
}
