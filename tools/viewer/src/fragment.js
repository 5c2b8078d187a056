// @ts-check
/**
 * The whole state of the viewer, as the fragment of the page's address:
 * `#cell=triage-zero_shot@q&chips=wrong,worse&gold=Major&answer=&q=text&row=J-104&columns=a,b&theme=dark`
 */

/**
 * `answer`: "" for no answer. `texts`: the search covers all texts. `trial`: of the opened row, from 1.
 * `base`: the column that replies are compared with, "none" for no comparison. `keys`: single keys are on.
 * @typedef {{
 *   cell: string, chips: string[], gold?: string, answer?: string, q: string, texts: boolean, row: string, trial: number,
 *   columns: string[], base: string, theme: "auto" | "light" | "dark", keys: boolean,
 * }} State
 */

/** @returns {State} */
export function initial() {
  return { cell: "", chips: [], q: "", texts: false, row: "", trial: 1, columns: [], base: "", theme: "auto", keys: true };
}

/** @param {string} fragment with or without its `#` @returns {State} */
export function parse(fragment) {
  const read = new URLSearchParams(fragment.replace(/^#/, ""));
  const theme = read.get("theme");
  return {
    cell: read.get("cell") ?? "",
    chips: list(read.get("chips")),
    gold: read.get("gold") ?? undefined,
    answer: read.get("answer") ?? undefined,
    q: read.get("q") ?? "",
    texts: read.get("texts") === "1",
    row: read.get("row") ?? "",
    trial: Math.max(1, Number.parseInt(read.get("trial") ?? "1", 10) || 1),
    columns: list(read.get("columns")),
    base: read.get("base") ?? "",
    theme: theme === "light" || theme === "dark" ? theme : "auto",
    keys: read.get("keys") !== "off",
  };
}

/** The fragment without its `#`; what has its default is left out. @param {State} state */
export function format(state) {
  const written = new URLSearchParams();
  if (state.cell) written.set("cell", state.cell);
  if (state.chips.length) written.set("chips", joined(state.chips));
  if (state.gold !== undefined) written.set("gold", state.gold);
  if (state.answer !== undefined) written.set("answer", state.answer);
  if (state.q) written.set("q", state.q);
  if (state.texts) written.set("texts", "1");
  if (state.row) written.set("row", state.row);
  if (state.trial > 1) written.set("trial", String(state.trial));
  if (state.columns.length) written.set("columns", joined(state.columns));
  if (state.base) written.set("base", state.base);
  if (state.theme !== "auto") written.set("theme", state.theme);
  if (!state.keys) written.set("keys", "off");
  return written.toString();
}

/** State of another cell: filters and sample are left behind. @param {State} state @param {string} cell @returns {State} */
export function withCell(state, cell) {
  return { ...initial(), theme: state.theme, keys: state.keys, cell };
}

/** Names separated by commas; a comma in a name is written `%2C`. @param {string | null} text */
function list(text) {
  return text ? text.split(",").map((name) => name.replaceAll("%2C", ",").replaceAll("%25", "%")) : [];
}

/** @param {string[]} names */
function joined(names) {
  return names.map((name) => name.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
}
