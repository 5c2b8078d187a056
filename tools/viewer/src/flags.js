// @ts-check
/** One 16-bit number for each cell and row: what is known about an answer without inflating its text. */

export const PRESENT = 1 << 0;
export const RIGHT = 1 << 1;
export const PARSE_FAILURE = 1 << 2;
export const OVERFLOW = 1 << 3;
export const WORSE = 1 << 4;
export const BETTER = 1 << 5;
export const LEFT_OUT = 1 << 6;
export const SHORTENED = 1 << 7;
export const DIFFERS = 1 << 8;
export const SURE_AND_WRONG = 1 << 9;
/** The metric does not apply to the answer: it is neither right nor wrong. */
export const UNSCORED = 1 << 10;

/** @typedef {"right" | "wrong" | "failed" | "unscored" | "absent"} Standing */

/** @param {number} flag @returns {Standing} */
export function standing(flag) {
  if (!(flag & PRESENT)) return "absent";
  if (flag & PARSE_FAILURE) return "failed";
  if (flag & UNSCORED) return "unscored";
  return flag & RIGHT ? "right" : "wrong";
}

/** Whether an answer is wrong; a parse failure is. @param {number} flag */
export function isWrong(flag) {
  return (flag & (PRESENT | RIGHT | UNSCORED)) === PRESENT;
}

/**
 * The flags of each cell: views into all flags, which are ordered by cell, then by row.
 * @param {Uint16Array} all
 * @param {number[]} rows the number of rows of each cell
 * @returns {Uint16Array[]}
 */
export function byCell(all, rows) {
  let start = 0;
  return rows.map((length) => all.subarray(start, (start += length)));
}
