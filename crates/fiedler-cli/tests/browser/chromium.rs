//! A browser without a window, spoken to by its DevTools protocol.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

const PATIENCE: Duration = Duration::from_secs(60);
const FLAGS: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
    "--window-size=1200,900",
];

/// A running browser with one page open.
pub struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    last: u64,
    /// Everything the page reported so far.
    pub events: Vec<Value>,
    _profile: TempDir,
}

/// The browser of this machine, if there is one.
pub fn installed() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("FIEDLER_BROWSER") {
        return Some(named.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

impl Browser {
    pub fn start(program: &Path) -> Browser {
        let profile = TempDir::new().unwrap();
        let process = Command::new(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let port = wait_for(|| {
            let text = fs::read_to_string(profile.path().join("DevToolsActivePort")).ok()?;
            text.lines().next()?.parse::<u16>().ok()
        });
        let target = wait_for(|| page_target(port));
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let large = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, _) = tungstenite::client::client_with_config(target, stream, Some(large)).unwrap();
        let mut browser = Browser { process, socket, last: 0, events: Vec::new(), _profile: profile };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method of the protocol and waits for its answer; what else arrives is kept.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let call = json!({ "id": self.last, "method": method, "params": parameters });
        self.socket.send(Message::text(call.to_string())).unwrap();
        loop {
            let message = self.next();
            if message["id"] == self.last {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn next(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// Opens a file and waits until it is whole.
    pub fn open(&mut self, page: &Path) {
        self.events.clear();
        self.call("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        let since = Instant::now();
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            assert!(since.elapsed() < PATIENCE, "the page does not load");
            let event = self.next();
            self.events.push(event);
        }
    }

    /// The value of an expression on the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let answer = self
            .call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }));
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Moves the pointer.
    pub fn point_at(&mut self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": key }));
        }
    }

    /// Errors on the console, uncaught exceptions, and refused resources.
    pub fn complaints(&self) -> Vec<String> {
        let is_complaint = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] == "error",
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            _ => false,
        };
        self.events.iter().filter(is_complaint).map(Value::to_string).collect()
    }

    /// Addresses that were asked for beside the page itself.
    pub fn requests(&self, page: &Path) -> Vec<String> {
        let own = format!("file://{}", page.display());
        let of = |event: &Value| Some(event["params"]["request"]["url"].as_str()?.to_owned());
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(of).filter(|address| *address != own).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The address of the page's socket, as the browser's own list has it.
fn page_target(port: u16) -> Option<String> {
    use std::io::{Read, Write};
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(stream, "GET /json/list HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = Vec::new();
    // The browser may keep the connection open: what has come until then is enough.
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    let list: Value = serde_json::from_str(&text[text.find('[')?..=text.rfind(']')?]).ok()?;
    let page = list.as_array()?.iter().find(|target| target["type"] == "page")?;
    Some(page["webSocketDebuggerUrl"].as_str()?.to_owned())
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "the browser does not start");
        sleep(Duration::from_millis(50));
    }
}
