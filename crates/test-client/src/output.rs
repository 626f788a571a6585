//! What a child process writes to stderr, kept for whoever wants to read it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;

/// Of a longer output the end is kept.
const KEPT_BYTES: usize = 1 << 20;

#[derive(Debug, Default)]
pub(crate) struct Captured {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Captured {
    pub(crate) fn read(mut stderr: ChildStderr) -> Self {
        let bytes = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&bytes);
        let reader = tokio::spawn(async move {
            let mut chunk = [0; 8 * 1024];
            while let Ok(length @ 1..) = stderr.read(&mut chunk).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(chunk.get(..length).unwrap_or_default());
                let surplus = kept.len().saturating_sub(KEPT_BYTES);
                kept.drain(..surplus);
            }
        });
        Self { bytes, reader: Some(reader) }
    }

    pub(crate) fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits a little for the end of the output; a grandchild may hold the pipe open for longer.
    pub(crate) async fn finish(&mut self) {
        if let Some(reader) = self.reader.take() {
            tokio::time::timeout(Duration::from_millis(300), reader).await.ok();
        }
    }
}
