// The protocol: Streamable HTTP without a session, in the revision that needs no handshake.

const REVISION = "2026-07-28";
const setup = JSON.parse(document.documentElement.dataset.setup);

/** What the person gave to be let in, by header; in memory alone. */
const credentials = new Map();
let requests = 0;

/** A request that was refused or failed as a whole. */
class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Sends a request and returns its result. */
async function request(method, params, { signal, progress } = {}) {
  requests += 1;
  const id = requests;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "playground", version: setup.version },
    ...(progress ? { progressToken: id } : {}),
  };
  const headers = {
    Accept: "application/json, text/event-stream",
    "Mcp-Protocol-Version": REVISION,
    "Mcp-Method": method,
    ...(params.name ? { "Mcp-Name": params.name } : {}),
  };
  const response = await post("/mcp", headers, { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } }, signal);
  for await (const message of messages(response)) {
    if (message.method === "notifications/progress") progress?.(message.params?.message ?? "");
    if (message.id !== id) continue;
    if (message.error) throw new Refused(message.error.message, response.status);
    return message.result;
  }
  throw new Refused("the server ended its answer too early", response.status);
}

/** Posts JSON with the person's credential; a refusal is thrown in the server's words. */
async function post(path, headers, body, signal) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers, ...Object.fromEntries(credentials) },
    body: JSON.stringify(body),
    cache: "no-store",
    redirect: "error",
    signal,
  });
  if (response.ok) return response;
  const said = await response.json().catch(() => null);
  if (response.status === 401) askForCredentials();
  throw new Refused(said?.error?.message ?? `the server answered ${response.status}`, response.status);
}

/** The messages of an answer, whether it came alone or as a stream. */
async function* messages(response) {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    yield await response.json();
    return;
  }
  for await (const { data } of events(response)) yield JSON.parse(data);
}

/** The events of a stream. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop();
      for (const block of blocks) {
        const lines = block.split(/\r?\n/).map((line) => /^([^:]*): ?(.*)$/s.exec(line));
        const of = (name) => lines.filter((it) => it?.[1] === name).map((it) => it[2]);
        const data = of("data").join("\n");
        if (data) yield { event: of("event")[0] ?? "message", data };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Calls a tool: `{ text, value, parts, failed }`, the value where the text is JSON. */
async function call(name, values, options) {
  const result = await request("tools/call", { name, arguments: values }, options);
  const [first, ...parts] = result.content ?? [];
  const text = first?.text ?? "";
  return { text, value: parsed(text), parts, failed: result.isError === true };
}
