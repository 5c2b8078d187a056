// @ts-check
/** Word differences of two texts. */

import { diffWordsWithSpace } from "diff";

/** Changes beyond which a comparison says nothing, and takes long. */
const MAX_CHANGES = 1500;
const MAX_MILLISECONDS = 300;

/** Share of the longer text below which a comparison hides both: an answer beside a long explanation. */
const MIN_SHARED = 0.25;

/** @typedef {{ text: string, kind: "same" | "added" | "removed" }} Stretch */

/**
 * The stretches of `text` beside those of `base`; null if the texts differ too much.
 * @param {string} base @param {string} text @returns {Stretch[] | null}
 */
export function differences(base, text) {
  const options = { maxEditLength: MAX_CHANGES, timeout: MAX_MILLISECONDS };
  const changes = diffWordsWithSpace(base, text, options);
  if (!changes) return null;
  const same = changes.reduce((sum, { value, added, removed }) => sum + (added || removed ? 0 : value.length), 0);
  if (same < MIN_SHARED * Math.max(base.length, text.length)) return null;
  return changes.map(({ value, added, removed }) => ({ text: value, kind: added ? "added" : removed ? "removed" : "same" }));
}
