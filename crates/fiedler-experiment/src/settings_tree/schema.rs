//! Keys, values, choices and meanings of settings. All of it comes from the settings types: their schema has their doc comments, so that a
//! setting is documented where it is declared and nowhere else.

use std::sync::LazyLock;

use fiedler_learn::run::Settings;
use schemars::schema_for;
use serde_json::{Value, json};

use super::TAG;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema_for!(Settings).to_value());

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingEntry {
    /// Key, as [`assign`](super::assign) takes it.
    pub key: String,
    /// Value, as it would be assigned.
    pub value: String,
    /// What it may be, where that is one of a few words.
    pub choices: Vec<String>,
    /// What it means, in one line.
    pub doc: String,
}

/// The settings with their tree, from which variants are known.
pub(super) struct Walk<'s> {
    settings: &'s Settings,
    tree: &'s Value,
    found: Vec<SettingEntry>,
}

impl<'s> Walk<'s> {
    pub(super) fn new(settings: &'s Settings, tree: &'s Value) -> Walk<'s> {
        Walk { settings, tree, found: Vec::new() }
    }

    pub(super) fn entries(mut self) -> Vec<SettingEntry> {
        let tree = self.tree;
        self.visit(&mut Vec::new(), &SCHEMA, tree, "");
        self.found
    }

    /// One setting, or all below it; `meaning` is what is known of it from around it.
    fn visit(&mut self, path: &mut Vec<String>, place: &'static Value, value: &Value, meaning: &str) {
        let node = resolve(place);
        let doc = [place, node].into_iter().find_map(|at| at["description"].as_str()).unwrap_or(meaning);
        let is_absent = value.is_null() && is_optional(place);
        let variants = variants(node);
        if !variants.is_empty() && !is_absent {
            let Some(variant) = variants.iter().find(|variant| tag(variant) == value[TAG].as_str()) else { return };
            let names = variants.iter().filter_map(|variant| tag(variant)).map(str::to_owned).collect();
            path.push(TAG.to_owned());
            self.push(path, &value[TAG], names, doc);
            path.pop();
            let of_variant = variant["description"].as_str().unwrap_or(doc);
            self.visit_all(path, variant, value, of_variant);
        } else if node["properties"].is_object() && !is_absent {
            self.visit_all(path, node, value, "");
        } else {
            let mut choices = words(node);
            if variants.is_empty() && !choices.is_empty() && is_optional(place) {
                choices.push(super::NONE.to_owned());
            }
            self.push(path, value, choices, doc);
        }
    }

    fn visit_all(&mut self, path: &mut Vec<String>, node: &'static Value, value: &Value, meaning: &str) {
        for (key, place) in properties(node).filter(|(key, _)| *key != TAG) {
            path.push(key.clone());
            match value.get(key) {
                Some(value) => self.visit(path, place, value, meaning),
                None => {
                    let value = self.unwritten(path, place);
                    self.visit(path, place, &value, meaning);
                }
            }
            path.pop();
        }
    }

    fn push(&mut self, path: &[String], value: &Value, choices: Vec<String>, doc: &str) {
        self.found.push(SettingEntry { key: path.join("."), value: super::text(value), choices, doc: one_line(doc) });
    }

    /// The value of a setting that files leave out where it is the usual: the one that makes no difference.
    fn unwritten(&self, path: &[String], place: &Value) -> Value {
        let node = resolve(place);
        let mut candidates = vec![place["default"].clone(), Value::Null, json!(false), json!(0)];
        candidates.extend(words(node).into_iter().map(Value::from));
        candidates.extend(variants(node).iter().filter_map(|variant| tag(variant)).map(|name| json!({ TAG: name })));
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let makes_no_difference = |value: &Value| {
            let mut tree = self.tree.clone();
            super::put(&mut tree, &path, value.clone())
                && serde_json::from_value::<Settings>(tree).is_ok_and(|settings| settings == *self.settings)
        };
        candidates.into_iter().find(makes_no_difference).unwrap_or_default()
    }
}

/// Whether there is such a setting, or such a group of settings, beside what the tree has.
pub(super) fn knows(tree: &Value, key: &str) -> bool {
    let mut place: &Value = &SCHEMA;
    let mut value = Some(tree);
    for step in key.split('.') {
        let node = resolve(place);
        let name = value.and_then(|value| value[TAG].as_str());
        let variants = variants(node);
        let of_variants = variants.iter().filter(|variant| name.is_none() || tag(variant) == name);
        let found = of_variants.chain([&node]).find_map(|node| properties(node).find(|(key, _)| *key == step));
        let Some((_, found)) = found else { return false };
        place = found;
        value = value.and_then(|value| value.get(step));
    }
    true
}

/// The settings of a group; of a variant whose settings are declared elsewhere, those too.
fn properties(node: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let elsewhere = if node["$ref"].is_string() { resolve(node) } else { &Value::Null };
    [node, elsewhere].into_iter().flat_map(|node| node["properties"].as_object().into_iter().flatten())
}

/// What a place in the schema refers to; of something optional, what it is where it is there.
fn resolve(mut place: &Value) -> &Value {
    loop {
        if let Some(name) = place["$ref"].as_str() {
            place = SCHEMA.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Null);
        } else if let Some(some) = alternatives(place).find(|one| one["type"] != "null") {
            place = some;
        } else {
            return place;
        }
    }
}

fn alternatives(place: &Value) -> impl Iterator<Item = &Value> {
    place["anyOf"].as_array().into_iter().flatten()
}

fn is_optional(place: &Value) -> bool {
    let is_null = |of: &Value| of["type"] == "null";
    alternatives(place).any(is_null) || place["type"].as_array().is_some_and(|types| types.contains(&json!("null")))
}

/// The variants of settings that are told apart by their name.
fn variants(node: &Value) -> Vec<&Value> {
    node["oneOf"].as_array().into_iter().flatten().filter(|variant| tag(variant).is_some()).collect()
}

fn tag(variant: &Value) -> Option<&str> {
    variant["properties"][TAG]["const"].as_str()
}

/// The words that a setting may be.
fn words(node: &Value) -> Vec<String> {
    let of = |node: &Value| {
        let single = node["const"].as_str();
        let several = node["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
        single.into_iter().chain(several).map(str::to_owned).collect::<Vec<_>>()
    };
    of(node).into_iter().chain(node["oneOf"].as_array().into_iter().flatten().flat_map(of)).collect()
}

/// The first sentence of a doc comment, without what only rustdoc understands.
fn one_line(doc: &str) -> String {
    let paragraph = doc.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let sentence = paragraph.split(". ").next().unwrap_or_default();
    let mut text = sentence.trim().trim_end_matches('.').to_owned();
    // [`name`](path) and [`name`] are links.
    while let Some((start, end)) = text.find("[`").and_then(|start| Some((start, start + text[start..].find("`]")?))) {
        let target = text[end + 2..].strip_prefix('(').and_then(|after| after.find(')')).map_or(0, |length| length + 2);
        text = format!("{}{}{}", &text[..start], &text[start + 1..=end], &text[end + 2 + target..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docs_become_one_line() {
        assert_eq!(one_line("Width\nof a layer. At least one.\n\nMore."), "Width of a layer");
        assert_eq!(one_line("See [`reach`](super::Span::reach) and [`Span`]."), "See `reach` and `Span`");
    }
}
