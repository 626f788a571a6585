// JSON that keeps every digit and every key: what is shown has to be what was sent.

/** A number that a double would round. */
class Exact {
  constructor(digits) {
    this.digits = digits;
  }
}

/** Parses to arrays, `Map`s and plain values; numbers that would be rounded stay as written. */
function parseJson(text) {
  const token = /[ \t\n\r]*(?:([{}[\]:,])|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|("))/y;
  let at = 0;
  const next = () => {
    token.lastIndex = at;
    const found = token.exec(text);
    if (!found) throw new SyntaxError(`not JSON at ${at}`);
    at = token.lastIndex;
    return found[1] ?? found[2] ?? string();
  };
  const string = () => {
    const start = at - 1;
    for (;;) {
      at = text.indexOf('"', at);
      if (at < 0) throw new SyntaxError("an unended string");
      let slashes = 0;
      while (text[at - 1 - slashes] === "\\") slashes += 1;
      at += 1;
      if (slashes % 2 === 0) return { string: JSON.parse(text.slice(start, at)) };
    }
  };
  const separator = (end) => {
    const mark = next();
    if (mark !== "," && mark !== end) throw new SyntaxError(`not JSON at ${at}`);
    return mark === ",";
  };
  const value = (first) => {
    if (typeof first === "object") return first.string;
    if (first === "{") {
      const fields = new Map();
      let key = next();
      while (key !== "}") {
        if (typeof key !== "object" || next() !== ":") throw new SyntaxError(`not JSON at ${at}`);
        fields.set(key.string, value(next()));
        key = separator("}") ? next() : "}";
      }
      return fields;
    }
    if (first === "[") {
      const items = [];
      let item = next();
      while (item !== "]") {
        items.push(value(item));
        item = separator("]") ? next() : "]";
      }
      return items;
    }
    if (first === "true" || first === "false") return first === "true";
    if (first === "null") return null;
    if (!/\d$/.test(first)) throw new SyntaxError(`not JSON at ${at}`);
    return String(Number(first)) === first ? Number(first) : new Exact(first);
  };
  const parsed = value(next());
  if (text.slice(at).trim()) throw new SyntaxError(`more than JSON at ${at}`);
  return parsed;
}

/** The text as JSON where it is, and as it is otherwise. */
function parsed(text) {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** A field of an object, if it is one. */
function field(value, name) {
  return value instanceof Map ? value.get(name) : undefined;
}

/** A list, whatever is there. */
function list(value) {
  return Array.isArray(value) ? value : [];
}

/** On one line. */
function compact(value) {
  if (value instanceof Exact) return value.digits;
  if (Array.isArray(value)) return `[${value.map(compact).join(", ")}]`;
  if (value instanceof Map) {
    const fields = [...value].map(([key, it]) => `${JSON.stringify(key)}: ${compact(it)}`);
    return fields.length ? `{ ${fields.join(", ")} }` : "{}";
  }
  return JSON.stringify(value) ?? "undefined";
}

/** Control, bidirectional and zero-width characters by number: text must not pass for other text. */
function visible(text) {
  const hidden =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
  return text.replace(hidden, (it) => `\\u{${it.codePointAt(0).toString(16)}}`);
}

/** A value as coloured text. */
function jsonView(value) {
  const view = el("pre", { class: "json", tabIndex: 0 });
  const put = (text, kind) => view.append(kind ? el("span", { class: kind }, text) : text);
  const scalar = (it) => {
    if (typeof it === "string") put(JSON.stringify(it), "s");
    else put(compact(it), it === null ? "n" : "d");
  };
  const write = (it, indent) => {
    const isList = Array.isArray(it);
    if (!isList && !(it instanceof Map)) return scalar(it);
    const [open, close] = isList ? "[]" : "{}";
    const entries = isList ? it.map((item) => [null, item]) : [...it];
    const flat = entries.every(([, inner]) => !Array.isArray(inner) && !(inner instanceof Map));
    const onOneLine = entries.length === 0 || (flat && compact(it).length + indent.length < 118);
    const gap = onOneLine ? (isList || !entries.length ? "" : " ") : `\n${indent}  `;
    put(open);
    entries.forEach(([key, inner], index) => {
      put((index ? "," : "") + (onOneLine && index ? " " : gap));
      if (key !== null) {
        put(JSON.stringify(key), "k");
        put(": ");
      }
      write(inner, `${indent}  `);
    });
    put((onOneLine ? gap : `\n${indent}`) + close);
  };
  write(value, "");
  return view;
}
