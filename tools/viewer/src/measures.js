// @ts-check
/** The numbers of a cell: gates, measures beside those of naive baselines, the change to an earlier run. */

import { Fold, Table } from "./fold.js";
import { interval, number, signed } from "./format.js";
import { html } from "./html.js";
import { Command, Text } from "./text.js";

/** @typedef {import("./contract").Cell} Cell */
/** @typedef {import("./contract").Change} ChangeOf */

const SIGNS = /** @type {Record<string, string>} */ ({ PASS: "\u2713", FAIL: "\u2717" });

/** A row for each gate; below them the commands for a cell that fails. @param {{ cell: Cell }} props */
export function Verdicts({ cell }) {
  if (!cell.verdicts.length) return null;
  const rows = cell.verdicts.map(({ status, reason, gate, limit, fails }) => [
    html`<strong class=${fails ? "bad" : status === "PASS" ? "good" : "doubt"}>${SIGNS[status] ?? "?"} ${status}</strong>`,
    html`<code><${Text} text=${gate} /></code>${limit !== null && ` (${number(limit)})`}`,
    html`<${Text} text=${reason} />`,
  ]);
  return html`
    <${Table} head=${["verdict", "gate", "found"]} rows=${rows} class="gates" />
    ${cell.verdicts.some(({ fails }) => fails) && html`<${Commands} commands=${cell.commands} />`}
  `;
}

/** @param {{ commands: Record<string, string> }} props */
export function Commands({ commands }) {
  return Object.entries(commands).map(([name, command]) => html`<p class="note">${name}</p><pre class="command"><${Command} text=${command} /></pre>`);
}

/** All measures; a number behind a value leads to its note. @param {{ cell: Cell }} props */
export function Measures({ cell }) {
  const notes = [...new Set(cell.measures.map(({ note }) => note).filter(Boolean))];
  const head = ["metric", "value", "95 % interval", "n", "better", ...cell.naive.map(({ name }) => `naive.${name}`)];
  const rows = cell.measures.map((measure) => [
    html`<${Text} text=${measure.metric} />`,
    html`<strong>${number(measure.value)}${measure.unit && ` ${measure.unit}`}</strong>${measure.note && html`<sup>${notes.indexOf(measure.note) + 1}</sup>`}`,
    interval(measure),
    measure.n,
    measure.better,
    ...cell.naive.map(({ measures }) => number(measures.find(({ metric }) => metric === measure.metric)?.value ?? null)),
  ]);
  return html`
    <${Fold} title=${`All ${rows.length} metrics`}>${() => html`
      <${Table} head=${head} rows=${rows} class="numbers" />
      ${notes.length > 0 && html`<ol class="note">${notes.map((note) => html`<li><${Text} text=${note} /></li>`)}</ol>`}
    `}<//>
  `;
}

/** @param {{ change: ChangeOf, against: string | null }} props */
export function ChangeSentence({ change, against }) {
  return html`
    <p>
      Against <${Text} text=${against ?? "an earlier run"} />: <${Text} text=${change.metric} /> ${number(change.old)} → ${number(change.new)},${" "}
      <strong>${changed(change)}</strong> ${interval(change)}${change.approximate && " (approximate)"};${" "}
      ${change.worse} answers worse, ${change.better} better of n=${change.n}.
    </p>
  `;
}

/** A difference with its sign, a quotient with `×`. @param {ChangeOf} change */
export function changed(change) {
  return change.quotient ? `\u00d7 ${number(change.value)}` : signed(change.value);
}
