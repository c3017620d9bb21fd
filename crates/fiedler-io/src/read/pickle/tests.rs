use super::*;

fn fixture(name: &str) -> File {
    let path = format!("{}/tests/fixtures/python/{name}", env!("CARGO_MANIFEST_DIR"));
    File::new(&path, std::fs::read(&path).unwrap())
}

fn read(bytes: &[u8]) -> Result<Pickle> {
    Pickle::read(&File::new("test.pkl", bytes.to_vec()))
}

fn entry<'a>(pickle: &'a Pickle, name: &str) -> Value<'a> {
    pickle.root().entries().and_then(|entries| entries.get(name)).unwrap()
}

fn items<'a>(pickle: &'a Pickle, name: &str) -> Vec<Value<'a>> {
    entry(pickle, name).items().unwrap().iter().collect()
}

#[test]
fn every_protocol_gives_the_same_values() {
    for protocol in 0..=5 {
        let pickle = Pickle::read(&fixture(&format!("values.{protocol}.pkl"))).unwrap();

        let numbers: Vec<_> = items(&pickle, "numbers").iter().map(ToString::to_string).collect();
        let big = "a whole number of more than 64 bits";
        let expected = ["None", "True", "False", "0", "-1", "255", "256", "65536", "-2147483648"];
        assert_eq!(numbers[..9], expected, "protocol {protocol}");
        assert_eq!(numbers[9..13], ["4611686018427387904", "-9223372036854775808", big, big]);
        assert!(matches!(items(&pickle, "numbers")[13..], [Value::Float(1.5), Value::Float(-1e300)]));

        let texts: Vec<_> = items(&pickle, "texts").into_iter().filter_map(Value::text).collect();
        assert_eq!(texts[..4], ["", "plain", "it's \"q\"\\ \n", "é ∆ 𝔾"], "protocol {protocol}");
        assert_eq!(texts[4].len(), 300);

        let bytes: Vec<_> =
            items(&pickle, "bytes").into_iter().map(|value| value.bytes().unwrap().into_owned()).collect();
        let all: Vec<u8> = (0..=255).chain(0..=255).collect();
        assert_eq!(bytes, [b"".to_vec(), b"\x00\xff'\n\\".to_vec(), all], "protocol {protocol}");

        let nested = entry(&pickle, "nested").entries().unwrap();
        let tuples = nested.get("tuples").unwrap().items().unwrap();
        let lengths: Vec<_> = tuples.iter().map(|tuple| tuple.items().unwrap().len()).collect();
        assert_eq!(lengths, [0, 1, 2, 3, 4], "protocol {protocol}");

        let default = entry(&pickle, "default").entries().unwrap();
        let pairs: Vec<_> = default.iter().map(|(key, value)| (key.integer(), value.items().unwrap().len())).collect();
        assert_eq!(pairs, [(Some(0), 2), (Some(1), 1)], "protocol {protocol}");
    }
}

#[test]
fn a_list_may_hold_itself() {
    let pickle = Pickle::read(&fixture("values.4.pkl")).unwrap();
    let mut inner = entry(&pickle, "cyclic");
    for _ in 0..1000 {
        inner = inner.items().unwrap().get(1).unwrap();
    }
    assert_eq!(inner.to_string(), "a list of 2");
    assert!(format!("{pickle:?}{inner:?}").len() < 100_000);
}

#[test]
fn calls_are_noted_and_not_made() {
    let pickle = read(b"cos\nsystem\n(S'echo pwned'\ntR.").unwrap();
    let Value::Object(object) = pickle.root() else { panic!("{}", pickle.root()) };
    assert_eq!(object.class(), ("os", "system"));
    assert_eq!(object.arguments().get(0).and_then(Value::text), Some("echo pwned"));
    assert_eq!(pickle.root().to_string(), "an object made by os.system");

    // A class of Python 2, as INST and as OBJ have it.
    for bytes in [&b"(I1\nipets\nCat\n."[..], b"(cpets\nCat\nI1\no."] {
        let pickle = read(bytes).unwrap();
        let Value::Object(object) = pickle.root() else { panic!("{}", pickle.root()) };
        assert_eq!((object.class(), object.arguments().len()), (("pets", "Cat"), 1));
    }
}

#[test]
fn depth_and_sharing_cost_nothing() {
    let depth = 1_000_000;
    let lists = [vec![b']'; depth], vec![b'a'; depth - 1], b".".to_vec()].concat();
    let tuples = [b")".to_vec(), b"\x85\x94".repeat(depth), b".".to_vec()].concat();
    for bytes in [lists, tuples] {
        assert_eq!(read(&bytes).unwrap().root().items().unwrap().len(), 1);
    }

    // Each list holds the one before ten times: written out it would have 10¹⁰⁰ ends.
    let mut laughs = b"]q\x00K\x01a0".to_vec();
    for level in 0..100u8 {
        laughs.extend(b"](");
        laughs.extend([b'h', level].repeat(10));
        laughs.extend([b'e', b'q', level + 1, b'0']);
    }
    laughs.extend(b"hd.");
    assert_eq!(read(&laughs).unwrap().root().items().unwrap().len(), 10);

    // A long name called upon again and again is kept once.
    let mut names =
        [b"X".to_vec(), 1_000_000u32.to_le_bytes().to_vec(), vec![b'm'; 1_000_000], b"q\x000".to_vec()].concat();
    names.extend(b"h\x00h\x00\x930".repeat(100_000));
    names.extend(b"N.");
    assert!(matches!(read(&names).unwrap().root(), Value::None));
}

#[test]
fn programs_that_only_fill_memory_are_refused() {
    let size = 1_000_000;
    for (program, complaint) in [
        (&b"]"[..], "hardly anything but empty values"),
        (b"\x85", "hardly anything but empty values"),
        (b")R", "hardly anything but calls"),
        (b"2R", "hardly anything but calls"),
    ] {
        let bytes = [b"cos\nsystem\n".to_vec(), program.repeat(size / program.len()), b".".to_vec()].concat();
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
    assert!(read(b"Nr\xff\xff\xff\xff.").unwrap_err().to_string().contains("value 4294967295 remembered"));
    // As a list of empty tuples is written, which is one tuple.
    let tuples = [b"](".to_vec(), vec![b')'; size], b"e.".to_vec()].concat();
    assert_eq!(read(&tuples).unwrap().root().items().unwrap().len(), size);
}

#[test]
fn what_is_no_pickle_is_refused() {
    let bad: [&[u8]; 26] = [
        b"",
        b".",
        b"N",
        b"a.",
        b"]a.",
        b"t.",
        b"R.",
        b"NR.",
        b"b.",
        b"NNb.",
        b"s.",
        b"}Ns.",
        b"}(Nu.",
        b"NNa.",
        b"h\x00.",
        b"g7\n.",
        b"I1",
        b"Ix\n.",
        b"Fx\n.",
        b"Sabc\n.",
        b"S'\\x4'\n.",
        b"T\xff\xff\xff\xffab.",
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\xffab.",
        b"Pid\n.",
        b"\x97.",
        b"\xff.",
    ];
    for bytes in bad {
        assert!(read(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
    }
    let error = read(b"\xff.").unwrap_err();
    assert_eq!(error.to_string(), "test.pkl: 0xff at byte 0; expected an operation of a pickle");
}

#[test]
fn a_pickle_cut_short_is_refused() {
    for name in ["values.0.pkl", "values.2.pkl", "values.5.pkl"] {
        let whole = fixture(name).into_bytes();
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err(), "{name} cut at {end}");
        }
    }
}
