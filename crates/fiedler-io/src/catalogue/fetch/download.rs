//! One file over HTTP: resumed after a failure, never spliced from two versions, checked at the end.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ureq::http::{HeaderMap, Response, StatusCode, header};
use ureq::{Agent, Body};

use super::super::entry::Published;
use super::{Failure, FetchSettings, local};

/// The most that is taken from a server that does not say how much it sends.
const MAX_UNANNOUNCED: u64 = 16 << 30;
const CHUNK: usize = 64 << 10;

/// The client for all files of one fetch. Proxies come from the environment.
pub(super) fn agent(settings: &FetchSettings<'_>) -> Agent {
    let patience = Some(settings.timeout);
    Agent::config_builder()
        .timeout_resolve(patience)
        .timeout_connect(patience)
        .timeout_recv_response(patience)
        .timeout_per_read(patience)
        .timeout_per_write(patience)
        .http_status_as_error(false)
        .user_agent(concat!("fiedler/", env!("CARGO_PKG_VERSION")))
        // Sizes, ranges and checksums are those of the file itself.
        .accept_encoding("identity")
        .build()
        .new_agent()
}

/// Downloads a file into a folder, unless an earlier call did; returns its path.
pub(super) fn download(
    agent: &Agent,
    file: &Published,
    url: &str,
    folder: &Path,
    settings: &FetchSettings<'_>,
) -> Result<PathBuf, Failure> {
    let done = folder.join(&file.file);
    if done.is_file() {
        return Ok(done);
    }
    let download = Download {
        agent,
        file,
        url,
        settings,
        part: folder.join(format!("{}.part", file.file)),
        version: folder.join(format!("{}.version", file.file)),
    };
    download.try_repeatedly().and_then(|()| download.check()).map_err(|failure| match failure {
        Failure::Passing(problem) => Failure::Passing(format!("{url}: {problem}")),
        Failure::Lasting(problem) => Failure::Lasting(format!("{url}: {problem}")),
        Failure::Wrong(problem) => {
            download.discard();
            Failure::Wrong(format!("{url}: {problem}"))
        }
        Failure::Local(error) => Failure::Local(error),
    })?;
    fs::rename(&download.part, &done).map_err(local("create", &done))?;
    let _ = fs::remove_file(&download.version);
    Ok(done)
}

struct Download<'a> {
    agent: &'a Agent,
    file: &'a Published,
    url: &'a str,
    settings: &'a FetchSettings<'a>,
    /// The bytes so far.
    part: PathBuf,
    /// Which version of the file they are of.
    version: PathBuf,
}

/// What tells one version of a file on a server from another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Version {
    url: String,
    /// A strong entity tag, or else the date of the last change.
    validator: Option<String>,
    size: Option<u64>,
}

impl Version {
    fn of(url: &str, headers: &HeaderMap, size: Option<u64>) -> Version {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        // A weak tag does not promise the same bytes.
        let tag = text(header::ETAG).filter(|tag| !tag.starts_with("W/"));
        Version { url: url.into(), validator: tag.or(text(header::LAST_MODIFIED)).map(Into::into), size }
    }

    /// Whether two versions may be one and the same; what a server does not say cannot contradict.
    fn agrees_with(&self, other: &Version) -> bool {
        fn agree<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        self.url == other.url && agree(&self.validator, &other.validator) && agree(&self.size, &other.size)
    }
}

impl Download<'_> {
    fn try_repeatedly(&self) -> Result<(), Failure> {
        let mut pause = self.settings.pause;
        for _ in 0..self.settings.retries {
            match self.attempt() {
                Err(Failure::Passing(_)) => thread::sleep(pause),
                settled => return settled,
            }
            pause = pause.saturating_mul(2);
        }
        self.attempt()
    }

    /// One request, going on from the bytes that are here.
    fn attempt(&self) -> Result<(), Failure> {
        let (here, earlier) = self.resumable();
        if here > 0 && earlier.size == Some(here) {
            return Ok(());
        }
        let mut request = self.agent.get(self.url);
        if here > 0 {
            request = request.header(header::RANGE, format!("bytes={here}-"));
            if let Some(validator) = &earlier.validator {
                request = request.header(header::IF_RANGE, validator.as_str());
            }
        }
        let response = request.call().map_err(failure)?;
        match response.status() {
            StatusCode::OK => {
                let size = response.body().content_length();
                self.receive(response, 0, size)
            }
            StatusCode::PARTIAL_CONTENT if here > 0 => {
                let range = ContentRange::of(response.headers());
                let fits = range.as_ref().is_some_and(|range| {
                    range.start == here && Version::of(self.url, response.headers(), range.size).agrees_with(&earlier)
                });
                if !fits {
                    self.discard();
                    return Err(Failure::Passing("the file changed on the server meanwhile".into()));
                }
                self.receive(response, here, range.and_then(|range| range.size).or(earlier.size))
            }
            StatusCode::RANGE_NOT_SATISFIABLE if here > 0 => {
                self.discard();
                Err(Failure::Passing("the file became shorter on the server meanwhile".into()))
            }
            status => {
                let problem = format!("the server answered {status}");
                let busy = matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
                Err(if busy || status.is_server_error() {
                    Failure::Passing(problem)
                } else {
                    Failure::Lasting(problem)
                })
            }
        }
    }

    /// How many bytes are here and can be continued, and of which version.
    fn resumable(&self) -> (u64, Version) {
        let here = fs::metadata(&self.part).map_or(0, |metadata| metadata.len());
        let version = fs::read(&self.version).ok().and_then(|bytes| serde_json::from_slice::<Version>(&bytes).ok());
        match version {
            Some(version) if version.url == self.url && version.size.is_none_or(|size| here <= size) => {
                // With nothing to recognize the version by, two of them could be spliced.
                let recognizable = version.validator.is_some() || version.size.is_some();
                (if recognizable { here } else { 0 }, version)
            }
            _ => (0, Version::default()),
        }
    }

    /// Writes a response's bytes behind those that are here.
    fn receive(&self, response: Response<Body>, here: u64, size: Option<u64>) -> Result<(), Failure> {
        if let (Some(size), Some(expected)) = (size, self.file.size)
            && size != expected
        {
            return Err(Failure::Wrong(format!("the file has {size} bytes; expected {expected}")));
        }
        let mut part = File::options();
        let part = if here > 0 { part.append(true) } else { part.create(true).write(true).truncate(true) };
        let mut part = part.open(&self.part).map_err(local("create", &self.part))?;
        if here == 0 {
            let version = serde_json::to_vec(&Version::of(self.url, response.headers(), size)).unwrap_or_default();
            fs::write(&self.version, version).map_err(local("write", &self.version))?;
        }

        let progress = self.settings.progress;
        progress.start(&self.file.file, size.or(self.file.size), here);
        let limit = size.or(self.file.size).unwrap_or(MAX_UNANNOUNCED);
        let mut total = here;
        let mut body = response.into_body().into_reader();
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = match body.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(failure(error.into())),
            };
            total += count as u64;
            if total > limit {
                return Err(Failure::Wrong(format!("the server sends more than {limit} bytes")));
            }
            part.write_all(&chunk[..count]).map_err(local("write", &self.part))?;
            progress.advance(count as u64);
        }
        if let Some(size) = size
            && total < size
        {
            return Err(Failure::Passing(format!("the connection closed after {total} of {size} bytes")));
        }
        part.sync_all().map_err(local("write", &self.part))?;
        progress.finish();
        Ok(())
    }

    /// Compares size and checksum with the published ones, where these are known.
    fn check(&self) -> Result<(), Failure> {
        let read = |error| local("read", &self.part)(error);
        let size = fs::metadata(&self.part).map_err(read)?.len();
        if let Some(expected) = self.file.size
            && size != expected
        {
            return Err(Failure::Wrong(format!("the file has {size} bytes; expected {expected}")));
        }
        if let Some(expected) = &self.file.sha256 {
            let found = sha256(&self.part).map_err(read)?;
            if found != *expected {
                return Err(Failure::Wrong(format!("the file has SHA-256 {found}; expected {expected}")));
            }
        }
        Ok(())
    }

    fn discard(&self) {
        let _ = fs::remove_file(&self.part);
        let _ = fs::remove_file(&self.version);
    }
}

/// The part of a file that a server sends: `bytes 100-199/200`.
struct ContentRange {
    start: u64,
    size: Option<u64>,
}

impl ContentRange {
    fn of(headers: &HeaderMap) -> Option<ContentRange> {
        let value = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
        let (range, size) = value.strip_prefix("bytes ")?.split_once('/')?;
        let (start, _) = range.split_once('-')?;
        Some(ContentRange { start: start.parse().ok()?, size: size.parse().ok() })
    }
}

/// Sorts what can go wrong on the way into what may pass and what will not.
fn failure(error: ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::Passing("the server does not answer in time".into()),
        ureq::Error::HostNotFound => unknown_host(),
        ureq::Error::Io(error) if is_unknown_host(&error) => unknown_host(),
        ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) => {
            Failure::Passing(format!("the connection failed ({error})"))
        }
        error => Failure::Lasting(error.to_string()),
    }
}

fn unknown_host() -> Failure {
    Failure::Lasting("the server's name is not known; is this machine online?".into())
}

/// The standard library has no kind for this error: known are its text on Unix and its number on Windows.
fn is_unknown_host(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(11001) || error.to_string().contains("failed to lookup address")
}

fn sha256(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            count => hash.update(&chunk[..count]),
        }
    }
}
