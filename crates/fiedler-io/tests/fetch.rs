//! Downloading, against a server on this machine that misbehaves in every way servers do.
#![allow(clippy::unwrap_used)]

use std::io::{Cursor, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, thread};

use fiedler_io::Error;
use fiedler_io::catalogue::{Entry, FetchSettings, Progress, fetch, locate_in, parse};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A request as the server sees it.
#[derive(Debug, Clone)]
struct Request {
    /// Counted from zero, over all connections.
    number: usize,
    path: String,
    head: String,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The first byte asked for.
    fn start(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers every request by `answer`, then closes the connection.
    fn new(answer: impl Fn(&Request, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (requests.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (seen.clone(), answer.clone());
                thread::spawn(move || converse(stream, &seen, &*answer));
            }
        });
        Server { address, requests }
    }

    /// Serves one file well.
    fn of(bytes: &[u8]) -> Server {
        let bytes = bytes.to_vec();
        Server::new(move |request, stream| send(request, stream, &bytes, "\"one\"", bytes.len()))
    }

    fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// A dataset of one file at this server; `more` adds to its entry.
    fn dataset(&self, file: &str, more: &str) -> Entry {
        self.entry(&format!(r#"["{{name}}/{file}"]"#), "", file, more)
    }

    /// A dataset in a zip at this server, whole when it has a file `a.txt`.
    fn zipped(&self, more: &str) -> Entry {
        self.entry(r#"["{name}"]"#, &format!("holds = [\"a.txt\"]\n{more}"), "all.zip", "")
    }

    fn entry(&self, places: &str, collection: &str, file: &str, dataset: &str) -> Entry {
        let text = format!(
            r#"
            [[collection]]
            kind = "nodes"
            format = "edge-list"
            homepage = "http://{address}"
            files = ["http://{address}/{file}"]
            places = {places}
            {collection}
            [[collection.dataset]]
            name = "tiny"
            title = "A dataset of the tests"
            keys = ["tiny"]
            {dataset}
            "#,
            address = self.address
        );
        parse(&text).unwrap().remove(0)
    }
}

fn converse(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    answer: &dyn Fn(&Request, &mut TcpStream) -> std::io::Result<()>,
) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let request = {
        let mut seen = seen.lock().unwrap();
        let request = Request { number: seen.len(), path, head };
        seen.push(request.clone());
        request
    };
    // The client may hang up first.
    let _ = answer(&request, &mut stream);
}

fn reply(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n")?;
    stream.write_all(body)
}

/// Answers as a good server does, but hangs up after `until` bytes of the file.
fn send(request: &Request, stream: &mut TcpStream, bytes: &[u8], tag: &str, until: usize) -> std::io::Result<()> {
    let same = request.header("if-range").is_none_or(|wanted| wanted == tag);
    match request.start().filter(|_| same) {
        Some(start) => {
            let headers = format!(
                "Content-Length: {}\r\nContent-Range: bytes {start}-{}/{}\r\nETag: {tag}\r\n",
                bytes.len() - start,
                bytes.len() - 1,
                bytes.len()
            );
            reply(stream, "206 Partial Content", &headers, &bytes[start..until.max(start)])
        }
        None => {
            let headers = format!("Content-Length: {}\r\nETag: {tag}\r\n", bytes.len());
            reply(stream, "200 OK", &headers, &bytes[..until])
        }
    }
}

fn settings(cache: &TempDir) -> FetchSettings<'static> {
    FetchSettings {
        retries: 2,
        pause: Duration::from_millis(5),
        timeout: Duration::from_secs(20),
        ..FetchSettings::new(cache.path())
    }
}

fn cache() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 % 251) as u8).collect()
}

fn checked(file: &str, size: usize, of: &[u8]) -> String {
    let sum: String = Sha256::digest(of).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("checked = {{ \"{file}\" = {{ size = {size}, sha256 = \"{sum}\" }} }}")
}

fn failed(result: Result<PathBuf, Error>) -> (String, String) {
    match result {
        Err(error @ Error::Fetch { .. }) => (error.to_string(), error.hint().unwrap_or_default()),
        Err(error) => panic!("another error: {error}"),
        Ok(path) => panic!("{} was fetched", path.display()),
    }
}

fn is_absent(entry: &Entry, cache: &TempDir) -> bool {
    matches!(locate_in(entry, &[cache.path().to_path_buf()]), Err(Error::NotFound { .. }))
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[derive(Default)]
struct Heard {
    said: Mutex<Vec<String>>,
    bytes: AtomicU64,
}

impl Progress for Heard {
    fn start(&self, file: &str, size: Option<u64>, done: u64) {
        self.said.lock().unwrap().push(format!("{file} {done}/{}", size.unwrap_or(0)));
    }
    fn advance(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
    fn finish(&self) {
        self.said.lock().unwrap().push("finish".into());
    }
}

#[test]
fn a_file_is_downloaded_once() {
    let (bytes, cache, heard) = (content(200_000), cache(), Heard::default());
    let server = Server::of(&bytes);
    let entry = server.dataset("a.csv", &checked("a.csv", bytes.len(), &bytes));
    let settings = FetchSettings { progress: &heard, ..settings(&cache) };

    let path = fetch(&entry, &settings).unwrap();
    assert_eq!(path, cache.path().join("tiny/a.csv"));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(names_in(cache.path()), ["tiny"]);
    assert_eq!(*heard.said.lock().unwrap(), ["a.csv 0/200000", "finish"]);
    assert_eq!(heard.bytes.load(Ordering::Relaxed), 200_000);

    assert_eq!(fetch(&entry, &settings).unwrap(), path);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_dropped_connection_is_resumed() {
    let (bytes, cache, heard) = (content(200_000), cache(), Heard::default());
    let served = bytes.clone();
    let server = Server::new(move |request, stream| {
        let until = [50_000, 120_000, 200_000][request.number.min(2)];
        send(request, stream, &served, "\"one\"", until)
    });
    let entry = server.dataset("a.csv", "");
    let path = fetch(&entry, &FetchSettings { progress: &heard, ..settings(&cache) }).unwrap();
    assert_eq!(fs::read(path).unwrap(), bytes);
    let starts: Vec<_> = server.requests().iter().map(Request::start).collect();
    assert_eq!(starts, [None, Some(50_000), Some(120_000)]);
    assert_eq!(server.requests()[1].header("if-range"), Some("\"one\""));
    assert_eq!(heard.said.lock().unwrap()[1], "a.csv 50000/200000");
}

#[test]
fn an_interrupted_fetch_leaves_nothing_to_find_and_goes_on_later() {
    let (bytes, cache) = (content(10_000), cache());
    let served = bytes.clone();
    let server = Server::new(move |request, stream| {
        send(request, stream, &served, "\"one\"", if request.number == 0 { 4_000 } else { 10_000 })
    });
    let entry = server.dataset("a.csv", &checked("a.csv", bytes.len(), &bytes));
    let once = FetchSettings { retries: 0, ..settings(&cache) };
    let (message, hint) = failed(fetch(&entry, &once));
    assert!(message.contains("/a.csv: the connection"), "{message}");
    assert!(hint.contains("/a.csv into "), "{hint}");
    assert!(is_absent(&entry, &cache));

    let path = fetch(&entry, &once).unwrap();
    assert_eq!(fs::read(path).unwrap(), bytes);
    assert_eq!(server.requests()[1].start(), Some(4_000));
}

#[test]
fn a_server_without_ranges_starts_again() {
    let (bytes, cache) = (content(10_000), cache());
    let served = bytes.clone();
    let server = Server::new(move |request, stream| {
        let until = if request.number == 0 { 4_000 } else { 10_000 };
        reply(stream, "200 OK", "Content-Length: 10000\r\n", &served[..until])
    });
    let path = fetch(&server.dataset("a.csv", ""), &settings(&cache)).unwrap();
    assert_eq!(fs::read(path).unwrap(), bytes);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn two_versions_of_a_file_are_never_spliced() {
    let (old, new) = (content(10_000), vec![7; 10_000]);
    for obeys_if_range in [true, false] {
        let (cache, old, new, expected) = (cache(), old.clone(), new.clone(), new.clone());
        let server = Server::new(move |request, stream| match request.number {
            0 => send(request, stream, &old, "\"old\"", 4_000),
            _ if obeys_if_range => send(request, stream, &new, "\"new\"", 10_000),
            _ => {
                let careless = Request { head: request.head.replace("\"old\"", "\"new\""), ..request.clone() };
                send(&careless, stream, &new, "\"new\"", 10_000)
            }
        });
        let path = fetch(&server.dataset("a.csv", ""), &settings(&cache)).unwrap();
        assert_eq!(fs::read(path).unwrap(), expected, "obeys If-Range: {obeys_if_range}");
    }
}

#[test]
fn a_wrong_checksum_names_both_and_keeps_nothing() {
    let (bytes, cache) = (content(1_000), cache());
    let server = Server::of(&bytes);
    let entry = server.dataset("a.csv", &checked("a.csv", 1_000, b"something else"));
    let (message, _) = failed(fetch(&entry, &settings(&cache)));
    for content in [&bytes[..], b"something else"] {
        let sum: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(message.contains(&sum), "{message}");
    }
    assert_eq!(server.requests().len(), 1);
    assert!(names_in(&cache.path().join("tiny.part")).is_empty());
    assert!(is_absent(&entry, &cache));
}

#[test]
fn a_wrong_size_is_noticed_with_and_without_an_announcement() {
    for announced in [true, false] {
        for length in [900, 1_100] {
            let (bytes, cache) = (content(length), cache());
            let served = bytes.clone();
            let server = Server::new(move |_, stream| {
                let headers = if announced { format!("Content-Length: {length}\r\n") } else { String::new() };
                reply(stream, "200 OK", &headers, &served)
            });
            let (message, _) =
                failed(fetch(&server.dataset("a.csv", &checked("a.csv", 1_000, &bytes)), &settings(&cache)));
            assert!(message.contains("1000"), "{message}");
            assert!(names_in(&cache.path().join("tiny.part")).is_empty());
        }
    }
}

#[test]
fn a_missing_file_is_not_asked_for_again() {
    let cache = cache();
    let server = Server::new(|_, stream| reply(stream, "404 Not Found", "Content-Length: 0\r\n", b""));
    let (message, hint) = failed(fetch(&server.dataset("a.csv", ""), &settings(&cache)));
    assert!(message.contains("404 Not Found"), "{message}");
    let by_hand = format!("http://{}/a.csv into {}", server.address, cache.path().join("tiny").display());
    assert!(hint.contains(&by_hand), "{hint}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_busy_server_is_asked_again() {
    let (bytes, cache) = (content(1_000), cache());
    let served = bytes.clone();
    let server = Server::new(move |request, stream| match request.number {
        0 => reply(stream, "503 Service Unavailable", "Content-Length: 0\r\n", b""),
        _ => send(request, stream, &served, "\"one\"", served.len()),
    });
    assert_eq!(fs::read(fetch(&server.dataset("a.csv", ""), &settings(&cache)).unwrap()).unwrap(), bytes);
}

#[test]
fn a_stalled_server_is_given_up() {
    let cache = cache();
    let server = Server::new(|_, stream| {
        reply(stream, "200 OK", "Content-Length: 1000\r\n", b"a little")?;
        thread::sleep(Duration::from_secs(60));
        Ok(())
    });
    let begun = Instant::now();
    let impatient = FetchSettings { retries: 1, timeout: Duration::from_millis(200), ..settings(&cache) };
    let (message, _) = failed(fetch(&server.dataset("a.csv", ""), &impatient));
    assert!(message.contains("does not answer in time"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(server.requests()[1].start(), Some(8));
}

#[test]
fn redirects_are_followed_but_not_for_ever() {
    let (bytes, first, second) = (content(1_000), cache(), cache());
    let served = bytes.clone();
    let server = Server::new(move |request, stream| match request.path.as_str() {
        "/a.csv" => reply(stream, "302 Found", "Location: /elsewhere/a.csv\r\nContent-Length: 0\r\n", b""),
        "/b.csv" => reply(stream, "302 Found", "Location: /b.csv\r\nContent-Length: 0\r\n", b""),
        _ => send(request, stream, &served, "\"one\"", served.len()),
    });
    assert_eq!(fs::read(fetch(&server.dataset("a.csv", ""), &settings(&first)).unwrap()).unwrap(), bytes);
    let (message, _) = failed(fetch(&server.dataset("b.csv", ""), &settings(&second)));
    assert!(message.contains("redirect"), "{message}");
}

#[test]
fn what_was_received_outlives_a_missing_file_and_a_machine_offline() {
    let (bytes, cache) = (content(10_000), cache());
    let served = bytes.clone();
    let server = Server::new(move |request, stream| match request.number {
        0 => send(request, stream, &served, "\"one\"", 4_000),
        1 => reply(stream, "404 Not Found", "Content-Length: 0\r\n", b""),
        _ => send(request, stream, &served, "\"one\"", 10_000),
    });
    let entry = server.dataset("a.csv", "");
    failed(fetch(&entry, &settings(&cache)));
    let unknown = FetchSettings { mirror: Some("http://nowhere.invalid".into()), ..settings(&cache) };
    let (message, _) = failed(fetch(&entry, &unknown));
    assert!(message.contains("is this machine online?"), "{message}");
    assert_eq!(fs::read(fetch(&entry, &settings(&cache)).unwrap()).unwrap(), bytes);
    assert_eq!(server.requests()[2].start(), Some(4_000));
}

#[test]
fn nobody_at_the_address() {
    let cache = cache();
    let server = Server::of(b"");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = Server { address: free, requests: server.requests.clone() };
    let (message, _) = failed(fetch(&nobody.dataset("a.csv", ""), &settings(&cache)));
    assert!(message.contains("the connection failed"), "{message}");
}

#[test]
fn a_mirror_serves_in_place_of_the_publisher() {
    let cache = cache();
    let server = Server::of(b"from the mirror");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = Server { address: free, requests: server.requests.clone() };
    let mirrored = FetchSettings { mirror: Some(format!("http://{}/data/", server.address)), ..settings(&cache) };
    let path = fetch(&nobody.dataset("a.csv", ""), &mirrored).unwrap();
    assert_eq!(fs::read(path).unwrap(), b"from the mirror");
    assert_eq!(server.requests()[0].path, "/data/tiny/a.csv");
}

#[test]
fn a_zip_is_unpacked_without_its_outer_folder() {
    let cache = cache();
    let members: [(&str, &[u8]); 4] =
        [("ALL//a.txt", b"1 2"), ("ALL/raw/b.txt", b"b"), ("__MACOSX/ALL/._a.txt", b"x"), ("ALL/.DS_Store", b"x")];
    let server = Server::of(&zip(&members));
    let path = fetch(&server.zipped(""), &settings(&cache)).unwrap();
    assert_eq!(path, cache.path().join("tiny"));
    assert_eq!(names_in(&path), ["a.txt", "raw"]);
    assert_eq!(fs::read(path.join("raw/b.txt")).unwrap(), b"b");
    assert_eq!(names_in(cache.path()), ["tiny"]);
}

#[test]
fn only_the_wanted_folder_of_a_zip_is_unpacked() {
    let cache = cache();
    let server = Server::of(&zip(&[("dataset/big/c.bin", b"c"), ("dataset/wanted/a.txt", b"1 2")]));
    let path = fetch(&server.zipped("within = \"dataset/wanted\""), &settings(&cache)).unwrap();
    assert_eq!(names_in(&path), ["a.txt"]);
}

#[test]
fn dangerous_and_damaged_zips_leave_nothing() {
    let good = zip(&[("a.txt", &content(5_000)), ("b.txt", b"b")]);
    let mut link = ZipWriter::new(Cursor::new(Vec::new()));
    link.start_file("a.txt", SimpleFileOptions::default()).unwrap();
    link.add_symlink("b.txt", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let mut flipped = good.clone();
    flipped[60] ^= 0xff;
    let cases = [
        ("climbs", zip(&[("a.txt", b"1 2"), ("../evil", b"evil")]), "leads out"),
        ("is absolute", zip(&[("a.txt", b"1 2"), ("/evil", b"evil")]), "leads out"),
        ("climbs on Windows", zip(&[("a.txt", b"1 2"), ("..\\evil", b"evil")]), "leads out"),
        ("links", link.finish().unwrap().into_inner(), "leads out"),
        ("bomb", zip(&[("a.txt", &vec![0; 40 << 20])]), "too many for its size"),
        ("truncated", good[..good.len() / 2].to_vec(), "damaged"),
        ("flipped", flipped, "damaged"),
        ("no zip", b"<html>Sign in to continue</html>".to_vec(), "damaged"),
        ("empty", zip(&[]), "no files"),
        ("another", zip(&[("c.txt", b"c")]), "lacks files"),
    ];
    for (case, bytes, expected) in cases {
        let cache = cache();
        let server = Server::of(&bytes);
        let entry = server.zipped("");
        let (message, _) = failed(fetch(&entry, &settings(&cache)));
        assert!(message.contains(expected) && message.contains("/all.zip"), "{case}: {message}");
        assert!(is_absent(&entry, &cache), "{case}");
        assert!(!cache.path().join("evil").exists() && !cache.path().join("tiny.part/evil").exists(), "{case}");
        // The bad zip is not taken for a finished download.
        failed(fetch(&entry, &settings(&cache)));
        assert_eq!(server.requests().len(), 2, "{case}");
    }
}

#[test]
fn many_at_once_download_once() {
    let (bytes, cache) = (content(300_000), cache());
    let served = bytes.clone();
    let server = Server::new(move |request, stream| {
        thread::sleep(Duration::from_millis(100));
        send(request, stream, &served, "\"one\"", served.len())
    });
    let entry = server.dataset("a.csv", "");
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(fs::read(fetch(&entry, &settings(&cache)).unwrap()).unwrap(), bytes));
        }
    });
    assert_eq!(server.requests().len(), 1);
    assert!(!cache.path().join("tiny.part").exists());
}

#[test]
fn a_folder_of_the_users_is_not_touched() {
    let cache = cache();
    let server = Server::of(b"1 2");
    fs::create_dir(cache.path().join("tiny")).unwrap();
    fs::write(cache.path().join("tiny/mine.txt"), b"mine").unwrap();
    let (message, hint) = failed(fetch(&server.dataset("a.csv", ""), &settings(&cache)));
    assert!(message.contains("lacks files") && hint.contains("move"), "{message}; {hint}");
    assert!(server.requests().is_empty());
    assert_eq!(names_in(&cache.path().join("tiny")), ["mine.txt"]);
}

#[test]
fn what_cannot_be_downloaded_says_how_to_get_it() {
    let cache = cache();
    let yelp = fiedler_io::catalogue::find("yelp").unwrap();
    let (_, hint) = failed(fetch(yelp, &settings(&cache)));
    for part in ["adj_full.npz", "drive.google.com", &cache.path().join("yelp").display().to_string()] {
        assert!(hint.contains(part), "{hint}");
    }
    let ppi = fiedler_io::catalogue::find("ppi-306k").unwrap();
    assert!(matches!(fetch(ppi, &settings(&cache)), Err(Error::Unreadable { .. })));
}
