//! What a reader meets.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

use super::chromium::{Browser, installed};

fn fiedler(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("fiedler").unwrap();
    command.current_dir(folder).env_remove("FIEDLER_DATA").env("FIEDLER_CACHE", folder.join("cache"));
    command
}

/// The browser, or a word on why the test does nothing.
fn browser(test: &str) -> Option<Browser> {
    let Some(program) = installed() else {
        eprintln!("skipped: {test}, for there is no Chromium");
        return None;
    };
    Some(Browser::start(&program))
}

/// Opens a page and checks what holds of every page.
fn open(browser: &mut Browser, page: &Path) {
    browser.open(page);
    let empty = browser.value(
        "Array.from(document.querySelectorAll('svg')).filter(svg => { const box = svg.getBoundingClientRect(); \
         return box.width < 50 || box.height < 50 || svg.children.length < 3 }).map(svg => svg.closest('figure').id)",
    );
    assert_eq!(empty, Value::Array(Vec::new()), "empty pictures on {}", page.display());
    let untold = browser.value(
        "Array.from(document.querySelectorAll('.picture')).filter(picture => !picture.getAttribute('aria-label')).length \
         + Array.from(document.querySelectorAll('figure')).filter(figure => !figure.querySelector('figcaption').textContent).length",
    );
    assert_eq!(untold, 0, "pictures without words on {}", page.display());
    // Nothing sticks out to the right, on a phone either.
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        serde_json::json!({ "width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": true }),
    );
    let wide = browser.value("document.documentElement.scrollWidth");
    assert!(wide.as_f64() <= Some(390.0), "{} is {wide} wide on a phone", page.display());
    browser.call("Emulation.clearDeviceMetricsOverride", serde_json::json!({}));
    assert_eq!(browser.complaints(), Vec::<String>::new(), "on {}", page.display());
    assert_eq!(browser.requests(page), Vec::<String>::new(), "on {}", page.display());
}

/// Labels of a picture that lie over each other.
fn overlapping(browser: &mut Browser) -> Value {
    browser.value(
        "Array.from(document.querySelectorAll('svg')).flatMap(svg => { \
           const texts = Array.from(svg.querySelectorAll('text')).map(text => [text, text.getBoundingClientRect()]); \
           return texts.flatMap(([a, first], at) => texts.slice(at + 1).filter(([b, second]) => \
             first.left + 1 < second.right && second.left + 1 < first.right && first.top + 3 < second.bottom && second.top + 3 < first.bottom) \
             .map(([b]) => svg.closest('figure').id + ': ' + a.textContent + ' / ' + b.textContent)) })",
    )
}

/// A run of the built-in graph that takes a few seconds.
fn small_run(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let arguments = ["embed", "--hidden", "16", "--epochs", "5", "--out", name];
    fiedler(folder).args(arguments).args(more).assert().success();
    folder.join(name)
}

#[test]
fn a_run_has_a_page_whose_values_are_those_of_its_record() {
    let Some(mut browser) = browser("a_run_has_a_page_whose_values_are_those_of_its_record") else { return };
    let folder = TempDir::new().unwrap();
    let run = small_run(folder.path(), "run", &[]);
    let page = run.join("report.html");
    open(&mut browser, &page);
    assert_eq!(overlapping(&mut browser), Value::Array(Vec::new()));
    let record: Value = serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap();
    let values = browser.value("Array.from(document.querySelectorAll('data')).map(data => data.value)");
    let shown: Vec<f64> =
        values.as_array().unwrap().iter().map(|value| value.as_str().unwrap().parse().unwrap()).collect();
    let result = &record["result"];
    let scores = result["scores"].as_array().unwrap();
    for (name, value) in scores
        .iter()
        .map(|score| ("score", &score["value"]))
        .chain(
            ["last_loss", "epochs", "scheme_seconds", "training_seconds", "peak_bytes", "spread"]
                .map(|name| (name, &result[name])),
        )
        .chain([("nodes", &record["data"]["nodes"]), ("edges", &record["data"]["edges"])])
    {
        let Some(value) = value.as_f64() else { continue };
        assert!(
            shown.iter().any(|shown| (shown - value).abs() <= 1e-6 * value.abs()),
            "{name} {value} is not on the page"
        );
    }
    let losses =
        browser.value("Array.from(document.querySelectorAll('#loss .mark')).map(mark => Number(mark.dataset.y))");
    assert_eq!(losses.as_array().unwrap().len(), 5);
    assert!(browser.value("document.querySelectorAll('#embeddings circle.mark').length").as_u64() >= Some(900));
    // Made anew, with pictures and tables beside it.
    let written = fiedler(folder.path()).args(["report", "run", "--figures", "pictures", "--json"]).assert().success();
    let written: Value = serde_json::from_slice(&written.get_output().stdout).unwrap();
    let pictures = written["pictures"].as_array().unwrap();
    assert!(pictures.len() >= 9, "{pictures:?}");
    for picture in pictures {
        for extension in ["svg", "png"] {
            let file = folder.path().join("pictures").join(format!("{}.{extension}", picture.as_str().unwrap()));
            assert!(fs::metadata(&file).unwrap().len() > 1000, "{}", file.display());
        }
    }
    open(&mut browser, &page);
}

#[test]
fn pointing_tells_and_the_switch_switches() {
    let Some(mut browser) = browser("pointing_tells_and_the_switch_switches") else { return };
    let folder = TempDir::new().unwrap();
    fiedler(folder.path()).args(["report", "karate"]).assert().success();
    let page = fs::read_dir(folder.path())
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some())
        .unwrap();
    open(&mut browser, &page);
    assert_eq!(overlapping(&mut browser), Value::Array(Vec::new()));
    // The tip comes with the pointer and goes with it.
    assert_eq!(browser.value("document.getElementById('tip').hidden"), true);
    let place = browser.value(
        "(() => { const bar = document.querySelector('#degrees .mark'); bar.scrollIntoView({block: 'center', behavior: 'instant'}); \
         const box = bar.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2] })()",
    );
    let (x, y) = (place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    browser.point_at(x, y);
    let tip = browser.value("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent");
    assert!(tip.as_str().unwrap().starts_with("number of neighbors 1: 1"), "{tip}");
    browser.point_at(2.0, 2.0);
    assert_eq!(browser.value("document.getElementById('tip').hidden"), true);
    // Without a pointer, arrow keys go from mark to mark.
    browser.value("document.querySelector('#degrees .picture').focus()");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    let second = browser.value("document.getElementById('tip').textContent");
    assert!(second.as_str().unwrap().starts_with("number of neighbors 2: 11"), "{second}");
    // The switch.
    let ground = "getComputedStyle(document.body).backgroundColor";
    let pressed = "document.getElementById('theme').getAttribute('aria-pressed')";
    let (light, before) = (browser.value(ground), browser.value(pressed));
    browser.value("document.getElementById('theme').click()");
    let (dark, after) = (browser.value(ground), browser.value(pressed));
    assert!(light != dark && before != after, "{light} {dark} {before} {after}");
    browser.value("document.getElementById('theme').click()");
    assert_eq!(browser.value(ground), light);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn schemes_comparisons_and_tables_have_pages() {
    let Some(mut browser) = browser("schemes_comparisons_and_tables_have_pages") else { return };
    let folder = TempDir::new().unwrap();
    fiedler(folder.path()).args(["augment", "karate", "--ratio", "0.2", "--out", "scheme"]).assert().success();
    fiedler(folder.path()).args(["report", "scheme", "--data", "karate"]).assert().success();
    open(&mut browser, &folder.path().join("scheme/report.html"));
    assert_eq!(overlapping(&mut browser), Value::Array(Vec::new()));
    assert_eq!(browser.value("document.querySelectorAll('#convergence path[stroke-linejoin]').length"), 2);
    // Every edge of both directions can be pointed at.
    assert!(browser.value("document.querySelectorAll('#scheme-drawing .pair').length").as_u64() >= Some(2 * 78));
    browser.value("document.querySelector('figure#scheme-drawing .picture').focus()");
    browser.press("ArrowRight");
    let pair = browser.value("document.getElementById('tip').textContent");
    assert!(pair.as_str().unwrap().contains("ed with probability"), "{pair}");
    assert!(pair.as_str().unwrap().contains("first-order effect on the spectrum"), "{pair}");
    for ratio in ["0.1", "0.4"] {
        small_run(folder.path(), &format!("ratio-{ratio}"), &["--ratio", ratio, "--no-report"]);
        assert!(!folder.path().join(format!("ratio-{ratio}/report.html")).exists());
    }
    fiedler(folder.path()).args(["report", "ratio-0.1", "ratio-0.4"]).assert().success();
    open(&mut browser, &folder.path().join("comparison.html"));
    assert_eq!(overlapping(&mut browser), Value::Array(Vec::new()));
    assert!(
        browser.value("document.querySelector('#sweep h3').textContent").as_str().unwrap().contains("scheme.ratio")
    );
    let table = "experiment,ledger,dataset,row,unit,mean,std,seeds,values,paper_mean,paper_std,standard_errors_from_paper,against,\
                 difference_from_row,standard_errors_from_row,recipe,settings,splits\n\
                 strength,random,Cora,uniform 0.1,accuracy in %,80.5,0.5,3,,,,,,,,r,s,\n\
                 strength,random,Cora,opposite 0.1,accuracy in %,81.5,0.4,3,,,,,uniform 0.1,1.0,2.5,r,s,\n\
                 strength,random,Cora,uniform 0.5,accuracy in %,79.5,0.5,3,,,,,,,,r,s,\n\
                 strength,random,Cora,opposite 0.5,accuracy in %,81.9,0.4,3,,,,,uniform 0.5,2.4,5.5,r,s,\n";
    fs::create_dir(folder.path().join("tables")).unwrap();
    fs::write(folder.path().join("tables/strength-random.csv"), table).unwrap();
    fiedler(folder.path()).args(["report", "tables"]).assert().success();
    open(&mut browser, &folder.path().join("tables/report.html"));
    assert_eq!(browser.value("document.querySelectorAll('figure path[stroke-linejoin]').length"), 2);
    assert_eq!(browser.value("document.querySelector('data[value=\"81.9\"]').textContent"), "81.90 ± 0.40");
}

#[test]
fn hostile_names_are_text() {
    let Some(mut browser) = browser("hostile_names_are_text") else { return };
    let folder = TempDir::new().unwrap();
    let hostile = "<img src=x onerror=alert(1)>";
    let edges: String =
        (0..30).map(|node| format!("\"{hostile}{node}\",\"</script><script>alert({node})</script>\"\n")).collect();
    fs::write(folder.path().join("evil.csv"), format!("source,target\n{edges}")).unwrap();
    let classes: String = (0..30).map(|node| format!("\"{hostile}{node}\",\"<b onclick=alert(2)>\"\n")).collect();
    let others: String =
        (0..30).map(|node| format!("\"</script><script>alert({node})</script>\",\"&lt;i&gt;'\"\n")).collect();
    fs::write(folder.path().join("labels.csv"), format!("node,class\n{classes}{others}")).unwrap();
    let embed = ["embed", "evil.csv", "--labels", "labels.csv", "--method", "raw", "--out", "<i>run"];
    fiedler(folder.path()).args(embed).assert().success();
    let page = folder.path().join("<i>run/report.html");
    let safe = folder.path().join("page.html");
    fs::copy(&page, &safe).unwrap();
    open(&mut browser, &safe);
    assert_eq!(browser.value("document.querySelectorAll('img, main script, b, i, main *[onclick]').length"), 0);
    let text = browser.value("document.body.textContent");
    assert!(text.as_str().unwrap().contains("<b onclick=alert(2)>") && text.as_str().unwrap().contains("&lt;i&gt;'"));
}

/// Seconds in this build; the size is what is promised.
#[test]
fn a_page_of_a_million_edges_is_small() {
    let folder = TempDir::new().unwrap();
    let written = fiedler(folder.path())
        .args(["report", "barabasi-albert:nodes=200000,edges_per_node=5", "--json"])
        .assert()
        .success();
    let written: Value = serde_json::from_slice(&written.get_output().stdout).unwrap();
    assert!(written["bytes"].as_u64() < Some(2_000_000), "{written}");
    assert!(written["pictures"].as_array().unwrap().len() >= 2, "{written}");
}
