//! The files of an attack.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use fiedler_graph::{Dataset, Split};
use fiedler_io::{AtomicFiles, write};

use super::record::classes_agree;
use super::{ADJACENCY, AttackPlan, FLIPS, FinishedAttack, POISONED, RECORD};
use crate::error::{Error, Result};
use crate::pages;
use crate::run::PAGE;

/// Refuses before anything is computed what would be refused after it.
pub fn check(folder: &Path, force: bool) -> Result<()> {
    let there = [POISONED, ADJACENCY, FLIPS, RECORD, PAGE].map(|name| folder.join(name));
    match there.into_iter().find(|path| !force && path.exists()) {
        Some(path) => Err(Error::exists(path)),
        None => Ok(()),
    }
}

/// Writes everything; the record last, so that a folder that has one has all.
pub fn write(folder: &Path, plan: &AttackPlan<'_>, attack: &FinishedAttack, split: Option<&Split>) -> Result<()> {
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let page = pages::attack::page(plan, attack, split)?.to_html()?;
    write::write(&attack.poisoned, folder.join(POISONED), &write::WriteOptions { force: plan.force })?;
    let mut files = AtomicFiles::new(plan.force);
    let graph = attack.poisoned.graphs.block_diagonal();
    files.write(&folder.join(ADJACENCY), |file| write::scipy_npz(file, graph))?;
    files.write(&folder.join(FLIPS), |file| flips(attack, plan.dataset, split, file))?;
    files.write(&folder.join(PAGE), |file| file.write_all(page.as_bytes()))?;
    files.write(&folder.join(RECORD), |file| Ok(serde_json::to_writer_pretty(file, &attack.record)?))?;
    files.finish()?;
    Ok(())
}

fn flips(attack: &FinishedAttack, dataset: &Dataset, split: Option<&Split>, file: &mut impl Write) -> io::Result<()> {
    let graph = dataset.graphs.block_diagonal();
    let part = |node: u32| {
        let parts =
            split.map(|split| [("train", &split.train), ("validation", &split.validation), ("test", &split.test)]);
        let found = parts.into_iter().flatten().find(|(_, ids)| ids.contains(&node));
        found.map_or("", |(name, _)| name)
    };
    let mut rows = csv::Writer::from_writer(file);
    rows.write_record(["step", "source", "target", "action", "gain", "same_class", "source_part", "target_part"])?;
    for (step, flip) in attack.flips.iter().enumerate() {
        let agree = classes_agree(dataset.node_labels.as_ref(), flip);
        rows.write_record([
            step.to_string(),
            graph.name(flip.low),
            graph.name(flip.high),
            if flip.added { "add" } else { "remove" }.to_owned(),
            flip.gain.map_or(String::new(), |gain| format!("{gain:.9e}")),
            agree.map_or("", |agree| if agree { "yes" } else { "no" }).to_owned(),
            part(flip.low).to_owned(),
            part(flip.high).to_owned(),
        ])?;
    }
    rows.flush()
}
