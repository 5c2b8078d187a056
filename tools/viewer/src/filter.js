// @ts-check
/** Which rows of a cell the list shows: all chips and selects hold at once. */

import * as flags from "./flags.js";
import { golds } from "./rows.js";

/** @typedef {import("./contract").Answers} Answers */
/** @typedef {import("./contract").Rows} Rows */

/**
 * A chip. `meets`: whether a row, which has this flag, passes it.
 * @typedef {{ name: string, key: string, title: string, off?: string, meets: (flag: number, subject: Subject, row: number) => boolean }} Chip
 */

/** @param {number} bits @returns {(flag: number) => boolean} */
const has = (bits) => (flag) => (flag & bits) !== 0;

/** @type {Chip[]} `off`: the title in a regression, where nothing but the exact number is right. */
export const CHIPS = [
  { name: "wrong", key: "w", title: "wrong", off: "off", meets: flags.isWrong },
  { name: "failed", key: "u", title: "parse failures", meets: has(flags.PARSE_FAILURE) },
  { name: "worse", key: "f", title: "flips worse", meets: has(flags.WORSE) },
  { name: "better", key: "", title: "flips better", meets: has(flags.BETTER) },
  { name: "differ", key: "d", title: "differ", meets: (flag, subject, row) => has(flags.DIFFERS)(flag) && differsHere(subject, row) },
  { name: "overflow", key: "", title: "overflow", meets: has(flags.OVERFLOW) },
  { name: "sure", key: "", title: "sure and wrong", meets: has(flags.SURE_AND_WRONG) },
  { name: "turned", key: "", title: "changed by the perturbation", meets: (_, subject, row) => isTurned(subject, row) },
];

/**
 * What the list is filtered by. `answer`: "" for no answer. `hits`: rows whose texts hold the searched words.
 * @typedef {{ chips: string[], gold?: string, answer?: string, query: string, hits?: Set<number> | null }} Filter
 */

/**
 * Answers of a cell. `before`: those without its perturbation, null if it has none.
 * @typedef {{ flags: Uint16Array, answers: Answers, before: { flags: Uint16Array, answers: Answers } | null }} Column
 * @typedef {Column & { rows: Rows, beside?: Column[] | null }} Subject the cell that is filtered; `beside`: the columns shown beside it, null if all are
 */

/** Rows that pass, in their order. @param {Subject} subject @param {Filter} filter @returns {number[]} */
export function passing(subject, filter) {
  const chips = CHIPS.filter((chip) => filter.chips.includes(chip.name));
  const query = filter.query.trim().toLowerCase();
  const passed = [];
  for (let row = 0; row < subject.flags.length; row++) {
    const flag = subject.flags[row];
    if (!(flag & flags.PRESENT)) continue;
    if (chips.length && !chips.every((chip) => chip.meets(flag, subject, row))) continue;
    if (filter.gold !== undefined && subject.rows.gold[row] !== filter.gold) continue;
    if (filter.answer !== undefined && (answerOf(subject.answers, row) ?? "") !== filter.answer) continue;
    if (query && !names(subject, row, query) && !filter.hits?.has(row)) continue;
    passed.push(row);
  }
  return passed;
}

/** The number of rows that each chip alone would show, and of all. @param {Subject} subject @returns {Record<string, number>} */
export function counts(subject) {
  /** @param {string[]} chips */
  const amount = (chips) => passing(subject, { chips, query: "" }).length;
  return { all: amount([]), ...Object.fromEntries(CHIPS.map(({ name }) => [name, amount([name])])) };
}

/** Whether the perturbation changed the answer. @param {Column} column @param {number} row */
export function isTurned({ flags: all, answers, before }, row) {
  const both = before && all[row] & before.flags[row] & flags.PRESENT;
  return Boolean(both) && before !== null && answerOf(before.answers, row) !== answerOf(answers, row);
}

/** Whether the shown columns have different answers in a row in which some cells of the scenario have. @param {Subject} subject @param {number} row */
function differsHere({ answers, beside }, row) {
  // Without texts all free answers have the same empty name: then it is not known which of them differ.
  if (!beside || answers.table.join("") === "") return true;
  const answer = answerOf(answers, row);
  return beside.some((column) => column.flags[row] & flags.PRESENT && answerOf(column.answers, row) !== answer);
}

/** The answer of a row, null if there is none. @param {Answers} answers @param {number} row */
export function answerOf(answers, row) {
  const place = answers.answers[row];
  return place === null || place === undefined ? null : answers.table[place];
}

/** Whether id, ground truths or answer hold the words. @param {Subject} subject @param {number} row @param {string} query */
function names({ rows, answers }, row, query) {
  return [rows.ids[row], ...golds(rows, row), answerOf(answers, row) ?? ""].some((text) => text.toLowerCase().includes(query));
}
