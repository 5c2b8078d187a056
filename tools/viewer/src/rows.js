// @ts-check
/** How a row of a scenario is named and found. */

/** @typedef {import("./contract").Rows} Rows */

/** The id of a sample, with the number of the trial if samples have several. @param {Rows} rows @param {number} row */
export function named({ ids, trials }, row) {
  return trials ? `${ids[row]} #${trials[row] + 1}` : ids[row];
}

/** All ground truths of a sample. @param {Rows} rows @param {number} row */
export function golds({ gold, references }, row) {
  return references?.[row]?.length ? references[row] : [gold[row]];
}

/** Place of a row, -1 if there is none. @param {Rows} rows @param {string} id @param {number} trial from 1 */
export function find({ ids, trials }, id, trial) {
  return ids.findIndex((other, row) => other === id && (trials?.[row] ?? 0) === trial - 1);
}
