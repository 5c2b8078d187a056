// @ts-check
/** Search in the texts of a scenario: own parts of prompts and replies of all its cells. */

/** @typedef {import("./contract").Texts} Texts */

/**
 * Rows with the words in a prompt or reply.
 * @param {string} query @param {string[]} pieces @param {Texts[]} cells
 * @returns {Set<number>}
 */
export function hits(query, pieces, cells) {
  const words = query.trim().toLowerCase();
  /** @param {string | undefined} text */
  const holds = (text) => text !== undefined && text.toLowerCase().includes(words);
  const found = new Set(pieces.flatMap((piece, place) => (holds(piece) ? [place] : [])));
  const rows = new Set();
  for (const cell of cells) {
    cell.rows.forEach((reply, row) => {
      if (!reply || rows.has(row)) return;
      const asked = reply.prompts.some((parts) => parts?.some(([, piece]) => found.has(piece)));
      if (asked || reply.replies.some(holds) || holds(reply.reply)) rows.add(row);
    });
  }
  return rows;
}
