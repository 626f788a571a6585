// The script tab: run it reading only, or plan its writes.

let running = null;
let shown = null;

/** Runs one of the two tools on the script; one at a time. */
async function runScript(name) {
  if (running || !code.value.trim()) return;
  running = new AbortController();
  const { signal } = running;
  shown?.withdraw("Withdrawn: planned again");
  shown = null;
  const asked = { name, values: { code: code.value } };
  const started = performance.now();
  busy(true);
  say(name === "execute" ? "Running…" : "Rehearsing: reads run, writes are only recorded…", "busy");
  try {
    const answer = await call(name, asked.values, { signal, progress: (text) => text && say(text, "busy") });
    const took = `${Math.round(performance.now() - started)} ms`;
    if (isPlan(answer)) {
      const plan = planView(answer, asked);
      shown = plan;
      fill($("outcome"), plan.view);
      plan.heading.focus();
      say("Planned: look at the requests, then confirm or discard them");
    } else {
      fill($("outcome"), answerView(answer));
      say(answer.failed ? `Failed after ${took}` : `Done in ${took}`, answer.failed ? "bad" : "");
    }
  } catch (error) {
    const stopped = signal.aborted;
    fill($("outcome"), notice(stopped ? "Stopped." : error.message, stopped ? "" : "bad"));
    say(stopped ? "Stopped" : "Failed", stopped ? "" : "bad");
  } finally {
    running = null;
    busy(false);
  }
}

function busy(is) {
  $("run").disabled = $("plan").disabled = is;
  $("stop").hidden = !is;
}

function startScript(tools) {
  const names = tools.map((it) => it.name);
  $("run").hidden = !names.includes("execute");
  $("plan").hidden = !names.includes("execute_write");
  $("code-note").textContent = names.includes("execute_write") ? "" : "This server only reads.";
  code.value = setup.example;
  paint();
  $("run").addEventListener("click", () => runScript("execute"));
  $("plan").addEventListener("click", () => runScript("execute_write"));
  $("stop").addEventListener("click", () => running?.abort());
  code.addEventListener("input", () => {
    shown?.withdraw("The script has changed: plan again");
    shown = null;
  });
  code.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    const button = $(event.shiftKey ? "plan" : "run");
    if (!button.hidden) button.click();
  });
  fill($("outcome"), el("p", { class: "note" }, "Ctrl+Enter runs the script; it cannot write. Plan writes shows exactly what a script would send, and sends nothing."));
}
