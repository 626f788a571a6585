// The script: a text area with line numbers, and colours under it.

const INK =
  /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\[\s\S])*`?)|\b(as|async|await|break|case|catch|const|continue|default|delete|do|else|finally|for|from|function|if|in|instanceof|let|new|null|of|return|switch|throw|true|false|try|typeof|undefined|var|void|while|yield)\b|\b(\d[\w.]*)\b|\b(api|console|files|sleep)\b/g;
const INKS = ["c", "s", "k", "d", "a"];
const LEAST_LINES = 8;
const MOST_LINES = 24;

const code = $("code");

function paint() {
  const text = code.value;
  const ink = document.querySelector(".ink");
  const gutter = document.querySelector(".gutter");
  ink.replaceChildren();
  let from = 0;
  for (const found of text.matchAll(INK)) {
    const kind = INKS[found.slice(1).findIndex((it) => it !== undefined)];
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = found[0];
    ink.append(text.slice(from, found.index), span);
    from = found.index + found[0].length;
  }
  ink.append(`${text.slice(from)}\n`);
  const lines = text.split("\n").length;
  gutter.textContent = Array.from({ length: lines }, (_, at) => at + 1).join("\n");
  code.rows = Math.min(Math.max(lines + 1, LEAST_LINES), MOST_LINES);
  follow();
}

function follow() {
  const ink = document.querySelector(".ink");
  ink.scrollTop = code.scrollTop;
  ink.scrollLeft = code.scrollLeft;
  document.querySelector(".gutter").scrollTop = code.scrollTop;
}

/** Puts text at the cursor, as a line of its own where something stands before it. */
function insert(text) {
  const before = code.value.slice(0, code.selectionStart);
  const lead = before && !before.endsWith("\n") ? "\n" : "";
  code.setRangeText(lead + text, code.selectionStart, code.selectionEnd, "end");
  code.dispatchEvent(new Event("input"));
  code.focus();
}

code.addEventListener("input", paint);
code.addEventListener("scroll", follow);
new ResizeObserver(follow).observe(code);
