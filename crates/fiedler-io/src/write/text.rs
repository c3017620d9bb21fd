//! Labels as words, and whether reading makes the same labels of them.

use fiedler_graph::Labels;

use crate::read::labels_from_columns;

/// Class names, answers or values of one node or graph, as text; empty where missing.
pub(super) fn label_texts(labels: &Labels, item: usize) -> Vec<String> {
    let text = |value: Option<String>| value.unwrap_or_default();
    match labels {
        Labels::Classes(classes) => {
            vec![text(classes.of()[item].map(|class| classes.names()[class as usize].clone()))]
        }
        Labels::MultiLabel(tasks) => {
            tasks.row(item).iter().map(|answer| text(answer.map(|answer| u8::from(answer).to_string()))).collect()
        }
        Labels::Regression(values) => {
            values.row(item).iter().map(|value| text(value.map(|value| value.to_string()))).collect()
        }
    }
}

/// Names of the columns of labels.
pub(super) fn label_names(labels: &Labels) -> Vec<String> {
    match labels {
        Labels::Classes(_) => vec!["class".into()],
        Labels::MultiLabel(tasks) => tasks.names().to_vec(),
        Labels::Regression(values) => values.names().to_vec(),
    }
}

/// A sentence where labels will be read back as something else: what they are is told by their words.
pub(super) fn changed_labels(labels: &Labels) -> Option<String> {
    let (names, items) = (label_names(labels), labels.len());
    let texts: Vec<Vec<String>> = (0..items).map(|item| label_texts(labels, item)).collect();
    let columns = (0..names.len()).map(|column| texts.iter().map(|row| row[column].clone()).collect()).collect();
    if labels.missing() == items * names.len() {
        return (items > 0).then(|| "labels are left out: all of them are missing".to_owned());
    }
    let again = labels_from_columns(names, columns);
    let same_words = |again: &Labels| (0..items).all(|item| label_texts(again, item) == texts[item]);
    match again {
        Ok(again) if std::mem::discriminant(&again) == std::mem::discriminant(labels) && same_words(&again) => None,
        Ok(Labels::Classes(_)) => {
            Some("labels will be read as classes; --target regression reads them as values".into())
        }
        Ok(Labels::Regression(_)) => Some("labels will be read as values; --target class reads them as classes".into()),
        Ok(Labels::MultiLabel(_)) => Some("labels will be read as yes-or-no tasks".into()),
        Err(problem) => Some(format!("labels will not be read: {problem}")),
    }
}
