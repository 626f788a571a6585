// What a run brought: result or error first, then calls, logs and warnings.

/** Shows the answer of a tool, whatever tool it was. */
function answerView({ text, value, parts, failed }) {
  const pictures = list(parts).map(partView);
  if (!(value instanceof Map)) {
    const body = typeof value === "string" ? el("pre", { tabIndex: 0 }, text) : jsonView(value);
    return el("div", {}, failed ? notice("The call failed.", "bad") : null, el("div", { class: "card" }, body, pictures));
  }
  if (!value.has("result") && !value.has("error") && !value.has("calls")) {
    return el("div", {}, failed ? notice(field(value, "message") ?? "The call failed.", "bad") : null, el("div", { class: "card" }, jsonView(value)));
  }
  return el("div", {}, value.has("untrusted") ? notice(`Contains ${value.get("untrusted")}.`) : null, runView(value), pictures);
}

function runView(value) {
  const error = value.get("error");
  return el(
    "div",
    { class: "card" },
    error === undefined ? null : errorView(error),
    value.has("incomplete") ? part("Incomplete", el("p", { class: "notice bad" }, value.get("incomplete"))) : null,
    value.has("result") ? part(["Result", gist(value)], jsonView(value.get("result"))) : null,
    value.has("cut") ? part("Cut", el("p", { class: "notice" }, value.get("cut"))) : null,
    callsView(list(value.get("calls"))),
    list(value.get("logs")).length ? part("Logs", el("pre", { tabIndex: 0 }, value.get("logs").map(logLine).join("\n"))) : null,
    list(value.get("warnings")).length ? part("Warnings", items(value.get("warnings"))) : null,
  );
}

/** What comes below, for those who need not look. */
function gist(value) {
  const made = list(value.get("calls")).length;
  const lines = list(value.get("logs")).length;
  const words = [count(made, "call"), lines ? count(lines, "log line") : null].filter(Boolean);
  return el("span", { class: "note" }, words.join(", "));
}

function logLine(line) {
  return typeof line === "string" ? line : compact(line);
}

function items(lines) {
  return el("ul", { class: "plain" }, lines.map((line) => el("li", {}, typeof line === "string" ? line : compact(line))));
}

function errorView(error) {
  if (typeof error === "string") return part("Error", el("p", { class: "notice bad" }, error));
  const rest = new Map(error);
  const [name, message, line, column] = ["name", "message", "line", "column"].map((it) => {
    const found = rest.get(it);
    rest.delete(it);
    return found;
  });
  rest.delete("stack");
  const place = line ? ` (line ${line}${column ? `, column ${column}` : ""})` : "";
  const text = `${name ?? "Error"}: ${message ?? compact(error)}${place}`;
  return part("Error", el("p", { class: "notice bad", role: "alert" }, text), rest.size ? jsonView(rest) : null);
}

/** Requests with what became of each. */
function callsView(calls, title = "Calls") {
  if (!calls.length) return null;
  const rows = calls.map((it) => {
    if (!(it instanceof Map) || !it.has("method")) return el("tr", {}, el("td", { colspan: 4, class: "note" }, compact(it)));
    const status = it.get("status");
    const outcome = it.get("outcome") ?? "sent";
    const kind = /refused|unknown|not/.test(outcome) || status >= 400 ? "bad" : outcome === "applied" ? "good" : "";
    const more = [it.get("stale") ? "stale: it cannot know of the writes before it" : "", it.get("check") ?? ""].filter(Boolean).join("; ");
    return el(
      "tr",
      {},
      el("td", {}, method(it.get("method"))),
      el("td", { class: "mono" }, it.has("api") ? `${it.get("api")}: ` : "", it.get("path")),
      el("td", { class: kind }, outcome, status === undefined ? "" : ` ${status}`, more ? el("div", { class: "note" }, more) : null),
      el("td", { class: "number note" }, it.has("ms") ? `${it.get("ms")} ms` : ""),
    );
  });
  const heads = ["Method", "Path", "Outcome", "Time"].map((it) => el("th", { scope: "col" }, it));
  return part(title, el("div", { class: "scroll" }, el("table", { class: "calls" }, el("thead", { class: "unseen" }, el("tr", {}, heads)), el("tbody", {}, rows))));
}

/** Pictures of kinds that hold no script; everything else by name. */
function partView(it) {
  if (it.type === "image" && /^image\/(png|jpeg|gif|webp)$/.test(it.mimeType)) {
    return el("img", { src: `data:${it.mimeType};base64,${it.data}`, alt: "A picture the tool answered with" });
  }
  return el("pre", { tabIndex: 0 }, it.text ?? it.resource?.uri ?? it.type);
}
