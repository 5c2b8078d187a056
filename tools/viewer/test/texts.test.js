// @ts-check
import assert from "node:assert/strict";
import test from "node:test";

import { brief, pieces } from "../src/glyphs.js";
import { ownText, turns } from "../src/prompts.js";
import { hits } from "../src/search.js";
import { differences } from "../src/words.js";

/** @param {string} text */
const visible = (text) => pieces(text).map((piece) => (piece.hidden ? `{${piece.text}}` : piece.text)).join("");

for (const [text, expected] of /** @type {[string, string][]} */ ([
  ["", ""],
  ["plain <b> & text\n\tnext", "plain <b> & text\n\tnext"],
  ["a\x00b\x1b[2Jc\x7f\r", "a{\u2400}b{\u241b}[2Jc{\u2421\u240d}"],
  ["\x85", "{[U+0085]}"],
  ["pay\u202egnp.exe", "pay{[U+202E]}gnp.exe"],
  ["zero\u200bwidth\ufeff", "zero{[U+200B]}width{[U+FEFF]}"],
  ["lines\u2028and\u2029paragraphs", "lines{[U+2028]}and{[U+2029]}paragraphs"],
  ["half \ud800 of a pair", "half {[U+D800]} of a pair"],
  ["fillers \u3164\u115f", "fillers {[U+3164][U+115F]}"],
  ["tags \u{e0041}", "tags {[U+E0041]}"],
  ["\u{1f469}\u200d\u{1f4bb} \u2764\ufe0f", "\u{1f469}\u200d\u{1f4bb} \u2764\ufe0f"],
  ["\u200b".repeat(1000), `{${"[U+200B]".repeat(8)}\u2026\u00d71000}`],
])) {
  test(`hidden characters of ${JSON.stringify(text).slice(0, 40)}`, () => assert.equal(visible(text), expected));
}

test("a brief text is one line that ends with an ellipsis where it is cut", () => {
  assert.equal(brief(" a\n b\t c "), "a b c");
  assert.equal(brief("word ".repeat(40), 12), "word word w\u2026");
  assert.equal(brief("\u{1f4a1}".repeat(40), 4), "\u{1f4a1}\u2026");
  assert.equal(brief(" ".repeat(5000) + "x", 4), "\u2026");
});

const SHARED = { start: [[["system", "S"], ["user", "Issue: "]]], end: ["?"] };

test("a prompt is joined: shared beginning, own piece, shared end", () => {
  assert.deepEqual(turns([[[null, 1]]], /** @type {any} */ (SHARED), ["x", "y"]), [
    [
      { role: "system", stretches: [{ text: "S", own: false }] },
      { role: "user", stretches: [{ text: "Issue: ", own: false }, { text: "y", own: true }, { text: "?", own: false }] },
    ],
  ]);
});

test("further pieces are messages of their own; a turn may repeat its prompt", () => {
  const parts = /** @type {any} */ ([[[null, 0], ["assistant", 1]], null]);
  const [first, second] = turns(parts, /** @type {any} */ (SHARED), ["x", "y"]);
  assert.deepEqual(first?.map(({ role, stretches }) => [role, stretches.map(({ text }) => text).join("")]), [["system", "S"], ["user", "Issue: x"], ["assistant", "y?"]]);
  assert.equal(second, null);
  assert.equal(ownText(parts, ["x", "y"]), "x\ny");
});

test("a repeated prompt is no turn of its own", () => {
  const shared = { start: [[["user", "one "]], [["user", "two "]]], end: ["", "!"] };
  const [, , third] = turns([[[null, 0]], null, [[null, 1]]], /** @type {any} */ (shared), ["x", "y"]);
  assert.deepEqual(third?.[0].stretches.map(({ text }) => text), ["two ", "y", "!"]);
});

test("a prompt without shared parts is its own messages", () => {
  const messages = turns([[["user", 0]]], { start: [], end: [] }, ["x"]);
  assert.deepEqual(messages, [[{ role: "user", stretches: [{ text: "x", own: true }] }]]);
});

test("a search finds words of prompts and replies of any cell", () => {
  const reply = { replies: ["Nothing here"], prompts: [[[null, 0]]] };
  const cells = /** @type {any[]} */ ([
    { rows: [reply, null, { ...reply, prompts: [[[null, 1]]] }] },
    { rows: [null, { replies: ["one", "a NEEDLE"], prompts: [null] }, null, { replies: [], reply: "needle", prompts: [] }] },
  ]);
  assert.deepEqual([...hits(" Needle ", ["hay", "the needle"], cells)].sort(), [1, 2, 3]);
});

test("word differences keep both texts", () => {
  const [base, text] = ["the server returns an error today", "the server sent an error  today"];
  const all = differences(base, text) ?? [];
  assert.equal(all.filter(({ kind }) => kind !== "added").map((each) => each.text).join(""), base);
  assert.equal(all.filter(({ kind }) => kind !== "removed").map((each) => each.text).join(""), text);
});

test("texts with hardly a word in common are not compared, nor are enormous changes", () => {
  assert.equal(differences("Blocker", "Let me think about the whole issue first. Minor"), null);
  const long = (/** @type {string} */ word) => Array.from({ length: 20_000 }, (_, place) => `${word}${place}`).join(" ");
  assert.equal(differences(long("a"), long("b")), null);
});
