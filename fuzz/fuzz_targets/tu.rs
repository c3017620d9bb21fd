#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fiedler_fuzz::read("tu", &["A_A.txt", "A_graph_indicator.txt", "A_graph_labels.txt", "A_node_labels.txt", "A_edge_labels.txt", "A_node_attributes.txt", "A_edge_attributes.txt"], data));
