#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fiedler_fuzz::read("ogb", &["raw/edge.csv", "raw/num-node-list.csv", "raw/num-edge-list.csv", "raw/graph-label.csv", "raw/node-feat.csv", "raw/edge-feat.csv", "split/scaffold/train.csv", "split/scaffold/valid.csv", "split/scaffold/test.csv"], data));
