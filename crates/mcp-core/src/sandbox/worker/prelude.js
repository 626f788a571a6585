// The script's surroundings: `api`, responses, the console, timers, the clock, and how values
// become JSON. Evaluated once per worker, before any script; everything it uses later is captured
// here, so that a script that rewrites the built-ins harms only itself.
() => {
  "use strict";
  const { parse, stringify, rawJSON } = JSON;
  const { assign, defineProperty, freeze, fromEntries, getPrototypeOf, keys, setPrototypeOf } = Object;
  const { from: arrayFrom, isArray } = Array;
  const { isSafeInteger } = Number;
  const { construct } = Reflect;
  const { floor, min } = Math;
  const call = Function.prototype.call;
  const uncurry = (method) => call.bind(method);
  const every = uncurry(Array.prototype.every);
  const join = uncurry(Array.prototype.join);
  const map = uncurry(Array.prototype.map);
  const exec = uncurry(RegExp.prototype.exec);
  const slice = uncurry(String.prototype.slice);
  const wellFormed = uncurry(String.prototype.toWellFormed);
  const toBase64 = uncurry(Uint8Array.prototype.toBase64);
  const [P, E, S, N, D, TypeE, RangeE] = [Promise, Error, String, Number, Date, TypeError, RangeError];
  const [BigI, Bytes, Buffer] = [BigInt, Uint8Array, ArrayBuffer];

  const text = (value) => wellFormed(S(value));
  const hidden = (target, name, value) =>
    defineProperty(target, name, { __proto__: null, value, writable: true, configurable: true });
  const fixed = (target, name, value) => defineProperty(target, name, { __proto__: null, value, enumerable: true });
  const getter = (target, name, get) =>
    defineProperty(target, name, { __proto__: null, get, enumerable: true, configurable: true });

  for (const name of ["Atomics", "SharedArrayBuffer", "WeakRef", "FinalizationRegistry"]) delete globalThis[name];

  let warn;
  let log;
  let clock;
  // In rehearsals: makes what stands for a response that is not there yet, and tells it apart.
  let grow;
  let isSymbol = () => false;

  // How values become JSON: what a script returns, sends and prints.

  const asJson = (prototype, convert) =>
    hidden(prototype, "toJSON", function toJSON() {
      return convert(this);
    });
  const list = (values) => arrayFrom(values);
  const bytes = (value) => ({ base64: toBase64(value), type: "application/octet-stream" });
  asJson(BigI.prototype, (value) => rawJSON(S(value)));
  asJson(RegExp.prototype, (value) => S(value));
  asJson(E.prototype, (error) => ({ name: error.name, message: error.message, ...error }));
  asJson(Set.prototype, list);
  asJson(Iterator.prototype, list);
  asJson(Map.prototype, (value) => {
    const entries = list(value);
    const named = every(entries, ([key]) => typeof key === "string" || typeof key === "number");
    return named ? fromEntries(entries) : entries;
  });
  asJson(getPrototypeOf(Bytes.prototype), (values) => (values instanceof Bytes ? bytes(values) : list(values)));
  asJson(Buffer.prototype, (buffer) => bytes(new Bytes(buffer)));
  asJson(P.prototype, () => {
    warn("a promise became part of the JSON as null: is an `await` missing?");
    return null;
  });

  const encode = (value) => {
    try {
      const json = stringify(value);
      return json === undefined ? undefined : wellFormed(json);
    } catch (error) {
      if (error instanceof TypeE && error.message === "circular reference") {
        throw new TypeE("not JSON: the value contains itself (circular reference); pick the fields you need");
      }
      throw error;
    }
  };

  // Element by element: no method of the script's has a say in what the list itself becomes.
  const encodeAll = (values) => `[${join(map(values, (value) => encode(value) ?? "null"), ",")}]`;

  const integer = /^-?[0-9]+$/;
  const keepDigits = (key, value, context) =>
    typeof value === "number" && !isSafeInteger(value) && exec(integer, context.source) ? BigI(context.source) : value;
  const decode = (json, bigIntegers) => (bigIntegers ? parse(json, keepDigits) : parse(json));

  // Errors of the host, and responses.

  class ApiError extends E {}
  hidden(ApiError.prototype, "name", "ApiError");
  hidden(globalThis, "ApiError", ApiError);

  // `error` was created where the script made the call: that stack is the one worth showing.
  const become = (error, name, message, properties) => {
    if (name === "ApiError") setPrototypeOf(error, ApiError.prototype);
    else hidden(error, "name", name);
    hidden(error, "message", message);
    for (const key of keys(properties)) fixed(error, key, properties[key]);
    return error;
  };

  // A failed response gives its data only to a script that looked at `ok` or `status` before.
  // `data` comes first: whoever copies or serializes a response reads it first.
  const respond = ({ data: real, placeholder, status, ok, headers, operation, failure }) => {
    const data = placeholder === undefined ? real : grow(placeholder);
    if (!(status >= 400)) return { data, status, ok, headers };
    let looked = false;
    const response = {};
    getter(response, "data", () => {
      if (looked) return data;
      throw become(new E(""), "ApiError", failure ?? `HTTP ${status}`, { status, data, operation });
    });
    getter(response, "status", () => ((looked = true), status));
    getter(response, "ok", () => ((looked = true), ok));
    getter(response, "headers", () => headers);
    return response;
  };

  // The console.

  const print = (value) => {
    if (typeof value === "string") return wellFormed(value);
    if (typeof value === "function") return `[function ${text(value.name) || "without a name"}]`;
    try {
      if (value instanceof E) return text(`${value.name}: ${value.message}`);
      if (isSymbol(value)) return text(value);
      return text((typeof value === "object" ? stringify(value) : undefined) ?? value);
    } catch (error) {
      return `[${text(error?.name ?? "Error")}: ${text(error?.message ?? error)}]`;
    }
  };
  const printer = (prefix) => (...values) => log(prefix + join(map(values, (value) => print(value)), " "));
  const console = { table: (rows) => log(join(map(list(rows), (row) => print(row)), "\n")) };
  for (const name of ["log", "info", "debug", "dir", "trace"]) console[name] = printer("");
  for (const name of ["warn", "error"]) console[name] = printer(`${name}: `);
  hidden(globalThis, "console", console);

  // The clock and the dice: the same in every run of the same plan.

  function ScriptDate(...values) {
    if (new.target === undefined) return S(new D(clock()));
    return construct(D, values.length === 0 ? [clock()] : values, new.target);
  }
  const { parse: parseDate, UTC } = D;
  for (const [name, value] of [["now", () => clock()], ["parse", parseDate], ["UTC", UTC]]) hidden(ScriptDate, name, value);
  for (const [name, value] of [["name", "Date"], ["length", 7], ["prototype", D.prototype]]) {
    defineProperty(ScriptDate, name, { __proto__: null, value });
  }
  hidden(D.prototype, "constructor", ScriptDate);
  hidden(globalThis, "Date", ScriptDate);

  // Small fast counter generator (sfc32), 53 bits from two draws.
  const dice = (low, high) => {
    let [a, b, c, counter] = [low | 0, high | 0, 0x9e3779b9 | 0, 1];
    const draw = () => {
      const sum = (a + b + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = ((c << 21) | (c >>> 11)) + sum | 0;
      return sum >>> 0;
    };
    for (let round = 0; round < 12; round++) draw();
    return () => ((draw() >>> 5) * 0x4000000 + (draw() >>> 6)) / 0x20000000000000;
  };

  // Everything that needs the host. Called once, when the script is there.
  return (host, names, wall, seedLow, seedHigh, placeholders) => {
    ({ warn, log, clock } = host);
    if (placeholders !== undefined) {
      isSymbol = placeholders.isSymbol;
      grow = ({ tree, nonce }) => placeholders.grow(tree, nonce);
    }
    const { start, ask, timer } = host;
    hidden(Math, "random", dice(seedLow, seedHigh));

    const waiting = { __proto__: null };
    const begin = (binding, name, values, convert) =>
      new P((resolve, reject) => {
        const error = new E("");
        const id = start(binding, name, encodeAll(values));
        if (typeof id === "string") throw become(error, "RangeError", id, {});
        waiting[id] = { __proto__: null, resolve, reject, error, convert };
      });
    const settle = (id, json, bigIntegers) => {
      const { resolve, reject, convert } = waiting[id];
      delete waiting[id];
      try {
        resolve(convert(decode(json, bigIntegers)));
      } catch (error) {
        reject(error);
      }
    };
    const fail = (id, name, message, properties) => {
      const { reject, error } = waiting[id];
      delete waiting[id];
      reject(become(error, name, message, parse(properties)));
    };
    const now = (binding, name, values) => {
      const reply = ask(binding, name, encodeAll(values));
      if (typeof reply === "string") throw new RangeE(reply);
      if (reply.json === undefined) throw become(new E(""), reply.name, reply.message, parse(reply.properties));
      return decode(reply.json, reply.bigIntegers);
    };

    function* operations(binding) {
      for (let offset = 0; typeof offset === "number"; ) {
        const { rows, next } = now(binding, "operations", [offset]);
        for (const [id, method, path, summary, tags] of rows) yield { id, method, path, summary, tags };
        offset = next;
      }
    }
    const itself = (value) => (value.placeholder === undefined ? value : grow(value.placeholder));
    const apis = map(names, (own, binding) => {
      if (own[0] === "files") {
        const call = (name) => (...values) => begin(binding, name, values, itself);
        fixed(globalThis, "files", freeze({ read: call("read"), save: call("save"), list: call("list") }));
        return undefined;
      }
      const api = {
        request: (...values) => begin(binding, "request", values, respond),
        call: (...values) => begin(binding, "call", values, respond),
        paginate: (...values) => begin(binding, "paginate", values, itself),
        search: (...values) => now(binding, "search", values),
        describe: (...values) => now(binding, "describe", values),
        budget: () => now(binding, "budget", []),
      };
      getter(api, "operations", () => operations(binding));
      for (const name of names[binding]) if (!(name in globalThis)) fixed(globalThis, name, api);
      return freeze(api);
    });
    const api = apis[0];
    if (api !== undefined) {
      const { search } = api;
      for (const [name, value] of [["search", search], ["tools", freeze({ search })], ["codemode", freeze({ search })]]) {
        if (!(name in globalThis)) hidden(globalThis, name, value);
      }
    }

    // Timers.

    const timers = { __proto__: null };
    let timerCount = 0;
    const after = (milliseconds, action) => {
      const delay = N(milliseconds);
      if (delay > wall) throw new RangeE(`a wait of ${delay} ms is longer than a script may run (${wall} ms)`);
      timers[++timerCount] = action;
      timer(timerCount, delay > 0 ? delay : 0);
      return timerCount;
    };
    const fire = (id) => {
      const action = timers[id];
      delete timers[id];
      if (action !== undefined) new P(() => action());
    };
    hidden(globalThis, "sleep", (milliseconds) => new P((resolve) => after(milliseconds, () => resolve())));
    hidden(globalThis, "setTimeout", (action, milliseconds, ...values) => after(milliseconds ?? 0, () => action(...values)));
    hidden(globalThis, "clearTimeout", (id) => {
      delete timers[id];
    });

    // The end.

    const finish = async (value) => {
      let result = await value;
      if (typeof result === "function") result = await (result.length > 0 ? result(api) : result());
      const json = encode(result);
      if (json !== undefined) return json;
      warn(
        result === undefined
          ? "the script returned nothing: is a `return` missing?"
          : `the script returned a ${typeof result}, which is not JSON`,
      );
      return "null";
    };

    // An error's own properties as JSON. What is too long keeps its beginning and says how long it was.
    const [LONGEST, MOST] = [60_000, 200];
    const properties = (thrown) => {
      try {
        const json = wellFormed(stringify(assign({}, thrown)));
        if (json.length <= LONGEST) return json;
        const all = parse(json);
        const names = keys(all);
        const shown = min(names.length, MOST);
        let room = LONGEST;
        let long = 0;
        const parts = [];
        for (let n = 0; n < shown; n++) {
          parts[n] = stringify(all[names[n]]);
          if (parts[n].length <= LONGEST / shown) room -= parts[n].length;
          else long++;
        }
        for (let n = 0; n < shown; n++) {
          if (parts[n].length > LONGEST / shown) parts[n] = shortened(all[names[n]], parts[n], floor(room / long));
          parts[n] = `${stringify(slice(names[n], 0, 100))}:${parts[n]}`;
        }
        if (shown < names.length) parts[shown] = `"…":"${names.length} properties in all"`;
        return `{${join(parts, ",")}}`;
      } catch {
        return "{}";
      }
    };
    const shortened = (value, json, share) => {
      if (json.length <= share) return json;
      if (typeof value === "string") return stringify(`${slice(value, 0, share)}… (${value.length} characters)`);
      if (!isArray(value)) return stringify(`(${json.length} characters of JSON)`);
      const parts = [];
      for (;;) {
        const part = stringify(value[parts.length]);
        share -= part.length + 1;
        if (share < 0) {
          parts[parts.length] = stringify(`… (${value.length} in all)`);
          break;
        }
        parts[parts.length] = part;
      }
      return `[${join(parts, ",")}]`;
    };

    // Any thrown value as [name, message, stack, own properties as JSON].
    const explain = (thrown) => {
      if (!(thrown instanceof E)) {
        const shown = typeof thrown === "object" && thrown !== null ? (stringify(thrown) ?? thrown) : thrown;
        return ["Error", text(`the script threw ${text(shown)}`), "", "{}"];
      }
      return [text(thrown.name), text(thrown.message), text(thrown.stack), properties(thrown)];
    };

    return { settle, fail, fire, finish, explain };
  };
};
