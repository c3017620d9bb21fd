#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fiedler_fuzz::read("powerful-gnns", &["A.txt", "10fold_idx/train_idx-1.txt", "10fold_idx/test_idx-1.txt"], data));
