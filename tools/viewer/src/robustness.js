// @ts-check
/** What perturbations change, and the gaps between groups. */

import { changes } from "./charts.js";
import { Figure } from "./figure.js";
import { Table } from "./fold.js";
import { interval, pValue } from "./format.js";
import { html } from "./html.js";
import { changed } from "./measures.js";
import { Text } from "./text.js";

/** @typedef {import("./contract").Cell} Cell */

/** @param {{ cell: Cell, link: (place: number, text: string) => unknown }} props */
export function Shifts({ cell, link }) {
  const { shifts } = cell;
  const metric = shifts[0].change.metric;
  const head = ["perturbation", "change", "95 % interval", "Holm", "fixed", "broken", "still wrong"];
  const rows = shifts.map(({ perturbation, cell: place, change, adjusted, ...flips }) => [
    place === null ? html`<${Text} text=${perturbation} />` : link(place, perturbation),
    changed(change),
    `${interval(change)}${change.approximate ? "*" : ""}`,
    pValue(adjusted),
    flips.fixed,
    flips.broken,
    flips.still_wrong,
  ]);
  const label = `Change of ${metric} by perturbation: ${shifts.map((shift) => `${shift.perturbation} ${changed(shift.change)}`).join(", ")}`;
  const draw = (/** @type {import("./charts").Size} */ size) => changes(shifts, metric, size);
  return html`<${Figure} title="Perturbations" label=${label} draw=${draw} height=${64 + 26 * shifts.length} head=${head} rows=${rows} open=${true} />`;
}

/** @param {{ cell: Cell }} props */
export function Gaps({ cell }) {
  const rows = cell.gaps.map(({ axis, old, new: other, change }) => [
    html`<${Text} text=${axis} />`,
    html`<${Text} text=${`${other} \u2212 ${old}`} />`,
    changed(change),
    `${interval(change)}${change.approximate ? "*" : ""}`,
    change.n,
  ]);
  return html`
    <section class="figure">
      <h3>Gaps between groups</h3>
      <${Table} head=${["axis", "groups", "gap", "95 % interval", "n"]} rows=${rows} class="numbers" />
    </section>
  `;
}
