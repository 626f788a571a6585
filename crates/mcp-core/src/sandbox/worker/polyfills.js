// What models expect of a JavaScript environment and the engine lacks: text encoding, URLs and
// structuredClone. `native` holds the functions that do the work outside the engine.
(native) => {
  "use strict";
  const { defineProperty } = Object;
  const publish = (name, value) =>
    defineProperty(globalThis, name, { __proto__: null, value, writable: true, configurable: true });

  publish("TextEncoder", class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(text = "") {
      return native.encodeUtf8(String(text).toWellFormed());
    }
  });

  publish("TextDecoder", class TextDecoder {
    #fatal;
    constructor(label = "utf-8", { fatal = false } = {}) {
      if (!["utf-8", "utf8", "unicode-1-1-utf-8"].includes(String(label).trim().toLowerCase())) {
        throw new RangeError(`TextDecoder: only utf-8 is supported, not ${label}`);
      }
      this.#fatal = Boolean(fatal);
    }
    get encoding() {
      return "utf-8";
    }
    get fatal() {
      return this.#fatal;
    }
    decode(input = new Uint8Array()) {
      const bytes = input instanceof ArrayBuffer
        ? new Uint8Array(input)
        : new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
      const text = native.decodeUtf8(bytes.toBase64(), this.#fatal);
      if (text === undefined) throw new TypeError("TextDecoder: the bytes are not valid UTF-8");
      return text;
    }
  });

  publish("btoa", (text) => {
    const codes = Uint8Array.from(String(text), (character) => {
      const code = character.charCodeAt(0);
      if (code > 255 || character.length > 1) throw new TypeError("btoa: a character does not fit into one byte");
      return code;
    });
    return codes.toBase64();
  });
  publish("atob", (base64) => {
    const bytes = Uint8Array.fromBase64(String(base64));
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return text;
  });

  class URLSearchParams {
    #pairs;
    #changed = () => {};
    constructor(init = "") {
      if (typeof init === "object" && init !== null) {
        const entries = typeof init[Symbol.iterator] === "function" ? [...init] : Object.entries(init);
        this.#pairs = entries.map(([name, value]) => [String(name), String(value)]);
      } else {
        this.#pairs = native.parseQuery(String(init).toWellFormed().replace(/^\?/, ""));
      }
    }
    static follow(query, changed) {
      const params = new URLSearchParams(query);
      params.#changed = () => changed(params.toString());
      return params;
    }
    static replace(params, query) {
      params.#pairs = new URLSearchParams(query).#pairs;
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed();
    }
    delete(name, value) {
      this.#pairs = this.#pairs.filter(([n, v]) => n !== String(name) || (value !== undefined && v !== String(value)));
      this.#changed();
    }
    get(name) {
      return this.#pairs.find(([n]) => n === String(name))?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([n]) => n === String(name)).map(([, value]) => value);
    }
    has(name, value) {
      return this.#pairs.some(([n, v]) => n === String(name) && (value === undefined || v === String(value)));
    }
    set(name, value) {
      const first = this.#pairs.findIndex(([n]) => n === String(name));
      if (first < 0) return this.append(name, value);
      this.#pairs[first][1] = String(value);
      this.#pairs = this.#pairs.filter(([n], index) => index <= first || n !== String(name));
      this.#changed();
    }
    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }
    forEach(action, self) {
      for (const [name, value] of this.#pairs) action.call(self, value, name, this);
    }
    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }
    *keys() {
      for (const [name] of this.#pairs) yield name;
    }
    *values() {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return native.writeQuery(this.#pairs.map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]));
    }
    toJSON() {
      return this.toString();
    }
  }
  const { follow, replace } = URLSearchParams;
  delete URLSearchParams.follow;
  delete URLSearchParams.replace;
  publish("URLSearchParams", URLSearchParams);

  class URL {
    #parts;
    #params;
    constructor(url, base) {
      const parts = native.parseUrl(String(url).toWellFormed(), base === undefined ? undefined : String(base).toWellFormed());
      if (parts === undefined) throw new TypeError(`Invalid URL: ${url}`);
      this.#parts = parts;
      this.#params = follow(parts.search, (query) => {
        this.#parts = native.changeUrl(this.#parts.href, "search", query);
      });
    }
    static canParse(url, base) {
      return URL.parse(url, base) !== null;
    }
    static parse(url, base) {
      try {
        return new URL(url, base);
      } catch {
        return null;
      }
    }
    static change(url, part, value) {
      const parts = native.changeUrl(url.#parts.href, part, String(value).toWellFormed());
      if (parts === undefined) {
        if (part === "href") throw new TypeError(`Invalid URL: ${value}`);
        return;
      }
      url.#parts = parts;
      replace(url.#params, parts.search);
    }
    static part(url, part) {
      return url.#parts[part];
    }
    get searchParams() {
      return this.#params;
    }
    toString() {
      return this.#parts.href;
    }
    toJSON() {
      return this.#parts.href;
    }
  }
  const { change, part: read } = URL;
  delete URL.change;
  delete URL.part;
  const parts = ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
  for (const part of [...parts, "origin"]) {
    defineProperty(URL.prototype, part, {
      enumerable: true,
      configurable: true,
      get() {
        return read(this, part);
      },
      set: part === "origin" ? undefined : function (value) { change(this, part, value); },
    });
  }
  publish("URL", URL);

  const clone = (value, seen) => {
    if (typeof value === "function" || typeof value === "symbol") {
      throw new TypeError(`structuredClone: a ${typeof value} cannot be cloned`);
    }
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const remember = (copy) => {
      seen.set(value, copy);
      return copy;
    };
    if (value instanceof Date) return remember(new Date(value.getTime()));
    if (value instanceof RegExp) return remember(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return remember(value.slice(0));
    if (ArrayBuffer.isView(value)) {
      const buffer = clone(value.buffer, seen);
      const length = value instanceof DataView ? value.byteLength : value.length;
      return remember(new value.constructor(buffer, value.byteOffset, length));
    }
    if (value instanceof Number || value instanceof String || value instanceof Boolean) {
      return remember(Object(value.valueOf()));
    }
    if (value instanceof Map) {
      const copy = remember(new Map());
      for (const [key, item] of value) copy.set(clone(key, seen), clone(item, seen));
      return copy;
    }
    if (value instanceof Set) {
      const copy = remember(new Set());
      for (const item of value) copy.add(clone(item, seen));
      return copy;
    }
    if (value instanceof Error) {
      const copy = remember(new Error(value.message));
      copy.name = value.name;
      return copy;
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) {
      throw new TypeError("structuredClone: this object cannot be cloned");
    }
    const copy = remember(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) copy[key] = clone(value[key], seen);
    return copy;
  };
  publish("structuredClone", (value) => clone(value, new Map()));
};
