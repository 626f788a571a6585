//! Models of every form, spoken to over real sockets.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod agents;
mod failures;
mod turns;

use mocks::ModelServer;
use model_client::{Model, Protocol, Provider, Settings};

const PROTOCOLS: [Protocol; 3] = [Protocol::Responses, Protocol::Chat, Protocol::Messages];

fn settings(server: &ModelServer, protocol: Protocol) -> Settings {
    let (provider, base) = match protocol {
        Protocol::Responses | Protocol::Chat => (Provider::OpenAi, "/v1"),
        Protocol::Messages => (Provider::Anthropic, ""),
    };
    let settings = Settings::new(provider).key("KEY", "sk-test-0123456789").unwrap();
    let mut settings = settings.base_url(&format!("{}{base}", server.base_url)).unwrap();
    settings.protocol = protocol;
    settings
}

fn model(server: &ModelServer, protocol: Protocol) -> Model {
    Model::new(settings(server, protocol)).unwrap()
}
