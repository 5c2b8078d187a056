// @ts-check
/** The list of samples: only the rows in sight are in the page. */

import { elementScroll, measureElement, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { html } from "./html.js";
import { Brief } from "./text.js";

const LINE = 34;
/** Height of a row whose columns are stacked, before it is measured. */
const STACK = 30;
const OVERSCAN = 2;

/**
 * @typedef {{ row: number, id: string, text: string, gold: string }} Item
 * @typedef {{
 *   items: Item[], total: number, texts: boolean, columns: { key: number, name: string }[], opened: number, focus: number | null,
 *   value: (row: number, column: number) => unknown, open: (row: number) => void, focused: () => void,
 * }} Props `texts`: samples have beginnings; `opened` and `focus`: rows, -1 or null for none
 */

/** @param {Props} props */
export function List({ items, total, texts, columns, opened, focus, value, open, focused }) {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const virtualizer = useVirtualizer(scroller, items, columns.length + Number(texts));
  const seen = virtualizer.getVirtualItems();
  const wanted = focus ?? opened;
  useLayoutEffect(() => {
    const place = items.findIndex(({ row }) => row === wanted);
    if (place >= 0) virtualizer.scrollToIndex(place, { align: "auto" });
  }, [wanted, items]);
  useLayoutEffect(() => {
    if (focus === null) return;
    const button = /** @type {HTMLElement | undefined | null} */ (scroller.current?.querySelector(`[data-row="${focus}"]`));
    button?.focus({ preventScroll: true });
    if (button) focused();
  });
  const before = seen[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (seen.at(-1)?.end ?? 0);
  return html`
    <div class="list" ref=${scroller}>
      <table role="table" aria-label="Samples" aria-rowcount=${items.length + 1} style=${{ minWidth: `${(texts ? 38 : 16) + 9 * columns.length}rem` }}>
        <thead role="rowgroup">
          <tr role="row" aria-rowindex="1">
            <th role="columnheader" scope="col" class="id">id</th>
            ${texts && html`<th role="columnheader" scope="col" class="beginning">text</th>`}
            <th role="columnheader" scope="col" class="gold">gold</th>
            ${columns.map(({ key, name }) => html`<th role="columnheader" scope="col" key=${key}><${Brief} text=${name} maximum=${60} /></th>`)}
          </tr>
        </thead>
        <tbody role="rowgroup">
          <${Space} height=${before} />
          ${seen.map(({ index }) => html`
            <${Row} key=${items[index].row} ...${{ item: items[index], index, columns, texts, opened, value, open }} measure=${virtualizer.measureElement} />
          `)}
          <${Space} height=${after} />
        </tbody>
      </table>
      ${!items.length && html`<p class="note">None of ${total} samples passes the filters.</p>`}
    </div>
  `;
}

/** @param {any} props of a row of the table */
function Row({ item, index, columns, texts, opened, value, open, measure }) {
  const current = item.row === opened;
  return html`
    <tr role="row" ref=${measure} data-index=${index} aria-rowindex=${index + 2} aria-current=${current ? "true" : null} onClick=${() => open(item.row)}>
      <th role="rowheader" scope="row" class="id">
        <button type="button" class="row" data-row=${item.row}><${Brief} text=${item.id} maximum=${60} /></button>
      </th>
      ${texts && html`<td role="cell" class="beginning" data-label="text"><${Brief} text=${item.text} maximum=${120} /></td>`}
      <td role="cell" class="gold" data-label="gold"><${Brief} text=${item.gold} maximum=${60} /></td>
      ${columns.map((/** @type {{ key: number, name: string }} */ { key, name }) => html`<td role="cell" key=${key} data-label=${name}>${value(item.row, key)}</td>`)}
    </tr>
  `;
}

/** Room of the rows out of sight. @param {{ height: number }} props */
function Space({ height }) {
  return height > 0 && html`<tr class="space" aria-hidden="true"><td style=${{ height: `${height}px` }}></td></tr>`;
}

/** @param {{ current: HTMLDivElement | null }} scroller @param {Item[]} items @param {number} columns */
function useVirtualizer(scroller, items, columns) {
  const [, refresh] = useState(0);
  /** @type {import("@tanstack/virtual-core").VirtualizerOptions<HTMLDivElement, HTMLElement>} */
  const options = {
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (matchMedia("(max-width: 44rem)").matches ? STACK * (2 + columns) : LINE),
    getItemKey: (index) => items[index].row,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    measureElement,
    overscan: OVERSCAN,
    onChange: () => refresh((times) => times + 1),
  };
  const [virtualizer] = useState(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}

