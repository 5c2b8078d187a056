// @ts-check
/** A chart with a label for readers, and its numbers as a folded table. */

import { useLayoutEffect, useRef } from "preact/hooks";

import { Fold, Table } from "./fold.js";
import { html } from "./html.js";

const MAX_WIDTH = 560;

/**
 * @param {{ title: string, label: string, draw: (width: number) => Element, head: string[], rows: unknown[][], open?: boolean, children?: unknown }} props
 */
export function Figure({ title, label, draw, head, rows, open = false, children }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => {
    const chart = draw(Math.min(MAX_WIDTH, place.current?.clientWidth || MAX_WIDTH));
    // The chart is one picture: labels of its parts name elements without a role.
    for (const part of chart.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", label);
    place.current?.replaceChildren(chart);
  }, [label, rows.length]);
  return html`
    <section class="figure">
      <h3>${title}</h3>
      <div class="chart" ref=${place}></div>
      ${children}
      <${Fold} title="numbers" open=${open}>${() => html`<${Table} head=${head} rows=${rows} class="numbers" />`}<//>
    </section>
  `;
}
