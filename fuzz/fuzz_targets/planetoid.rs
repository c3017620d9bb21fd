#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fiedler_fuzz::read("planetoid", &["ind.a.graph", "ind.a.test.index", "ind.a.y", "ind.a.ally", "ind.a.ty", "ind.a.x", "ind.a.allx", "ind.a.tx"], data));
