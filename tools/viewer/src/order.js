// @ts-check
/** The order of the summary's rows by a column. */

/** Numbers by size, then texts by letters, then what is empty, in both directions. */

/** A number at the beginning: `0.72*`, `1,200`, `82%`, `[0.56, 0.7]`, `\u25b2 +0.02`. */
const NUMBER = /^[[\u25b2\u25bc\s]*([-+\u2212]?[\d,]*\.?\d+(?:e[-+]\d+)?)(?=[\s,\]*%]|$)/;

/** @param {string} text of a table cell @returns {number | string | null} */
export function key(text) {
  const plain = text.trim();
  if (plain === "" || plain === "-") return null;
  const read = plain.match(NUMBER)?.[1].replaceAll(",", "").replace("\u2212", "-");
  return read === undefined ? plain : Number(read);
}

/** @param {(number | string | null)[]} keys @param {boolean} descending @returns {number[]} places in the new order; equal keys keep theirs */
export function sorted(keys, descending) {
  const sign = descending ? -1 : 1;
  return keys.map((_, place) => place).sort((one, other) => compared(keys[one], keys[other], sign) || one - other);
}

/** @param {number | string | null} one @param {number | string | null} other @param {number} sign */
function compared(one, other, sign) {
  const [first, second] = [rank(one), rank(other)];
  if (first !== second) return first - second;
  if (typeof one === "number" && typeof other === "number") return sign * (one - other);
  return sign * String(one ?? "").localeCompare(String(other ?? ""), "en", { numeric: true });
}

/** @param {number | string | null} value */
function rank(value) {
  return value === null ? 2 : typeof value === "string" ? 1 : 0;
}
