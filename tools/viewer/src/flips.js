// @ts-check
/** The answers of a cell that flipped since the earlier run, those that got worse first. */

import { Answer } from "./answer.js";
import { BETTER, WORSE } from "./flags.js";
import { Fold, Table } from "./fold.js";
import { count } from "./format.js";
import { useBlocks } from "./hooks.js";
import { html } from "./html.js";
import { named } from "./rows.js";
import { Brief } from "./text.js";

/** Flips in sight; the others are folded. */
const MAX_SHOWN = 10;

/** @param {{ report: import("./report").Report, place: number, go: import("./hooks").Go }} props */
export function Flips({ report, place, go }) {
  const flags = report.flags[place];
  /** @param {number} flag */
  const having = (flag) => [...flags.keys()].filter((row) => flags[row] & flag);
  const [worse, better] = [having(WORSE), having(BETTER)];
  const flipped = [...worse, ...better];
  const names = [`r${report.cell(place).scenario}`, `a${place}`];
  const blocks = useBlocks(report.blocks, flipped.length ? report.existing(names) : []);
  if (!flipped.length || !blocks) return null;
  /** @type {import("./contract").Rows} */
  const rows = blocks[0];
  const column = { ...report.column(place), before: null, scenario: report.scenario(place) };
  const { old, table } = column.answers;
  /** @param {number} row */
  const line = (row) => [
    html`<button type="button" class="row" onClick=${() => go({ row: rows.ids[row], trial: (rows.trials?.[row] ?? 0) + 1 })}><${Brief} text=${named(rows, row)} maximum=${60} /></button>`,
    ...(rows.texts ? [html`<${Brief} text=${rows.texts[row]} maximum=${120} />`] : []),
    html`<${Brief} text=${rows.gold[row]} maximum=${60} />`,
    html`<${Brief} text=${table[old[row] ?? -1] ?? "no answer"} maximum=${60} />`,
    html`<${Answer} column=${column} row=${row} gold=${rows.gold[row]} />`,
  ];
  const head = ["sample", ...(rows.texts ? ["text"] : []), "gold", "was", "is"];
  /** @param {number[]} shown */
  const lines = (shown) => html`<${Table} head=${head} rows=${shown.map(line)} class="flips" />`;
  const rest = flipped.slice(MAX_SHOWN);
  return html`
    <section class="figure">
      <h3>Flips</h3>
      <p class="note">${count(worse.length)} answers got worse, ${count(better.length)} better.</p>
      ${lines(flipped.slice(0, MAX_SHOWN))}
      ${rest.length > 0 && html`<${Fold} title=${`${count(rest.length)} more`}>${() => lines(rest)}<//>`}
    </section>
  `;
}
