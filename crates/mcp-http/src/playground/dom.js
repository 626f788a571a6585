// Elements. Text is always a text node: nothing that a server or an API says becomes markup.

const $ = (id) => document.getElementById(id);

/** Makes an element; strings among its children are text. */
function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name === "tabIndex") made.tabIndex = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((it) => it !== null && it !== undefined).map(node));
  return made;
}

function node(child) {
  return child instanceof Node ? child : document.createTextNode(visible(String(child)));
}

/** Replaces what an element holds. */
function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter(Boolean).map(node));
}

/** Says what is going on, to eyes and screen readers. */
function say(text, kind = "") {
  const status = $("status");
  status.className = kind;
  status.textContent = visible(text);
}

function notice(text, kind = "") {
  return el("p", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : null }, text);
}

/** A method as a badge. */
function method(name) {
  return el("span", { class: `method ${name.toLowerCase()}` }, name);
}

/** A titled part of a card. */
function part(title, ...children) {
  return el("section", { class: "part" }, el("h4", {}, title), children);
}

/** `1 write`, `2 writes`. */
function count(number, thing) {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}
