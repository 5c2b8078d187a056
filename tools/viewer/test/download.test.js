// @ts-check
import assert from "node:assert/strict";
import test from "node:test";

import { csv, lines, size } from "../src/download.js";
import { BETTER, PARSE_FAILURE, PRESENT, RIGHT, WORSE } from "../src/flags.js";

/** @type {any} */
const ROWS = { ids: ["a", "b", "c"], trials: null, gold: ["x", "y", "z"], references: [["x", "X"], [], []], choices: null, groups: null };
/** @type {any} */
const COLUMN = {
  flags: Uint16Array.of(PRESENT | RIGHT | BETTER, PRESENT | PARSE_FAILURE | WORSE, 0),
  answers: { table: ["x", "y"], answers: [0, null, null], old: { 0: null, 1: 1 }, top: [0.75, null], scores: {} },
  before: null,
};
/** @type {any} */
const TEXTS = { rows: [{ replies: ["First.", "x"], prompts: [[[null, 1]]] }, { replies: [""], prompts: [] }] };

test("a file has a line for each listed sample that the cell has, with its text and its reply", () => {
  assert.deepEqual(lines(ROWS, [0, 1, 2], [{ cell: "t-a@q", column: COLUMN, texts: TEXTS }], ["", "own text"]), [
    { cell: "t-a@q", sample: "a", trial: 1, gold: "x | X", answer: "x", standing: "right", probability: 0.75, flip: "better", was: null, text: "own text", reply: "First.\nx" },
    { cell: "t-a@q", sample: "b", trial: 1, gold: "y", answer: null, standing: "failed", probability: null, flip: "worse", was: "y", text: "", reply: "" },
  ]);
  assert.equal(size([0, 1, 2], [{ column: COLUMN }, { column: COLUMN }]), 4);
  assert.deepEqual(lines(ROWS, [1], [{ cell: "t-a@q", column: COLUMN, texts: null }], []).map(({ text, reply }) => [text, reply]), [[null, null]]);
});

test("a cell of CSV is quoted where it must be, and no spreadsheet evaluates it", () => {
  /** @type {[string | number | null, string][]} */
  const cells = [
    ["plain", "plain"], [null, ""], [-0.5, "-0.5"], ["-0.5", "-0.5"], ["a,b", '"a,b"'], ['say "x"', '"say ""x"""'], ["a\nb", '"a\nb"'],
    ["=1+1", "'=1+1"], [" @x", "' @x"], ["\uff1dA1", "'\uff1dA1"], ["-x,y", '"\'-x,y"'],
  ];
  assert.equal(csv(cells.map(([value]) => ({ value }))), `value\n${cells.map(([, text]) => `${text}\n`).join("")}`);
  assert.equal(csv([]), "\n");
});
