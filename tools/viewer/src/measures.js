// @ts-check
/** The numbers of a cell: gates, measures beside those of naive baselines, the change to an earlier run. */

import { Table } from "./fold.js";
import { interval, number, signed } from "./format.js";
import { html } from "./html.js";
import { Text } from "./text.js";

/** @typedef {import("./contract").Cell} Cell */
/** @typedef {import("./contract").Change} ChangeOf */

const SIGNS = /** @type {Record<string, string>} */ ({ PASS: "\u2713", FAIL: "\u2717" });

/** @param {{ cell: Cell }} props */
export function Verdicts({ cell }) {
  if (!cell.verdicts.length) return null;
  return html`
    <ul class="gates">
      ${cell.verdicts.map(
        ({ status, reason, gate, fails }) => html`
          <li><strong class=${fails ? "bad" : status === "PASS" ? "good" : "doubt"}>${SIGNS[status] ?? "?"} ${status}</strong> <code><${Text} text=${gate} /></code> <${Text} text=${reason} /></li>
        `,
      )}
    </ul>
  `;
}

/** @param {{ cell: Cell }} props */
export function Measures({ cell }) {
  const notes = [...new Set(cell.measures.map(({ note }) => note).filter(Boolean))];
  const head = ["metric", "value", "95 % interval", "n", "better", ...cell.naive.map(({ name }) => `naive.${name}`)];
  const rows = cell.measures.map((measure) => [
    html`<${Text} text=${measure.metric} />`,
    html`<strong>${number(measure.value)}${measure.unit && ` ${measure.unit}`}${measure.note && "*"}</strong>`,
    interval(measure),
    measure.n,
    measure.better,
    ...cell.naive.map(({ measures }) => number(measures.find(({ metric }) => metric === measure.metric)?.value ?? null)),
  ]);
  return html`
    <${Table} head=${head} rows=${rows} class="numbers" />
    ${notes.map((note) => html`<p class="note">* <${Text} text=${note} /></p>`)}
  `;
}

/** @param {{ change: ChangeOf, against: string | null }} props */
export function ChangeSentence({ change, against }) {
  return html`
    <p>
      Against <${Text} text=${against ?? "an earlier run"} />: <${Text} text=${change.metric} /> ${number(change.old)} → ${number(change.new)},${" "}
      <strong>${changed(change)}</strong> ${interval(change)}${change.approximate && "*"};${" "}
      ${change.worse} answers worse, ${change.better} better of n=${change.n}.
    </p>
  `;
}

/** A difference with its sign, a quotient with `×`. @param {ChangeOf} change */
export function changed(change) {
  return change.quotient ? `\u00d7 ${number(change.value)}` : signed(change.value);
}
