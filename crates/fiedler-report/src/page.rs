//! A page: sections of words, facts, pictures and tables, and how they become one HTML file.

use std::borrow::Borrow;
use std::collections::HashSet;

use askama::Template;

use crate::error::Result;
use crate::figure::Figure;
use crate::table::{Cell, Table};
use crate::{digest, theme};

/// A page that needs nothing but itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// What it is about.
    pub title: String,
    /// One or two sentences below the title.
    pub lead: String,
    /// Its parts.
    pub sections: Vec<Section>,
    /// Where it comes from, at the end.
    pub origin: String,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Name for links and files.
    pub name: String,
    /// Heading.
    pub title: String,
    /// Figures that are seen first.
    pub facts: Vec<Fact>,
    /// Paragraphs.
    pub words: Vec<String>,
    /// Pictures.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Commands, each with what it does.
    pub commands: Vec<(String, String)>,
}

/// A number and what it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// The number.
    pub value: Cell,
    /// What more is to be said, if anything.
    pub note: String,
}

impl Fact {
    /// A fact that needs no more words.
    pub fn new(name: impl Into<String>, value: Cell) -> Fact {
        Fact { name: name.into(), value, note: String::new() }
    }

    /// The fact with something more to be said.
    pub fn noted(mut self, note: impl Into<String>) -> Fact {
        self.note = note.into();
        self
    }
}

impl Section {
    /// A section without contents yet.
    pub fn new(name: &str, title: impl Into<String>) -> Section {
        Section { name: name.into(), title: title.into(), ..Section::default() }
    }

    /// Whether a picture has nothing beside it, where two stand side by side; its words do then.
    fn is_alone(&self, at: impl Borrow<usize>) -> bool {
        let at = *at.borrow();
        let is_wide = |at: usize| self.figures.get(at).is_none_or(Figure::is_wide);
        let before = (0..at).rev().take_while(|&before| !is_wide(before)).count();
        before.is_multiple_of(2) && is_wide(at + 1)
    }

    /// The facts as a table, for files.
    fn facts_table(&self) -> Option<Table> {
        let mut table = Table::new(&self.name, &self.title, &["what", "value", "note"]);
        for fact in &self.facts {
            table.push(vec![fact.name.clone().into(), fact.value.clone(), fact.note.clone().into()]);
        }
        (!self.facts.is_empty()).then_some(table)
    }
}

#[derive(Template)]
#[template(path = "page.html")]
struct Html<'a> {
    page: &'a Page,
    style: String,
    script: &'static str,
    script_digest: String,
}

const STYLE: &str = include_str!("../templates/page.css");
const SCRIPT: &str = include_str!("../templates/page.js");

impl Page {
    /// Adds sections; names that are taken already get a number.
    pub fn extend(&mut self, sections: impl IntoIterator<Item = Section>) {
        self.sections.extend(sections);
        let mut taken = HashSet::new();
        for section in &mut self.sections {
            let tables = section.tables.iter_mut().map(|table| &mut table.name);
            let figures = section.figures.iter_mut().map(|figure| &mut figure.name);
            for name in std::iter::once(&mut section.name).chain(tables).chain(figures) {
                let mut free = (1..).map(|number| if number == 1 { name.clone() } else { format!("{name}-{number}") });
                *name = free.find(|name| !taken.contains(name)).unwrap_or_default();
                taken.insert(name.clone());
            }
        }
    }

    /// The page as one HTML file.
    ///
    /// # Errors
    /// Never for what a page can hold; the template says so itself.
    pub fn to_html(&self) -> Result<String> {
        let script_digest = digest::of_script(SCRIPT);
        let style = theme::page_style() + STYLE;
        Ok(Html { page: self, style, script: SCRIPT, script_digest }.render()?)
    }

    /// All pictures.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(|section| &section.figures)
    }

    /// All tables, facts among them.
    pub fn tables(&self) -> Vec<Table> {
        let of =
            |section: &Section| section.facts_table().into_iter().chain(section.tables.clone()).collect::<Vec<_>>();
        self.sections.iter().flat_map(of).collect()
    }
}
