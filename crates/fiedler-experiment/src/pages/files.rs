//! The files of a report.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use fiedler_io::AtomicFiles;
use fiedler_report::{Page, number};
use serde::Serialize;

use crate::error::{Error, Result};

/// What was written.
#[derive(Debug, Serialize)]
pub struct WrittenPage {
    /// The page's file.
    pub page: PathBuf,
    bytes: usize,
    title: String,
    pictures: Vec<String>,
    tables: Vec<String>,
    /// Files beside the page.
    files: Vec<PathBuf>,
}

impl WrittenPage {
    /// One line for people, and one for files beside the page.
    pub fn in_words(&self) -> String {
        let mut words = format!(
            "{}: {}, {}, {}\n",
            self.page.display(),
            number::bytes(self.bytes as u64),
            number::several(self.pictures.len(), "picture"),
            number::several(self.tables.len(), "table")
        );
        if let Some(folder) = self.files.first().and_then(|file| file.parent()) {
            words += &format!("{}: {}\n", folder.display(), number::several(self.files.len(), "file"));
        }
        words
    }
}

/// Writes the page and, where asked, its pictures and tables; everything gets its name together.
pub fn write(page: &Page, out: &Path, figures: Option<&Path>, force: bool, remade: bool) -> Result<WrittenPage> {
    let html = page.to_html()?;
    let beside = figures.map(|folder| Ok::<_, Error>((folder, contents(page)?))).transpose()?;
    let mut written = WrittenPage {
        page: out.into(),
        bytes: html.len(),
        title: page.title.clone(),
        pictures: page.figures().map(|figure| figure.name.clone()).collect(),
        tables: page.tables().into_iter().map(|table| table.name).collect(),
        files: Vec::new(),
    };
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    }
    let mut pages = AtomicFiles::new(force || remade);
    pages.write(out, |file| file.write_all(html.as_bytes()))?;
    if let Some((folder, contents)) = beside {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let mut targets = AtomicFiles::new(force);
        for (name, bytes) in contents {
            let path = folder.join(name);
            targets.write(&path, |file| file.write_all(&bytes))?;
            written.files.push(path);
        }
        targets.finish()?;
    }
    pages.finish()?;
    Ok(written)
}

/// Every picture and every table in all their formats.
fn contents(page: &Page) -> Result<Vec<(String, Vec<u8>)>> {
    let mut contents = Vec::new();
    for figure in page.figures() {
        contents.push((format!("{}.svg", figure.name), figure.to_svg_file().into_bytes()));
        contents.push((format!("{}.png", figure.name), figure.to_png()?));
    }
    for table in page.tables() {
        contents.push((format!("{}.csv", table.name), table.to_csv().into_bytes()));
        contents.push((format!("{}.md", table.name), table.to_markdown().into_bytes()));
        contents.push((format!("{}.tex", table.name), table.to_latex().into_bytes()));
    }
    Ok(contents)
}

/// Whether a file is a page that fiedler made.
pub fn is_own_page(path: &Path) -> bool {
    const MARK: &[u8] = b"<meta name=\"generator\" content=\"fiedler\">";
    fs::read(path).is_ok_and(|bytes| bytes[..bytes.len().min(4096)].windows(MARK.len()).any(|part| part == MARK))
}
