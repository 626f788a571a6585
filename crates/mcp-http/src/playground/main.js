// The page as a whole: tabs, theme, credentials, and the first question to the server.

const THEMES = ["system", "light", "dark"];
const TABS = ["script", "tools", "chat"];

function selectTab(name, focus = false) {
  for (const it of TABS) {
    const tab = $(`tab-${it}`);
    const selected = it === name;
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = selected ? 0 : -1;
    $(`panel-${it}`).hidden = !selected;
    if (selected && focus) tab.focus();
  }
}

function startTabs() {
  const there = () => TABS.filter((it) => !$(`tab-${it}`).hidden);
  for (const name of TABS) {
    $(`tab-${name}`).addEventListener("click", () => selectTab(name));
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      const tabs = there();
      const at = tabs.indexOf(name);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      selectTab(tabs[to % tabs.length], true);
    });
  }
}

function startTheme() {
  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  let theme = THEMES.includes(stored()) ? stored() : "system";
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    $("theme").textContent = `Theme: ${theme}`;
  };
  $("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // Then it lasts as long as the page.
    }
    apply();
  });
  apply();
}

function askForCredentials() {
  if (setup.credentials.length && !$("credentials").open) $("credentials").showModal();
}

function startCredentials() {
  if (!setup.credentials.length) return;
  $("access").hidden = false;
  $("access").addEventListener("click", askForCredentials);
  const fields = setup.credentials.map(({ header, prefix, label }, at) => {
    const input = el("input", { id: `credential-${at}`, type: "password", autocomplete: "off", spellcheck: "false" });
    return { header, prefix, input, view: el("div", {}, el("label", { for: `credential-${at}` }, label), input) };
  });
  fill($("credential-fields"), fields.map((it) => it.view));
  $("credentials").addEventListener("close", () => {
    credentials.clear();
    for (const { header, prefix, input } of fields) {
      if (input.value.trim()) credentials.set(header, prefix + input.value.trim());
    }
    if (credentials.size) load();
  });
}

/** Asks what there is for this caller, and shows it. */
async function load() {
  try {
    const { tools } = await request("tools/list", {}, {});
    const names = tools.map((it) => it.name);
    const hasScripts = names.includes("execute");
    $("tab-script").hidden = !hasScripts;
    $("find").hidden = !names.includes("search");
    document.querySelector("main").classList.toggle("alone", !names.includes("search"));
    startTools(tools);
    if (!hasScripts) selectTab("tools");
    if (!loaded) {
      loaded = true;
      startScript(tools);
      startSearch();
      startChat();
    } else {
      search();
    }
    say(count(tools.length, "tool"));
  } catch (error) {
    say(error.message, "bad");
  }
}

let loaded = false;
document.title = `${setup.name} – playground`;
fill($("name"), setup.name);
fill($("about"), `${setup.version} · ${setup.apis.map((it) => it.title).join(", ")}`);
startTabs();
startTheme();
startCredentials();
load();
