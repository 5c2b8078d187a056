// @ts-check
import assert from "node:assert/strict";
import test from "node:test";

import { format, initial, parse, withCell } from "../src/fragment.js";

/** @type {[string, Partial<import("../src/fragment.js").State>][]} */
const TABLE = [
  ["", {}],
  ["cell=triage-zero_shot%40q", { cell: "triage-zero_shot@q" }],
  ["chips=wrong%2Cworse", { chips: ["wrong", "worse"] }],
  ["gold=&answer=", { gold: "", answer: "" }],
  ["q=a%26b%3Dc%23&texts=1", { q: "a&b=c#", texts: true }],
  ["row=J-104&trial=3", { row: "J-104", trial: 3 }],
  ["columns=a%2Cb%252Cc%2Cd%2525", { columns: ["a", "b,c", "d%"] }],
  ["base=none&theme=dark&keys=off", { base: "none", theme: "dark", keys: false }],
  ["cell=%C3%A4+%F0%9F%92%A1+%3Cb%3E", { cell: "\u00e4 \u{1f4a1} <b>" }],
];
for (const [fragment, state] of TABLE) {
  test(`the state of '${fragment}' is read and written`, () => {
    assert.deepEqual(parse(`#${fragment}`), { ...initial(), gold: undefined, answer: undefined, ...state });
    assert.equal(format({ ...initial(), ...state }), fragment);
  });
}

test("commas may be written as they are", () => assert.deepEqual(parse("#chips=wrong,worse&columns=a,b").columns, ["a", "b"]));

test("nonsense becomes the default", () => {
  const { theme, trial } = parse("#theme=pink&trial=-4&x=y&%&cell");
  assert.deepEqual([theme, trial], ["auto", 1]);
});

test("another cell keeps theme and keys alone", () => {
  const state = parse("#cell=a&chips=wrong&row=J-1&q=x&theme=dark&keys=off");
  assert.equal(format(withCell(state, "b")), "cell=b&theme=dark&keys=off");
});
