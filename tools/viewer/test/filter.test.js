// @ts-check
import assert from "node:assert/strict";
import test from "node:test";

import { counts, passing } from "../src/filter.js";
import * as flags from "../src/flags.js";

const { PRESENT, RIGHT, PARSE_FAILURE, OVERFLOW, WORSE, BETTER, DIFFERS, SURE_AND_WRONG, UNSCORED } = flags;

/** Six rows; the last one is absent. */
const SUBJECT = {
  flags: Uint16Array.of(PRESENT | RIGHT, PRESENT | WORSE | DIFFERS, PRESENT | PARSE_FAILURE, PRESENT | RIGHT | BETTER | OVERFLOW, PRESENT | SURE_AND_WRONG, 0),
  rows: { ids: ["J-1", "J-2", "J-3", "J-4", "J-5", "J-6"], gold: ["a", "b", "a", "c", "a", "a"], references: null, trials: null, choices: null, groups: null },
  answers: { table: ["a", "b", "c", "Other"], answers: [0, 3, null, 2, 1, null], old: {}, top: null, scores: {} },
  before: {
    flags: Uint16Array.of(PRESENT, PRESENT, PRESENT, PRESENT, PRESENT, PRESENT),
    answers: { table: ["x", "a", "b", "c"], answers: [1, 2, null, 3, 3, 0], old: {}, top: null, scores: {} },
  },
};

/** @type {[string, Partial<import("../src/filter.js").Filter>, number[]][]} */
const TABLE = [
  ["no filter: all that the cell has", {}, [0, 1, 2, 3, 4]],
  ["wrong: also parse failures", { chips: ["wrong"] }, [1, 2, 4]],
  ["failed", { chips: ["failed"] }, [2]],
  ["worse", { chips: ["worse"] }, [1]],
  ["better", { chips: ["better"] }, [3]],
  ["differ", { chips: ["differ"] }, [1]],
  ["overflow", { chips: ["overflow"] }, [3]],
  ["sure", { chips: ["sure"] }, [4]],
  ["turned: answers unlike those without the perturbation", { chips: ["turned"] }, [1, 4]],
  ["chips hold at once", { chips: ["wrong", "differ"] }, [1]],
  ["chips that exclude each other", { chips: ["failed", "sure"] }, []],
  ["an unknown chip filters nothing", { chips: ["nonsense"] }, [0, 1, 2, 3, 4]],
  ["gold", { gold: "a" }, [0, 2, 4]],
  ["answer", { answer: "c" }, [3]],
  ["no answer", { answer: "" }, [2]],
  ["gold and chips", { gold: "a", chips: ["wrong"] }, [2, 4]],
  ["search in ids", { query: "j-3" }, [2]],
  ["search in answers, in any case", { query: " OTHER " }, [1]],
  ["search in golds", { query: "c" }, [3]],
  ["search in texts", { query: "nowhere", hits: new Set([0, 5]) }, [0]],
];
for (const [name, filter, expected] of TABLE) {
  test(name, () => assert.deepEqual(passing(SUBJECT, { chips: [], query: "", ...filter }), expected));
}

test("the number on a chip is the number of rows that it shows", () => {
  assert.deepEqual(counts(SUBJECT), { all: 5, wrong: 3, failed: 1, worse: 1, better: 1, differ: 1, overflow: 1, sure: 1, turned: 2 });
});

test("answers differ among the shown columns alone", () => {
  /** @param {(number | null)[]} answers */
  const column = (answers) => ({ flags: Uint16Array.of(...answers.map(() => PRESENT)), answers: { ...SUBJECT.answers, answers }, before: null });
  const own = { ...SUBJECT, flags: Uint16Array.of(...Array(5).fill(PRESENT | DIFFERS), 0) };
  /** @param {import("../src/filter.js").Column[] | null} beside */
  const amount = (beside) => counts({ ...own, beside }).differ;
  assert.equal(amount(null), 5);
  assert.equal(amount([column([0, 3, null, 2, 1, null])]), 0);
  assert.equal(amount([column([0, 3, null, 2, 1, null]), column([1, 3, 0, 2, 1, null])]), 2);
  assert.equal(amount([{ ...column([1, 1, 1, 1, 1, 1]), flags: new Uint16Array(6) }]), 0);
  assert.equal(counts({ ...own, answers: { ...SUBJECT.answers, table: [""] }, beside: [column([])] }).differ, 5);
});

test("a cell without perturbation has no changed answers", () => {
  assert.equal(counts({ ...SUBJECT, before: null }).turned, 0);
});

test("an answer that the metric does not apply to is neither right nor wrong", () => {
  assert.equal(flags.isWrong(PRESENT | UNSCORED), false);
  assert.equal(flags.isWrong(PRESENT | PARSE_FAILURE), true);
});

test("all references are searched", () => {
  const rows = { ...SUBJECT.rows, references: [["a", "alpha"], [], [], [], [], []] };
  assert.deepEqual(passing({ ...SUBJECT, rows }, { chips: [], query: "alpha" }), [0]);
});

test("flags are ordered by cell, then by row", () => {
  assert.deepEqual(flags.byCell(Uint16Array.of(1, 2, 3, 4, 5), [2, 0, 3]).map((each) => [...each]), [[1, 2], [], [3, 4, 5]]);
});

for (const [flag, expected] of /** @type {[number, string][]} */ ([
  [0, "absent"],
  [PRESENT, "wrong"],
  [PRESENT | RIGHT, "right"],
  [PRESENT | PARSE_FAILURE, "failed"],
  [PRESENT | UNSCORED, "unscored"],
])) {
  test(`flag ${flag} is ${expected}`, () => assert.equal(flags.standing(flag), expected));
}
