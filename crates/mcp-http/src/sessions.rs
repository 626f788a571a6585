//! Sessions of clients of the older revisions: each belongs to the caller that began it, and for
//! everybody else there is no such session.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError as Error},
    },
};

/// Every session of this instance.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    local: LocalSessionManager,
    owners: Mutex<HashMap<SessionId, String>>,
}

/// The sessions as one caller sees them.
#[derive(Debug)]
pub(crate) struct SessionsOf {
    all: Arc<Sessions>,
    /// Who the caller is, and what it may do: a session goes on as it began.
    owner: String,
}

impl Sessions {
    /// The sessions of one owner.
    pub(crate) fn of(self: &Arc<Self>, owner: String) -> SessionsOf {
        SessionsOf { all: Arc::clone(self), owner }
    }

    pub(crate) fn count(&self) -> usize {
        self.owners().len()
    }

    fn owners(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, String>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionsOf {
    /// Whether the caller has this session.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.all.owners().get(id).is_some_and(|owner| *owner == self.owner)
    }

    fn check(&self, id: &SessionId) -> Result<(), Error> {
        if self.has(id) { Ok(()) } else { Err(Error::SessionNotFound(Arc::clone(id))) }
    }
}

impl SessionManager for SessionsOf {
    type Error = Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        let (id, transport) = self.all.local.create_session().await?;
        self.all.owners().insert(Arc::clone(&id), self.owner.clone());
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        self.check(id)?;
        self.all.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Error> {
        Ok(self.has(id) && self.all.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        // Ended by the client, it is closed once more when its task is over.
        if !self.has(id) {
            return Ok(());
        }
        self.all.owners().remove(id);
        self.all.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        self.check(id)?;
        self.all.local.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Error> {
        self.check(id)?;
        self.all.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        self.check(id)?;
        self.all.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        self.check(id)?;
        self.all.local.resume(id, last_event_id).await
    }

    async fn restore_session(
        &self,
        _id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Error> {
        Ok(RestoreOutcome::NotSupported)
    }
}
