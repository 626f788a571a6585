// The tools tab: what this caller sees, and a form for each.

function startTools(tools) {
  fill($("panel-tools"), tools.map(toolView));
}

function toolView(tool) {
  const hints = tool.annotations ?? {};
  const writes = hints.readOnlyHint !== true;
  const properties = Object.entries(tool.inputSchema?.properties ?? {}).filter(([name]) => name !== "confirm");
  const plans = "confirm" in (tool.inputSchema?.properties ?? {});
  const required = new Set(tool.inputSchema?.required ?? []);
  const fields = properties.map(([name, schema]) => fieldView(tool.name, name, schema, required.has(name)));
  const answer = el("div", { class: "answer" });
  const label = plans ? "Plan" : writes ? "Run: it writes at once" : "Run";
  const run = el("button", { type: "submit", class: plans || !writes ? "primary" : "danger" }, label);
  const form = el("form", { class: "arguments" }, fields.map((it) => it.view), el("div", {}, run));
  let pressed = false;
  // Only a person's press may run what writes at once.
  run.addEventListener("click", (event) => (pressed = event.isTrusted));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!event.isTrusted || (writes && !plans && !pressed)) return;
    run.disabled = true;
    say(`Calling ${tool.name}…`, "busy");
    try {
      const asked = { name: tool.name, values: values(fields) };
      const got = await call(asked.name, asked.values, {});
      fill(answer, isPlan(got) ? planView(got, asked).view : answerView(got));
      say(got.failed ? `${tool.name} failed` : `${tool.name} answered`, got.failed ? "bad" : "");
    } catch (error) {
      fill(answer, notice(error.message, "bad"));
      say("Failed", "bad");
    } finally {
      run.disabled = pressed = false;
    }
  });
  return el(
    "details",
    { class: "tool" },
    el(
      "summary",
      {},
      el("span", { class: "mono" }, tool.name),
      el("span", { class: "note" }, hints.title ?? tool.title ?? ""),
      el("span", { class: `badge ${writes ? "writes" : ""}` }, plans ? "plans writes" : writes ? "writes" : "reads"),
    ),
    el("div", { class: "inside" }, el("pre", {}, tool.description ?? ""), form, answer),
  );
}

/** An input for an argument: its kind by the declared type. */
function fieldView(tool, name, schema, isRequired) {
  const id = `argument-${tool}-${name}`;
  const shared = { id, required: isRequired, "aria-describedby": schema.description ? `${id}-note` : null };
  const choices = schema.enum ?? (schema.type === "boolean" ? [true, false] : null);
  const isNumber = schema.type === "integer" || schema.type === "number";
  const isText = schema.type === "string" || isNumber;
  let input;
  if (choices) {
    input = el("select", shared, el("option", { value: "" }, "–"), choices.map((it) => el("option", { value: JSON.stringify(it) }, it)));
  } else if (isText && name !== "code") {
    const step = schema.type === "integer" ? 1 : "any";
    const bounds = isNumber ? { step, min: schema.minimum, max: schema.maximum } : {};
    // An empty text is one: what a required text holds is for the server to judge.
    input = el("input", { ...shared, required: isRequired && isNumber, type: isNumber ? "number" : "text", autocomplete: "off", spellcheck: "false", ...bounds });
  } else {
    input = el("textarea", { ...shared, class: "mono", rows: name === "code" ? 6 : 3, spellcheck: "false" });
  }
  const read = () => {
    const text = input.value;
    if (text === "" && !(isRequired && schema.type === "string")) return undefined;
    if (isText && !choices) return isNumber ? Number(text) : text;
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(`${name} is to be JSON`);
    }
  };
  const hint = schema.description ? el("span", { class: "note", id: `${id}-note` }, ` ${schema.description}`) : null;
  const kind = [schema.type ?? "any", isRequired ? "required" : null].filter(Boolean).join(", ");
  return { name, read, view: el("div", {}, el("label", { for: id }, el("span", { class: "mono" }, name), el("span", { class: "note" }, ` ${kind}`)), input, hint) };
}

function values(fields) {
  const read = fields.map((it) => [it.name, it.read()]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}
