//! What all fuzz targets share: bytes become the files of a format, and reading them must end in a dataset or an error.

use fiedler_graph::Input;
use fiedler_graph::read::{self, Options};

/// Stands between the files of one input.
pub const SEPARATOR: &[u8] = b"\n--8<--\n";

/// Reads `data` as the files `names`, one piece each; a format of one file is given that file as its path.
pub fn read(format: &str, names: &[&str], data: &[u8]) {
    let mut pieces = Vec::new();
    let mut rest = data;
    while pieces.len() + 1 < names.len()
        && let Some(at) = rest.windows(SEPARATOR.len()).position(|window| window == SEPARATOR)
    {
        pieces.push(&rest[..at]);
        rest = &rest[at + SEPARATOR.len()..];
    }
    pieces.push(rest);
    let files = names.iter().map(|name| name.to_string()).zip(pieces.into_iter().map(<[u8]>::to_vec));
    let input = Input::memory(files, (names.len() == 1).then_some(names[0]));
    let _ = read::read_input(&input, &Options { format: Some(format.into()), ..Options::default() });
    let _ = read::read_input(&input, &Options::default());
}

