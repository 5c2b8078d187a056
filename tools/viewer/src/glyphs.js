// @ts-check
/**
 * Text of a model as pieces: what is printed as it is, and characters that hide, reorder or move text, by name.
 * The same characters as in pytest_puma/report/escape.py, and all others that Unicode calls ignorable.
 */

/** Controls, formats, lone surrogates, separators of lines and paragraphs, fillers; not line feed and tab. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;
/** Joiners, which writing systems need, and the two presentations of emoji. */
const NEEDED = "\n\t\u200c\u200d\ufe0e\ufe0f";
/** Names in a run of hidden characters; a longer run is counted. */
const MAX_NAMES = 8;

/** @typedef {{ text: string, hidden: boolean }} Piece */

/** @param {string} text @returns {Piece[]} */
export function pieces(text) {
  /** @type {Piece[]} */
  const all = [];
  let start = 0;
  for (const match of text.matchAll(HIDDEN)) {
    append(all, text.slice(start, match.index), false);
    for (const run of runs(match[0])) append(all, run.text, run.hidden);
    start = match.index + match[0].length;
  }
  append(all, text.slice(start), false);
  return all;
}

/** Text in one line of a list. @param {string} text @param {number} [maximum] characters */
export function brief(text, maximum = 80) {
  const flat = text.slice(0, 4 * maximum).replace(/\s+/gu, " ").trim();
  const cut = flat.length > maximum || text.length > 4 * maximum;
  return cut ? `${whole(flat.slice(0, maximum - 1)).trimEnd()}\u2026` : flat;
}

/** Text without half of a character at its end. @param {string} text */
export function whole(text) {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

/** @param {Piece[]} all @param {string} text @param {boolean} hidden */
function append(all, text, hidden) {
  const last = all.at(-1);
  if (!text) return;
  if (!hidden && last && !last.hidden) last.text += text;
  else all.push({ text: hidden ? named(text) : text, hidden });
}

/** Needed and hidden characters of a match, apart. @param {string} match @returns {Piece[]} */
function runs(match) {
  /** @type {Piece[]} */
  const all = [];
  for (const character of match) {
    const hidden = !NEEDED.includes(character);
    const last = all.at(-1);
    if (last && last.hidden === hidden) last.text += character;
    else all.push({ text: character, hidden });
  }
  return all;
}

/** @param {string} run */
function named(run) {
  const characters = [...run];
  const names = characters.slice(0, MAX_NAMES).map(glyph).join("");
  return characters.length > MAX_NAMES ? `${names}\u2026\u00d7${characters.length}` : names;
}

/** The picture of a control character, the code of any other: `\u241b`, `[U+202E]`. @param {string} character */
function glyph(character) {
  const code = /** @type {number} */ (character.codePointAt(0));
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
}
