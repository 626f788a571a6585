//! A headless Chromium, driven over WebDriver: what a person would see and do.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests fail like tests, and say what they skip"
)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::{Client, Method};
use serde_json::{Value, json};

/// How long a page may take to show what is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// WebDriver's name for the member that holds an element's id.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser of our own with one tab; ended when dropped.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    port: u16,
    /// `http://127.0.0.1:PORT/session/ID`.
    session: String,
    client: Client,
    pictures: PathBuf,
}

impl Browser {
    /// Starts one that keeps its pictures in this directory; says so where the machine has none.
    pub async fn start(client: Client, pictures: PathBuf) -> Option<Self> {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut driver) = command.spawn() else {
            eprintln!(
                "skipped: chromedriver is not installed: `cargo xtask playground` does that on Debian"
            );
            return None;
        };
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        let port = port.unwrap();
        let mut browser = Self {
            driver,
            port,
            session: format!("http://127.0.0.1:{port}/session"),
            client,
            pictures,
        };
        // The machine's own sandbox is not there for root, nor in containers.
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-proxy-server",
            "--window-size=1360,900",
        ];
        let wanted = json!({
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let made = browser
            .send(Method::POST, "", json!({ "capabilities": { "alwaysMatch": wanted } }))
            .await;
        let id = made["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {made}"));
        browser.session = format!("{}/{id}", browser.session);
        Some(browser)
    }

    async fn send(&self, method: Method, path: &str, body: Value) -> Value {
        let request = self.client.request(method.clone(), format!("{}{path}", self.session));
        let request = if method == Method::GET { request } else { request.body(body.to_string()) };
        let request = request.header("content-type", "application/json").timeout(PATIENCE * 2);
        let answer = request.send().await.unwrap();
        let mut answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        answer["value"].take()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let value = self.send(Method::POST, path, body).await;
        assert!(value["error"].is_null(), "{path}: {value}");
        value
    }

    /// Goes to an address.
    pub async fn open(&self, url: &str) {
        self.post("/url", json!({ "url": url })).await;
    }

    /// Runs the body of a function in the page.
    pub async fn script(&self, code: &str) -> Value {
        self.post("/execute/sync", json!({ "script": code, "args": [] })).await
    }

    /// Waits until a script answers something true, and returns it.
    pub async fn until(&self, code: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let value = self.script(code).await;
            if !matches!(value, Value::Null | Value::Bool(false)) && value != json!("") {
                return value;
            }
            if Instant::now() > deadline {
                self.picture("gave-up").await;
                let page = self.script("return document.body.innerText").await;
                panic!("never true: {code}\n{}", page.as_str().unwrap_or_default());
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    }

    /// Waits until an element shows these words.
    pub async fn shows(&self, selector: &str, words: &str) {
        let (selector, words) = (json!(selector), json!(words));
        let code = format!(
            "return [...document.querySelectorAll({selector})].some(it => it.innerText.includes({words}))"
        );
        self.until(&code).await;
    }

    /// The text of the first element of a kind, as it is shown.
    pub async fn text(&self, selector: &str) -> String {
        let code = format!("return document.querySelector({})?.innerText ?? ''", json!(selector));
        self.script(&code).await.as_str().unwrap_or_default().to_owned()
    }

    async fn element(&self, selector: &str) -> String {
        let wanted = json!({ "using": "css selector", "value": selector });
        let found = self.post("/element", wanted).await;
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// Clicks as a person does.
    pub async fn click(&self, selector: &str) {
        let usable = format!(
            "const it = document.querySelector({}); return it && !it.disabled && it.offsetParent !== null",
            json!(selector)
        );
        self.until(&usable).await;
        let id = self.element(selector).await;
        self.post(&format!("/element/{id}/click"), json!({})).await;
    }

    /// Types as a person does, into what has the focus.
    pub async fn press(&self, keys: &str) {
        let mut actions = Vec::new();
        for key in keys.chars() {
            actions.push(json!({ "type": "keyDown", "value": key.to_string() }));
            actions.push(json!({ "type": "keyUp", "value": key.to_string() }));
        }
        self.keys(actions).await;
    }

    /// Presses one key while others are held.
    pub async fn chord(&self, held: &[char], key: char) {
        let act = |kind: &str, key: char| json!({ "type": kind, "value": key.to_string() });
        let mut actions: Vec<_> = held.iter().map(|it| act("keyDown", *it)).collect();
        actions.extend([act("keyDown", key), act("keyUp", key)]);
        actions.extend(held.iter().rev().map(|it| act("keyUp", *it)));
        self.keys(actions).await;
    }

    async fn keys(&self, actions: Vec<Value>) {
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.post("/actions", json!({ "actions": [keyboard] })).await;
    }

    /// Puts text in the place of what a field holds.
    pub async fn write(&self, selector: &str, text: &str) {
        self.until(&format!("return document.querySelector({}) !== null", json!(selector))).await;
        let id = self.element(selector).await;
        self.post(&format!("/element/{id}/clear"), json!({})).await;
        self.post(&format!("/element/{id}/value"), json!({ "text": text })).await;
    }

    /// What assistive technology calls an element.
    pub async fn label(&self, selector: &str) -> String {
        let id = self.element(selector).await;
        let label =
            self.send(Method::GET, &format!("/element/{id}/computedlabel"), json!({})).await;
        label.as_str().unwrap_or_default().to_owned()
    }

    /// Makes the machine's own theme light or dark.
    pub async fn prefers(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        let body =
            json!({ "cmd": "Emulation.setEmulatedMedia", "params": { "features": features } });
        self.post("/goog/cdp/execute", body).await;
    }

    /// Keeps a picture of the page among the test's artifacts.
    pub async fn picture(&self, name: &str) {
        let picture = self.send(Method::GET, "/screenshot", json!({})).await;
        let bytes = STANDARD.decode(picture.as_str().unwrap()).unwrap();
        std::fs::create_dir_all(&self.pictures).unwrap();
        std::fs::write(self.pictures.join(format!("{name}.png")), bytes).unwrap();
    }

    /// What the console holds: errors, and breaches of the content security policy.
    pub async fn complaints(&self) -> Vec<String> {
        let log = self.post("/se/log", json!({ "type": "browser" })).await;
        let severe = log.as_array().unwrap().iter().filter(|it| it["level"] == "SEVERE");
        severe.map(|it| it["message"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver takes its browsers with it when it is asked to go, and not when it is killed.
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            stream.set_read_timeout(Some(PATIENCE)).ok();
            let asked = stream.write_all(b"GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
            drop(asked.and_then(|()| stream.read(&mut [0; 64])));
        }
        self.driver.kill().ok();
        self.driver.wait().ok();
    }
}
