// @ts-check
/** The listed samples as a file, made in the browser: a line for each sample and shown cell. */

import { useMemo, useState } from "preact/hooks";

import { answerOf } from "./filter.js";
import * as flags from "./flags.js";
import { count } from "./format.js";
import { html } from "./html.js";
import { ownText } from "./prompts.js";
import { golds } from "./rows.js";
import { Text } from "./text.js";

/** The beginning of a formula in a spreadsheet, and text that looks like one but is a number; as in CSV reports. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const MAX_NAME = 100;
/** Cells beyond which their number stands for their names. */
const MAX_NAMED = 2;
/** Time that a browser may take to read the file. */
const SAVED_MS = 60_000;

/** @typedef {{ cell: string, column: import("./filter").Column, texts: import("./contract").Texts | null }} Shown a column of the list */
/** @typedef {Record<string, string | number | null>} Line */

/** The number of lines that a file has: some cells lack samples. @param {number[]} listed @param {Pick<Shown, "column">[]} cells */
export function size(listed, cells) {
  return cells.reduce((sum, { column }) => sum + listed.filter((row) => flags.standing(column.flags[row]) !== "absent").length, 0);
}

/** @param {import("./contract").Rows} rows @param {number[]} listed @param {Shown[]} cells @param {string[]} pieces @returns {Line[]} */
export function lines(rows, listed, cells, pieces) {
  return listed.flatMap((row) => cells.flatMap(({ cell, column, texts }) => {
    const standing = flags.standing(column.flags[row]);
    if (standing === "absent") return [];
    const reply = texts?.rows[row];
    return [{
      cell,
      sample: rows.ids[row],
      trial: (rows.trials?.[row] ?? 0) + 1,
      gold: golds(rows, row).join(" | "),
      answer: answerOf(column.answers, row),
      standing,
      probability: column.answers.top?.[row] ?? null,
      ...flip(column, row),
      text: reply ? ownText(reply.prompts, pieces) : null,
      reply: reply ? reply.replies.join("\n") : null,
    }];
  }));
}

/** @param {import("./filter").Column} column @param {number} row */
function flip({ flags: all, answers }, row) {
  const old = answers.old[row];
  const direction = all[row] & flags.WORSE ? "worse" : all[row] & flags.BETTER ? "better" : null;
  return { flip: direction, was: typeof old === "number" ? answers.table[old] : null };
}

/** @param {Line[]} all */
export function csv(all) {
  const head = Object.keys(all[0] ?? {});
  return [head, ...all.map((line) => head.map((name) => line[name]))].map((cells) => `${cells.map(quoted).join(",")}\n`).join("");
}

/** @param {string | number | null} value */
function quoted(value) {
  const text = String(value ?? "");
  const safe = typeof value === "string" && FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const FORMATS = {
  CSV: { type: "text/csv", write: csv },
  JSON: { type: "application/json", write: (/** @type {Line[]} */ all) => `${JSON.stringify(all, null, 1)}\n` },
};

/**
 * @param {{ report: import("./report").Report, place: number, rows: import("./contract").Rows, listed: number[], columns: number[] }} props
 * `columns`: places of the shown cells
 */
export function Download({ report, place, rows, listed, columns }) {
  const [failure, fail] = useState(/** @type {unknown} */ (null));
  if (failure) throw failure;
  const { blocks } = report;
  const lineCount = useMemo(() => size(listed, columns.map((cell) => ({ column: report.column(cell) }))), [listed, columns]);
  const names = columns.map((cell) => report.name(cell, columns));
  const subject = columns.length > 1 ? report.scenario(place).name : report.cell(place).id;
  /** @param {keyof typeof FORMATS} format */
  const save = async (format) => {
    const pieces = `s${report.cell(place).scenario}`;
    await blocks.load(report.existing([pieces, ...columns.map((cell) => `t${cell}`)]));
    const cells = columns.map((cell) => ({ cell: report.cell(cell).id, column: report.column(cell), texts: blocks.get(`t${cell}`) ?? null }));
    const { type, write } = FORMATS[format];
    const name = subject.replaceAll(/[^\w.+@-]/g, "_").slice(0, MAX_NAME);
    offer(`${name}.${format.toLowerCase()}`, type, write(lines(rows, listed, cells, blocks.get(pieces)?.pieces ?? [])));
  };
  return html`
    <span class="downloads">download${" "}
      ${Object.keys(FORMATS).map((format) => html`
        <button type="button" disabled=${!listed.length} onClick=${() => save(/** @type {keyof typeof FORMATS} */ (format)).catch(fail)}>${format}</button>${" "}
      `)}
      <span class="note">${count(lineCount)} ${lineCount === 1 ? "line" : "lines"}: ${count(listed.length)} ${listed.length === 1 ? "sample" : "samples"} of ${
        names.length > MAX_NAMED ? `${names.length} cells` : names.map((name, index) => html`${index > 0 && " and "}<${Text} text=${name} />`)
      }</span>
    </span>
  `;
}

/** Let the browser save a text. An address of the text itself would be too long for some browsers. @param {string} name @param {string} type @param {string} text */
function offer(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MS);
}
