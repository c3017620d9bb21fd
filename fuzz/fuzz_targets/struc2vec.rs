#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fiedler_fuzz::read("struc2vec", &["a.edgelist", "labels-a.txt"], data));
