// A plan: the exact requests with what they change, and the one button that sends them.

/** How long a plan has to be in view before it can be confirmed: no click in passing does. */
const ARMING = 500;

/** Whether a tool's answer asks for a confirmation. */
function isPlan(answer) {
  return field(answer.value, "status") === "needs_confirmation";
}

/**
 * Shows a plan. `asked` is the call that made it, `{ name, values }`; `settled` is told how it ended:
 * `sent` with the answer, or `discarded`.
 */
function planView(answer, asked, settled = () => {}) {
  const plan = answer.value;
  const writes = list(plan.get("plan"));
  const confirm = el("button", { type: "button", class: "danger", disabled: true }, writes.length ? `Send ${count(writes.length, "write")}` : "Run with write access");
  const discard = el("button", { type: "button" }, "Discard");
  const steps = ["Planned", "Confirmed", "Sent"].map((it) => el("li", {}, it));
  const heading = el("h3", { tabIndex: -1 }, "Nothing has been written yet");
  const left = el("span", { class: "note" });
  const decide = el("div", { class: "decide" }, el("code", {}, plan.get("confirm")), left, discard, confirm);
  const card = el(
    "section",
    { class: "card plan", "aria-label": "Plan" },
    el("div", { class: "lead" }, heading, el("ol", { class: "steps", "aria-label": "Steps" }, steps)),
    plan.has("applied") ? part("Already sent", callsView(list(plan.get("applied")))) : null,
    plan.has("reason") ? el("p", { class: "notice" }, plan.get("reason")) : null,
    plan.get("complete") === false ? el("p", { class: "notice" }, "This may not be all: the warnings say why. If the script goes on to write more, it stops and a new plan is shown.") : null,
    writes.length ? writes.map(writeView) : part("Script", el("pre", { tabIndex: 0 }, plan.get("preview") ?? ""), el("p", { class: "notice" }, "What it will send is not known beforehand.")),
    list(plan.get("warnings")).length ? part("Warnings", items(plan.get("warnings"))) : null,
    callsView(list(plan.get("calls")).filter((it) => field(it, "outcome") !== "planned"), "Reads of the rehearsal"),
    list(plan.get("logs")).length ? part("Logs", el("pre", { tabIndex: 0 }, plan.get("logs").map(logLine).join("\n"))) : null,
    decide,
  );
  const view = el("div", {}, plan.has("untrusted") ? notice(`Contains ${plan.get("untrusted")}.`) : null, card);
  let open = true;
  const reach = (step) => steps.forEach((it, at) => (at === step ? it.setAttribute("aria-current", "step") : it.removeAttribute("aria-current")));
  const close = (title) => {
    open = false;
    clearInterval(clock);
    decide.remove();
    card.classList.add("sent");
    fill(heading, title);
  };
  /** What came of it stands above the plan. */
  const tell = (title, kind, outcome) => {
    close("What was planned");
    if (kind === "good") reach(2);
    const line = el("p", { class: `notice ${kind}`, tabIndex: -1 }, title);
    view.prepend(el("div", { class: "outcome" }, line, outcome));
    line.focus();
    say(title, kind === "bad" ? "bad" : "");
  };
  const expires = Date.parse(plan.get("expires") ?? "");
  const tick = () => {
    const seconds = Math.round((expires - Date.now()) / 1000);
    if (Number.isNaN(seconds)) return;
    if (seconds <= 0) withdraw("Expired: plan again");
    else fill(left, `expires in ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
  };
  const withdraw = (why) => {
    if (!open) return;
    close(why);
    settled({ discarded: why });
  };
  confirm.addEventListener("click", async (event) => {
    // A script can make a click, and only a person a trusted one.
    if (!event.isTrusted || !open || confirm.disabled) return;
    open = false;
    confirm.disabled = discard.disabled = true;
    reach(1);
    say("Sending…", "busy");
    try {
      const sent = await call(asked.name, { ...asked.values, confirm: plan.get("confirm") }, {});
      if (isPlan(sent)) tell("Not all was sent yet: here is the rest", "", planView(sent, asked, settled).view);
      else if (sent.failed) tell("It did not go as planned", "bad", answerView(sent));
      else tell("Sent as planned", "good", answerView(sent));
      settled({ sent });
    } catch (error) {
      const refused = error.status >= 400 && error.status < 500;
      const title = refused ? "Refused: nothing was sent" : "There is no answer: look at what is there before you try again";
      tell(title, "bad", notice(error.message, "bad"));
      settled({ sent: { text: error.message, value: error.message, failed: true } });
    }
  });
  discard.addEventListener("click", () => withdraw("Discarded: nothing was written"));
  const clock = setInterval(tick, 1000);
  setTimeout(() => (confirm.disabled = !open), ARMING);
  tick();
  reach(0);
  return { view, heading, withdraw };
}

/** One request, exactly, and what it would change. */
function writeView(write) {
  if (!(write instanceof Map) || !write.has("method")) return el("div", { class: "write" }, jsonView(write));
  const [verb, path, body, before] = ["method", "path", "body", "before"].map((it) => write.get(it));
  const known = ["n", "api", "method", "path", "query", "headers", "operation", "body", "before"];
  const others = new Map([...write].filter(([key]) => !known.includes(key)));
  const table = changes(body, before);
  const exact = body === undefined ? null : jsonView(body);
  return el(
    "div",
    { class: "write", role: "group", "aria-label": `Write ${write.get("n")}: ${verb} ${path}` },
    el(
      "div",
      { class: "target" },
      el("span", { class: "note" }, write.get("n")),
      method(verb),
      el("span", { class: "mono" }, setup.apis.length > 1 ? `${write.get("api")} ` : "", path),
      el("span", { class: "note" }, write.get("operation") ?? ""),
    ),
    labelled("Query", write.get("query")),
    labelled("Headers", write.get("headers")),
    others.size ? labelled("Also", others) : null,
    table,
    table && exact ? el("details", {}, el("summary", {}, "Body as it is sent"), exact) : exact,
    before === null ? el("p", { class: "note tags" }, "There is nothing there now.") : null,
  );
}

function labelled(label, value) {
  return value === undefined ? null : el("div", { class: "labelled" }, el("span", { class: "note" }, label), jsonView(value));
}

/** A table of before and after, where the state is known. */
function changes(body, before) {
  if (!(before instanceof Map)) return null;
  const after = body instanceof Map ? body : null;
  if (body !== undefined && !after) return null;
  const keys = new Set([...(after?.keys() ?? []), ...before.keys()]);
  const rows = [...keys].map((key) => {
    const [was, will] = [before, after].map((it) => (it?.has(key) ? compact(it.get(key)) : null));
    const same = was === will;
    const gone = after ? "" : el("span", { class: "note" }, "deleted");
    return el(
      "tr",
      {},
      el("th", { scope: "row", class: "mono" }, key),
      el("td", { class: "mono" }, was === null ? "" : same ? was : el("del", {}, was)),
      el("td", { class: "mono" }, same ? el("span", { class: "note" }, "unchanged") : will === null ? gone : el("ins", {}, will)),
    );
  });
  const heads = ["Field", "Before", "After"].map((it) => el("th", { scope: "col" }, it));
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)));
}
