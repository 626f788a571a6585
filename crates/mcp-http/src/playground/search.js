// Operations as you type: the list follows the words, the arrow keys move in it, Enter opens.

const PAUSE = 140;
const LINE = /^(.*?) (GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|QUERY) (\/\S*)( \(deprecated\))?(?: — (.*))?$/s;

let searching = null;
let timer = 0;
let hits = [];
let chosen = -1;
let opened = null;

function searchSoon() {
  clearTimeout(timer);
  timer = setTimeout(search, PAUSE);
}

async function search() {
  searching?.abort();
  searching = new AbortController();
  const { signal } = searching;
  const query = $("query").value.trim();
  try {
    const answer = await call("search", { query, detail: "brief", limit: 50 }, { signal });
    if (signal.aborted) return;
    show(answer, query);
  } catch (error) {
    if (signal.aborted) return;
    hits = [];
    fill($("hits"));
    fill($("matched"), error.message);
  }
}

/** One answer a binding: with several APIs each has its own. */
function answers(value) {
  if (setup.apis.length < 2 || !(value instanceof Map)) return [[null, value]];
  return [...value];
}

function show(answer, query) {
  hits = [];
  chosen = -1;
  $("query").removeAttribute("aria-activedescendant");
  const all = answers(answer.value);
  const overviews = all.filter(([, it]) => !query && field(it, "tags") instanceof Map);
  $("overview").hidden = overviews.length === 0;
  $("hits").hidden = overviews.length > 0;
  if (overviews.length) {
    fill($("overview"), overviews.map(([, it]) => overview(it)));
    const total = overviews.reduce((sum, [, it]) => sum + Number(field(it, "operations") ?? 0), 0);
    fill($("matched"), count(total, "operation"));
    return;
  }
  let matched = 0;
  for (const [api, it] of all) {
    const exact = field(it, "exact");
    if (exact) {
      matched += 1;
      hits.push({ api, query, whole: exact, ...parts(exact.split("\n").find((line) => line.trim()) ?? query) });
    }
    matched += Number(field(it, "matched") ?? 0);
    for (const line of list(field(it, "more"))) hits.push({ api, ...parts(line) });
  }
  fill($("hits"), hits.map(option));
  const nearest = all.flatMap(([, it]) => list(field(it, "nearest")));
  fill($("matched"), matched ? `${hits.length} of ${matched} shown` : answer.failed ? field(answer.value, "error") ?? answer.text : `Nothing found${nearest.length ? `; near: ${nearest.slice(0, 6).join(", ")}` : ""}`);
}

/** The parts of a line; one that has other parts is shown as it is. */
function parts(line) {
  const found = LINE.exec(line);
  if (!found) return { line };
  const [, id, verb, path, deprecated, summary] = found;
  return { line, id, verb, path, summary: (deprecated ? "Deprecated. " : "") + (summary ?? "") };
}

function option(hit, index) {
  return el(
    "div",
    { class: "hit", role: "option", id: `hit-${index}`, "aria-selected": "false", onclick: () => choose(index, true) },
    hit.verb ? method(hit.verb) : el("span"),
    el("span", { class: "path" }, hit.path ? breakable(hit.path) : hit.line),
    hit.path ? el("span", { class: "summary", title: hit.id }, hit.summary || hit.id) : null,
  );
}

/** A path that breaks before its slashes. */
function breakable(path) {
  return path.split(/(?=\/)/).flatMap((it) => [document.createElement("wbr"), it]);
}

function overview(it) {
  const tags = [...(field(it, "tags") ?? [])].map(([tag, number]) =>
    el("li", {}, el("button", { type: "button", onclick: () => ask(tag) }, tag, " ", el("span", { class: "count" }, number))),
  );
  return el("div", {}, el("p", { class: "note tags" }, field(it, "document") ?? ""), el("ul", { class: "tags", "aria-label": "Tags" }, tags));
}

function ask(words) {
  $("query").value = words;
  $("query").focus();
  search();
}

function choose(index, open) {
  if (!hits.length) return;
  chosen = (index + hits.length) % hits.length;
  document.querySelectorAll(".hit").forEach((it, at) => it.setAttribute("aria-selected", String(at === chosen)));
  const option = $(`hit-${chosen}`);
  option.scrollIntoView({ block: "nearest" });
  $("query").setAttribute("aria-activedescendant", option.id);
  if (open) describe(hits[chosen]);
}

/** Shows the whole signature of a hit. */
async function describe(hit) {
  opened = hit;
  $("operation").hidden = false;
  fill($("operation-heading"), hit.id ?? "Signature");
  fill($("signature"), hit.whole ?? "…");
  $("insert").disabled = !hit.id;
  if (hit.whole) return;
  const values = { query: hit.verb ? `${hit.verb} ${hit.path}` : hit.line, ...(hit.api ? { api: hit.api } : {}) };
  try {
    const { value, text } = await call("search", values, {});
    if (opened !== hit) return;
    hit.whole = field(value, "exact") ?? list(field(value, "operations"))[0] ?? text;
    fill($("signature"), hit.whole);
  } catch (error) {
    if (opened === hit) fill($("signature"), error.message);
  }
}

function startSearch() {
  $("query").addEventListener("input", searchSoon);
  $("query").addEventListener("keydown", (event) => {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) {
      event.preventDefault();
      choose(chosen < 0 && event.key === "ArrowUp" ? -1 : chosen + moves[event.key], false);
    } else if (event.key === "Enter" && hits.length) {
      choose(Math.max(chosen, 0), true);
    } else if (event.key === "Escape") {
      ask("");
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, textarea, select")) {
      event.preventDefault();
      $("query").focus();
    }
  });
  $("close-operation").addEventListener("click", () => {
    $("operation").hidden = true;
    $("query").focus();
  });
  $("insert").addEventListener("click", () => {
    selectTab("script");
    insert(`const answer = await ${opened.api ?? "api"}.call(${JSON.stringify(opened.id)}, {});\n`);
  });
  search();
}
