// @ts-check
/** Numbers in the form that the terminal gives them, so that page and terminal show the same digits. */

/** @typedef {import("./contract").Value} Value */

/** Digits beyond those shown, enough to tell a tie from a number near it. */
const EXACT = 40;

/** Three significant digits, as Python's `.2f` or `.3g`. @param {Value} value */
export function number(value) {
  if (value === null || Number.isNaN(value)) return "-";
  const size = Math.abs(value);
  return size >= 1 && size < 1000 ? fixed(value, 2) : general(value);
}

/** A change: `+0.02`. @param {Value} value */
export function signed(value) {
  return value !== null && value > 0 ? `+${number(value)}` : number(value);
}

/** `[0.41, 0.52]`, empty if there is no interval. @param {{ low: Value, high: Value }} measure */
export function interval({ low, high }) {
  return low === null || high === null ? "" : `[${number(low)}, ${number(high)}]`;
}

/** A share: `82 %`. @param {Value} share */
export function percent(share) {
  return share === null ? "-" : `${fixed(100 * share, 0)} %`;
}

/** A probability with two decimals. @param {Value} value */
export function probability(value) {
  return value === null ? "-" : fixed(value, 2);
}

/** A p-value with three decimals. @param {Value} value */
export function pValue(value) {
  if (value === null) return "-";
  return value < 0.001 ? "under 0.001" : fixed(value, 3);
}

/** Thousands separated by commas. @param {number} count */
export function count(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** @param {number} value @param {number} digits */
function fixed(value, digits) {
  return evenly(value.toFixed(digits + EXACT), value.toFixed(digits)).replace(/\.$/, "");
}

/** @param {number} value */
function general(value) {
  if (value === 0) return "0";
  const [mantissa] = value.toExponential(2 + EXACT).split("e");
  const [rounded, exponent] = value.toExponential(2).split("e");
  const digits = evenly(mantissa, rounded);
  const power = Number(exponent);
  if (power >= -4 && power < 3) return String(Number(`${digits}e${power}`));
  return `${Number(digits)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** The even one of two equally near numbers, as Python rounds. @param {string} exact @param {string} rounded */
function evenly(exact, rounded) {
  const kept = exact.slice(0, -EXACT);
  const even = "02468".includes(kept.replace(/\.$/, "").at(-1) ?? "");
  return even && /^50*$/.test(exact.slice(-EXACT)) ? kept : rounded;
}
