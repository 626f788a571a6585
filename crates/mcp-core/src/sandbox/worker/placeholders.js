// Placeholders: what a recorded write answers in a rehearsal. A symbol stands for one value that
// only the real response will have; it may be passed on and put into texts, and whatever would look
// at the value itself is reported with the place in the script. Evaluated before the script, and in
// rehearsals alone.
(observe) => {
  "use strict";
  const { getOwnPropertyDescriptor, has, ownKeys } = Reflect;
  const { entries, fromEntries, hasOwn } = Object;
  const { isArray } = Array;
  const { iterator, toPrimitive } = Symbol;
  const { prototype: shared } = Object;
  const [P, S, E] = [Proxy, String, Error];
  const uncurry = (method) => Function.prototype.call.bind(method);
  const exec = uncurry(RegExp.prototype.exec);
  const map = uncurry(Array.prototype.map);
  const [known, learn] = [uncurry(WeakSet.prototype.has), uncurry(WeakSet.prototype.add)];
  const listMethods = Array.prototype;

  const word = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
  const mark = /^«([A-Za-z0-9_.-]+)·([0-9a-f]+)·([va])»$/;
  const symbols = new WeakSet();
  const made = { __proto__: null };

  const saw = (what) => observe(what, new E("").stack);
  const quiet = { __proto__: null, constructor: true, then: true };

  // One value: a scalar, or (`open`) a value of unknown form, of which any property is a symbol too.
  const symbol = (name, nonce, open) => (made[`${open} ${name}`] ??= create(name, nonce, open));
  const create = (name, nonce, open) => {
    const shown = `«${name}»`;
    const text = (form) => `«${name}·${nonce}·${form}»`;
    const convert = (hint) => {
      if (hint === "number") {
        saw(`arithmetic on ${shown}`);
        return NaN;
      }
      return text(hint === "string" ? "t" : "p");
    };
    const methods = {
      __proto__: null,
      toJSON: () => text(open ? "a" : "v"),
      toString: () => text("t"),
      toLocaleString: () => text("t"),
      valueOf: () => it,
    };
    const it = new P({ __proto__: null }, {
      get(_, key) {
        if (key === toPrimitive) return convert;
        if (key === iterator) saw(`iteration over ${shown}`);
        if (typeof key === "symbol" || key in quiet) return undefined;
        if (key in methods) return methods[key];
        if (key === "length") {
          saw(`the length of ${shown}`);
          return 0;
        }
        if (open && exec(word, key) && !(key in listMethods)) return symbol(`${name}.${key}`, nonce, true);
        saw(`\`${key}\` of ${shown}`);
        return undefined;
      },
      has() {
        saw(`the keys of ${shown}`);
        return false;
      },
      ownKeys() {
        saw(`the keys of ${shown}`);
        return [];
      },
      getOwnPropertyDescriptor() {
        saw(`the keys of ${shown}`);
        return undefined;
      },
      set() {
        saw(`a change of ${shown}`);
        return true;
      },
    });
    learn(symbols, it);
    return it;
  };

  // An object of the response's schema: its fields are known, and it knows no others.
  const object = (name, fields) => {
    const shown = `«${name}»`;
    const own = (target, key) => typeof key === "symbol" || hasOwn(target, key) || key in shared || key in quiet;
    return new P(fields, {
      get(target, key) {
        if (key === "toJSON") return hasOwn(target, key) ? target[key] : () => target;
        if (!own(target, key)) saw(`\`${key}\` of ${shown}, which the document does not name`);
        return target[key];
      },
      has(target, key) {
        if (!own(target, key)) saw(`\`${S(key)}\` of ${shown}, which the document does not name`);
        return has(target, key);
      },
      ownKeys(target) {
        saw(`the keys of ${shown}`);
        return ownKeys(target);
      },
      getOwnPropertyDescriptor(target, key) {
        if (!own(target, key)) saw(`\`${S(key)}\` of ${shown}, which the document does not name`);
        return getOwnPropertyDescriptor(target, key);
      },
    });
  };

  // A list of unknown length; it is empty here.
  const list = (name) => {
    const shown = `«${name}»`;
    return new P([], {
      get(target, key) {
        if (key === "toJSON") return () => target;
        if (!(key in quiet) && (typeof key !== "symbol" || key === iterator)) {
          saw(key === iterator ? `iteration over ${shown}` : `\`${key}\` of ${shown}`);
        }
        return target[key];
      },
      ownKeys(target) {
        saw(`the keys of ${shown}`);
        return ownKeys(target);
      },
    });
  };

  // Values the script sent itself come back as they were, symbols in them included.
  const revive = (value, nonce) => {
    if (typeof value === "string") {
      const found = exec(mark, value);
      return found && found[2] === nonce ? symbol(found[1], nonce, found[3] === "a") : value;
    }
    if (typeof value !== "object" || value === null) return value;
    if (isArray(value)) return map(value, (element) => revive(element, nonce));
    return fieldsOf(value, (element) => revive(element, nonce));
  };
  const fieldsOf = (source, convert) => fromEntries(map(entries(source), (pair) => [pair[0], convert(pair[1])]));

  const grow = (tree, nonce) => {
    if ("s" in tree) return symbol(tree.s, nonce, false);
    if ("a" in tree) return symbol(tree.a, nonce, true);
    if ("l" in tree) return list(tree.l);
    if ("o" in tree) return object(tree.o, fieldsOf(tree.f, (field) => grow(field, nonce)));
    return revive(tree.v, nonce);
  };
  return { grow, isSymbol: (value) => known(symbols, value) };
};
