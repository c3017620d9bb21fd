//! `fiedler import`: an encoder that others have published, as one of ours.

use std::path::PathBuf;

use fiedler_experiment::Result;
use fiedler_experiment::import::import;

use super::output::Output;
use super::table::Table;

/// Makes an encoder of weights that others have published as a PyTorch file, to be applied or fine-tuned. Nothing in the file is run.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Import {
    /// A .pth or .pt file with the state_dict of an encoder
    file: PathBuf,
    /// Folder for encoder.safetensors
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Replace an encoder that is in the folder already
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Read is the graph isomorphism network for molecules of Hu et al. (Strategies for Pre-training Graph Neural Networks), whose shape and names of
tensors the published encoders of Infomax, ContextPred, AttrMasking, GraphCL, GraphMAE and others have: x_embedding1.weight,
gnns.0.mlp.0.weight, batch_norms.0.running_mean and so on, with or without a prefix such as gnn. It sees type and chirality of atoms and kinds
of bonds (features.molecules=hu). `fiedler finetune` and `fiedler embed --encoder` take such a file directly as well.

Examples:
  fiedler import contextpred.pth --out contextpred
  fiedler finetune contextpred ogbg-molbbbp --protocol scaffold --dropout 0.5 --out bbbp
  fiedler embed molecules.csv --encoder contextpred/encoder.safetensors";

impl Import {
    pub fn run(&self, output: &Output) -> Result<()> {
        let imported = import(&self.file, &self.out, self.force)?;
        if self.json {
            return output.json(&imported);
        }
        let mut table = Table::new(format!("{}: imported", self.file.display()));
        table.row("encoder", &imported.shape);
        table.row("features", "type and chirality of atoms, kinds of bonds: molecules from SMILES or OGB");
        if !imported.left_out.is_empty() {
            table.row("left out", imported.left_out.join(", "));
        }
        table.row("file", imported.encoder.display().to_string());
        output.result(&table.to_string())
    }
}
