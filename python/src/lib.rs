//! The Python module `fiedler._fiedler`: the libraries of fiedler as the typed layer in `package/fiedler` needs them.
//!
//! Nothing of the product is written again here. Arrays come in and go out ([`arrays`]), settings cross as JSON, long work runs on a pool of
//! its own while Python waits for it ([`work`]), and every failure becomes an exception of the package ([`errors`]).

mod arrays;
mod attack;
mod building;
mod dataset;
mod errors;
mod evaluate;
mod finetune;
mod gathering;
mod labels;
mod lists;
mod page;
mod parts;
mod pool;
mod run;
mod run_settings;
mod scheme;
mod search;
mod spectrum;
mod table;
mod work;

/// As in the program: large arrays come and go, and this allocator hands their pages over faster than the system's.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The compiled part of the package `fiedler`.
#[pyo3::pymodule(gil_used = false)]
mod _fiedler {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::attack::attack;
    #[pymodule_export]
    use crate::building::{dataset_from_csr, dataset_from_pairs, open_dataset};
    #[pymodule_export]
    use crate::dataset::RawDataset;
    #[pymodule_export]
    use crate::evaluate::{evaluate, evaluate_tables};
    #[pymodule_export]
    use crate::finetune::finetune;
    #[pymodule_export]
    use crate::gathering::gather_datasets;
    #[pymodule_export]
    use crate::lists::{
        attacks, formats, generators, known_datasets, methods, protocols, recipe_about, recipes, schemes, settings,
        transforms,
    };
    #[pymodule_export]
    use crate::page::{page_of_dataset, page_of_paths, page_of_run, page_of_scheme};
    #[pymodule_export]
    use crate::parts::{RawPart, compute_in_parts};
    #[pymodule_export]
    use crate::pool::set_threads;
    #[pymodule_export]
    use crate::run::{RawEncoder, RawRun, fit_run, load_run};
    #[pymodule_export]
    use crate::scheme::{RawScheme, compute_scheme, read_scheme, scheme_settings};
    #[pymodule_export]
    use crate::search::{search_gather, search_run, search_runs};
    #[pymodule_export]
    use crate::spectrum::spectrum;
    #[pymodule_export]
    use crate::table::{table_gather, table_run, table_runs};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Runs the program `fiedler` with the given arguments, the first of which is its name, and gives its exit code.
    #[pyfunction]
    fn program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| fiedler_cli::main(arguments))
    }
}
