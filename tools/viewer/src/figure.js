// @ts-check
/** A chart with a label for readers, and its numbers as a folded table. */

import { useEffect, useRef } from "preact/hooks";

import { Fold, Table } from "./fold.js";
import { html } from "./html.js";

const MAX_WIDTH = 560;
const HEIGHT = 280;
/** Columns of numbers beyond which the figure takes the whole line, and a phone shows them as cards. */
const MAX_NUMBERS = 4;

/** @typedef {(size: import("./charts").Size) => Element} Draw */

/**
 * @param {{ title: string, label: string, draw: Draw, height?: number, head: string[], rows: unknown[][], open?: boolean, children?: unknown }} props
 */
export function Figure({ title, label, draw, height = HEIGHT, head, rows, open = false, children }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  // Numbers and samples are seen first: the charts of a cell take as long as all the rest.
  useEffect(() => {
    const chart = draw({ width: Math.min(MAX_WIDTH, place.current?.clientWidth || MAX_WIDTH), height });
    // The chart is one picture: labels of its parts name elements without a role.
    for (const part of chart.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", label);
    place.current?.replaceChildren(chart);
  }, [label, rows.length]);
  return html`
    <section class="figure">
      <h3>${title}</h3>
      <div class="chart" ref=${place} style=${{ minHeight: `${height}px` }}></div>
      ${children}
      <${Fold} title="numbers" open=${open}>${() => html`<${Table} head=${head} rows=${rows} class=${head.length > MAX_NUMBERS ? "numbers many" : "numbers"} />`}<//>
    </section>
  `;
}
