// The chat tab: a model that uses the tools. It can read; what it would write it can only plan, and
// the plan waits here for a person's click.

/** What was said so far, as the server takes it. */
const talk = [];
let speaking = null;
/** Outcomes the model has not been told of yet. */
const news = [];

async function send(text) {
  if (speaking) return;
  const told = news.splice(0).join("\n\n");
  talk.push({ role: "user", text: [told, text].filter(Boolean).join("\n\n") });
  if (text) addToTalk(el("div", { class: "said person" }, text));
  await answer();
}

/** One turn of the model: its words as they come, its calls, and how they went. */
async function answer() {
  speaking = new AbortController();
  const { signal } = speaking;
  $("send").disabled = true;
  $("hush").hidden = false;
  say("The model is at work…", "busy");
  const turn = new Turn();
  try {
    const response = await post("/playground/chat", { Accept: "text/event-stream" }, { messages: talk }, signal);
    for await (const { event, data } of events(response)) turn.take(event, JSON.parse(data));
    if (!turn.ended) throw new Refused("the answer broke off", response.status);
    say(turn.fault ? "The chat failed" : "", turn.fault ? "bad" : "");
  } catch (error) {
    addToTalk(notice(signal.aborted ? "Stopped." : error.message, signal.aborted ? "" : "bad"));
    say(signal.aborted ? "Stopped" : "The chat failed", signal.aborted ? "" : "bad");
  } finally {
    turn.close();
    speaking = null;
    $("send").disabled = false;
    $("hush").hidden = true;
  }
}

class Turn {
  ended = false;
  fault = false;
  #words = null;
  #text = "";
  #steps = new Map();
  /** The assistant's message that is being put together. */
  #message = null;

  take(event, data) {
    if (event === "text") this.#say(data.text);
    else if (event === "again") this.#unsay();
    else if (event === "call") this.#call(data);
    else if (event === "result") this.#result(data);
    else if (event === "plan") this.#plan(data);
    else if (event === "error") this.#fail(data.message);
    else if (event === "done") this.#end(data.note);
  }

  #assistant() {
    if (!this.#message) {
      this.#message = { role: "assistant", text: "", calls: [] };
      talk.push(this.#message);
    }
    return this.#message;
  }

  #say(text) {
    if (!this.#words) {
      this.#words = el("div", { class: "said model" });
      this.#text = "";
      addToTalk(this.#words);
    }
    this.#text += text;
    this.#assistant().text += text;
    this.#words.replaceChildren(...prose(this.#text));
    keepInView();
  }

  /** The model begins its words anew. */
  #unsay() {
    this.#words?.remove();
    this.#words = null;
    if (this.#message) this.#message.text = "";
  }

  #call({ id, name, arguments: values }) {
    this.#words = null;
    this.#assistant().calls.push({ id, name, arguments: values });
    const state = el("span", { class: "state busy" }, "running");
    const shown = typeof values?.code === "string" ? el("pre", { tabIndex: 0 }, values.code) : jsonView(parsed(JSON.stringify(values)));
    const body = el("div", {}, part("Arguments", shown));
    const gist = typeof values?.query === "string" ? values.query : typeof values?.code === "string" ? values.code.trim().split("\n")[0] : "";
    const view = el("details", { class: "step" }, el("summary", {}, el("span", { class: "mono" }, name), el("span", { class: "note" }, gist), state), body);
    this.#steps.set(id, { state, body, name, values });
    addToTalk(view);
  }

  #result({ id, text, failed }) {
    const step = this.#steps.get(id);
    this.#message = null;
    talk.push({ role: "tool", id, text, failed });
    if (!step) return;
    step.state.className = `state ${failed ? "bad" : "good"}`;
    fill(step.state, failed ? "failed" : "done");
    step.body.append(el("section", { class: "part" }, el("h4", {}, "Answer"), answerView({ text, value: parsed(text), parts: [], failed })));
    keepInView();
  }

  #plan({ id, text }) {
    const { name, values } = this.#steps.get(id);
    const answer = { text, value: parsed(text), parts: [], failed: false };
    addToTalk(planView(answer, { name, values }, settled).view);
    say("A plan waits for you");
  }

  #fail(message) {
    this.fault = true;
    addToTalk(notice(message, "bad"));
    this.#end();
  }

  #end(note) {
    this.ended = true;
    if (note) addToTalk(notice(note));
  }

  /** Leaves a history that can be sent again: a call that has no answer is no part of it. */
  close() {
    const last = talk.at(-1);
    for (const { state } of this.#steps.values()) {
      if (!state.classList.contains("busy")) continue;
      state.className = "state";
      fill(state, "stopped");
    }
    const answered = new Set(talk.filter((it) => it.role === "tool").map((it) => it.id));
    for (const it of talk) if (it.role === "assistant") it.calls = it.calls.filter((call) => answered.has(call.id));
    if (last?.role === "assistant" && !last.text && !last.calls.length) talk.pop();
  }
}

/** What a person decided about a plan is told to the model, without the line that confirms. */
function settled({ sent, discarded }) {
  if (discarded) {
    news.push(`(The plan was not confirmed. ${discarded}.)`);
    return;
  }
  const hidden = sent.value instanceof Map && sent.value.has("confirm");
  const told = hidden ? compact(new Map([...sent.value].filter(([key]) => key !== "confirm"))) : sent.text;
  news.push(`(The person confirmed the plan. The outcome: ${told})`);
  if (!speaking && !hidden) send("");
}

function addToTalk(view) {
  $("talk").append(view);
  keepInView();
}

function keepInView() {
  const { scrollHeight, scrollTop, clientHeight } = $("work");
  if (scrollHeight - scrollTop - clientHeight < 240) $("work").scrollTop = scrollHeight;
}

/** A model's words: fenced code, `code`, **bold**; everything else as it is written. */
function prose(text) {
  return text.split(/(```[^\n]*\n[\s\S]*?(?:```|$))/).map((block) => {
    const fence = /^```[^\n]*\n([\s\S]*?)(?:```)?$/.exec(block);
    if (fence) return el("pre", {}, fence[1].replace(/\n$/, ""));
    const words = block.replace(/^\n+|\n+$/g, "");
    if (!words) return "";
    const inline = words.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((it) => {
      if (/^`.+`$/.test(it)) return el("code", {}, it.slice(1, -1));
      if (/^\*\*.+\*\*$/.test(it)) return el("strong", {}, it.slice(2, -2));
      return node(it);
    });
    return el("p", {}, inline);
  });
}

function startChat() {
  if (!setup.chat) return;
  $("tab-chat").hidden = false;
  fill($("chat-note"), `${setup.chat.model} at ${setup.chat.place}. It reads by itself; a write is a plan that waits for you.`);
  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = $("question").value.trim();
    if (!text || speaking) return;
    $("question").value = "";
    send(text);
  });
  $("question").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    $("ask").requestSubmit();
  });
  $("hush").addEventListener("click", () => speaking?.abort());
}
