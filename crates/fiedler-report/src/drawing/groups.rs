//! What kind each node is of: its class, or the atom that it stands for.

use fiedler_graph::molecule::ATOM_CARDINALITIES;
use fiedler_graph::{Dataset, Features, Labels};

use crate::markup::escape;
use crate::theme::SERIES;

/// A division of the nodes that their colors show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// What the groups are: “class”, “atom”.
    title: String,
    names: Vec<String>,
    of: Vec<Option<u32>>,
    atoms: bool,
}

/// Node types of MUTAG in the order of their codes.
const MUTAG: [&str; 7] = ["C", "N", "O", "F", "I", "Cl", "Br"];
/// One column for each type, and no more types than a legend can hold.
const MOST_TYPES: usize = 16;

/// Elements that molecules are mostly made of, with colors that chemists know them by; white letters can be read on all of them.
const ELEMENTS: [(u8, &str, &str); 13] = [
    (1, "H", "#757575"),
    (5, "B", "#a0522d"),
    (6, "C", "#606060"),
    (7, "N", "#2b5fd0"),
    (8, "O", "#c62828"),
    (9, "F", "#2e7d32"),
    (14, "Si", "#8a6d3b"),
    (15, "P", "#b35900"),
    (16, "S", "#8a6d00"),
    (17, "Cl", "#00796b"),
    (34, "Se", "#9c5700"),
    (35, "Br", "#8d3b1f"),
    (53, "I", "#6a3d9a"),
];

/// Shape of a node's mark; groups beyond the number of colors differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Diamond,
    Triangle,
}

impl Groups {
    /// Groups by their names, and the group of each node.
    pub fn new(title: impl Into<String>, names: Vec<String>, of: Vec<Option<u32>>) -> Groups {
        Groups { title: title.into(), names, of, atoms: false }
    }

    /// Atoms by the symbol of their element, which their marks bear.
    pub fn atoms(symbols: &[&str]) -> Groups {
        let mut names: Vec<String> = Vec::new();
        let of = symbols.iter().map(|&symbol| {
            let known = names.iter().position(|name| name == symbol);
            let place = known.unwrap_or_else(|| {
                names.push(symbol.to_owned());
                names.len() - 1
            });
            Some(place as u32)
        });
        let of = of.collect();
        Groups { title: "atom".into(), names, of, atoms: true }
    }

    /// What is known of the nodes of a dataset's graph: classes, else atoms, else types that stand in a column each.
    pub fn of_dataset(dataset: &Dataset, graph: usize) -> Option<Groups> {
        let range = dataset.graphs.node_range(graph);
        let range = range.start as usize..range.end as usize;
        if let Some(Labels::Classes(classes)) = &dataset.node_labels {
            let of = classes.of().get(range)?.to_vec();
            return Some(Groups::new("class", classes.names().to_vec(), of));
        }
        match dataset.features.as_ref()? {
            Features::Categorical(codes) if codes.cardinalities() == ATOM_CARDINALITIES => {
                let symbol = |row| symbol_of(codes.row(row)[0]);
                Some(Groups::atoms(&range.map(symbol).collect::<Vec<_>>()))
            }
            features if features.columns() <= MOST_TYPES => {
                let types = range.map(|row| sole_column(features, row)).collect::<Option<Vec<_>>>()?;
                if dataset.name.eq_ignore_ascii_case("mutag") && features.columns() == MUTAG.len() {
                    return Some(Groups::atoms(&types.iter().map(|&column| MUTAG[column]).collect::<Vec<_>>()));
                }
                let names = (1..=features.columns()).map(|column| column.to_string()).collect();
                Some(Groups::new("node type", names, types.iter().map(|&column| Some(column as u32)).collect()))
            }
            _ => None,
        }
    }

    /// What the groups are.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The group of each node.
    pub fn of(&self) -> &[Option<u32>] {
        &self.of
    }

    /// The name of a node's group.
    pub fn name_of(&self, node: u32) -> Option<&str> {
        let group = (*self.of.get(node as usize)?)?;
        self.names.get(group as usize).map(String::as_str)
    }

    /// Whether groups are elements.
    pub fn are_atoms(&self) -> bool {
        self.atoms
    }

    pub(super) fn of_node(&self, node: u32) -> Option<usize> {
        self.of.get(node as usize).copied().flatten().map(|group| group as usize)
    }

    /// The attributes that give a group's mark its color.
    pub(super) fn paint(&self, group: usize) -> String {
        let element = self.names.get(group).filter(|_| self.atoms);
        let known = element.and_then(|name| ELEMENTS.iter().find(|(_, symbol, _)| symbol == name));
        match known {
            Some((_, _, color)) => format!("class=\"node\" style=\"fill:{}\"", escape(color)),
            None => format!("class=\"node series-{} fill\"", group % SERIES),
        }
    }

    pub(super) fn shape(&self, group: usize) -> Shape {
        match group / SERIES % 4 {
            _ if self.atoms => Shape::Circle,
            0 => Shape::Circle,
            1 => Shape::Square,
            2 => Shape::Diamond,
            _ => Shape::Triangle,
        }
    }
}

/// The element of an atom by the Open Graph Benchmark's code, which is one less than its number.
fn symbol_of(code: u8) -> &'static str {
    let number = code.saturating_add(1);
    ELEMENTS.iter().find(|(element, _, _)| *element == number).map_or("?", |(_, symbol, _)| symbol)
}

/// The only column in which a row has anything, if there is one and it has a one.
fn sole_column(features: &Features, row: usize) -> Option<usize> {
    let mut present: Vec<(usize, f32)> = match features {
        Features::Dense(dense) => {
            dense.row(row).iter().copied().enumerate().filter(|(_, value)| *value != 0.0).collect()
        }
        Features::Sparse(sparse) => {
            let (columns, values) = sparse.row(row);
            columns.iter().map(|&column| column as usize).zip(values.iter().copied()).collect()
        }
        Features::Categorical(_) => return None,
    };
    let (column, value) = present.pop()?;
    (present.is_empty() && value == 1.0).then_some(column)
}
