// @ts-check
/** Single keys and what they do. */

/** @typedef {{ keys: string, command: string, title: string }} Key */

/** @type {Key[]} `keys`: one key, or two pressed one after the other */
export const KEYS = [
  { keys: "j", command: "next", title: "next sample" },
  { keys: "k", command: "previous", title: "previous sample" },
  { keys: "n", command: "nextFlip", title: "next flip" },
  { keys: "p", command: "previousFlip", title: "previous flip" },
  { keys: "o", command: "open", title: "open or close the sample" },
  { keys: "w", command: "wrong", title: "filter: wrong" },
  { keys: "u", command: "failed", title: "filter: parse failures" },
  { keys: "f", command: "worse", title: "filter: flips worse" },
  { keys: "d", command: "differ", title: "filter: answers of the cells differ" },
  { keys: "/", command: "search", title: "search" },
  { keys: "g s", command: "summary", title: "go to the summary" },
  { keys: "g m", command: "models", title: "go to strategy × model" },
  { keys: "g c", command: "cell", title: "go to the cell" },
  { keys: "g l", command: "samples", title: "go to the list of samples" },
  { keys: "?", command: "help", title: "this list" },
];
const FIELDS = new Set(["INPUT", "SELECT", "TEXTAREA"]);

/**
 * The command of a pressed key, and the keys that are pending after it.
 * @param {string} key @param {string} pending
 * @returns {{ command: string | null, pending: string }}
 */
export function pressed(key, pending) {
  const keys = pending ? `${pending} ${key}` : key;
  const found = KEYS.find((each) => each.keys === keys);
  if (found) return { command: found.command, pending: "" };
  return { command: null, pending: KEYS.some((each) => each.keys.startsWith(`${keys} `)) ? keys : "" };
}

/** Whether a key is meant for a field or the browser. @param {KeyboardEvent} event */
export function isForeign({ target, ctrlKey, altKey, metaKey }) {
  const element = /** @type {HTMLElement | null} */ (target);
  return ctrlKey || altKey || metaKey || FIELDS.has(element?.tagName ?? "") || element?.isContentEditable === true;
}
