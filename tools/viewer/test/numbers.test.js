// @ts-check
import assert from "node:assert/strict";
import test from "node:test";

import { count, interval, number, percent, pValue, signed } from "../src/format.js";
import { pressed } from "../src/keys.js";
import { key, sorted } from "../src/order.js";

// As Python's `f"{value:.2f}" if 1 <= abs(value) < 1000 else f"{value:.3g}"` prints them.
for (const [value, text] of /** @type {[number | null, string][]} */ ([
  [null, "-"],
  [Number.NaN, "-"],
  [0, "0"],
  [0.72, "0.72"],
  [0.02275, "0.0227"],
  [0.1125, "0.113"],
  [0.0625, "0.0625"],
  [0.00001234, "1.23e-05"],
  [0.0001234, "0.000123"],
  [1.125, "1.12"],
  [1.375, "1.38"],
  [2.5, "2.50"],
  [-3.14159, "-3.14"],
  [999.994, "999.99"],
  [1234, "1.23e+03"],
  [0.99951, "1"],
  [1e-300, "1e-300"],
])) {
  test(`${value} is ${text}`, () => assert.equal(number(value), text));
}

test("changes have a sign, shares a per cent, counts commas", () => {
  assert.deepEqual([signed(0.02), signed(-0.02), signed(0), signed(null)], ["+0.02", "-0.02", "0", "-"]);
  assert.deepEqual([percent(0.125), percent(1), percent(null)], ["12 %", "100 %", "-"]);
  assert.deepEqual([count(7), count(31240), count(1234567)], ["7", "31,240", "1,234,567"]);
  assert.deepEqual([pValue(0.0004), pValue(0.0415), pValue(null)], ["under 0.001", "0.042", "-"]);
  assert.deepEqual([interval({ low: 0.41, high: 0.52 }), interval({ low: null, high: null })], ["[0.41, 0.52]", ""]);
});

test("rows sort by number, then by text; empty ones are last in both directions", () => {
  const keys = ["0.72*", "-", "1,200", "b10", "b9", "82%", "", "\u22125"].map(key);
  assert.deepEqual(["[0.05, 0.7]", "\u25b2 +0.02", "1.2e-05", "4b", "v1.2"].map(key), [0.05, 0.02, 0.000012, "4b", "v1.2"]);
  assert.deepEqual(sorted(keys, false), [7, 0, 5, 2, 4, 3, 1, 6]);
  assert.deepEqual(sorted(keys, true), [2, 5, 0, 7, 3, 4, 1, 6]);
});

test("equal rows keep their order", () => assert.deepEqual(sorted([1, 1, 0, 1], true), [0, 1, 3, 2]));

test("a key has a command; g waits for a second key", () => {
  assert.deepEqual(pressed("j", ""), { command: "next", pending: "" });
  assert.deepEqual(pressed("g", ""), { command: null, pending: "g" });
  assert.deepEqual(pressed("s", "g"), { command: "summary", pending: "" });
  assert.deepEqual(pressed("x", "g"), { command: null, pending: "" });
  assert.deepEqual(pressed("Shift", ""), { command: null, pending: "" });
});
