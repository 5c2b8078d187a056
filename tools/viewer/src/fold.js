// @ts-check
/** Parts of the page: one that is made when it is opened, one that scrolls, a table of few rows. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { brief } from "./glyphs.js";
import { html } from "./html.js";

const MAX_TITLE = 200;

/** @param {{ title: string, open?: boolean, class?: string, children: () => unknown }} props */
export function Fold({ title, open = false, class: name = "", children }) {
  const [shown, show] = useState(open);
  return html`
    <details class=${name} open=${open} onToggle=${(/** @type {Event} */ event) => show(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
      <summary>${brief(title, MAX_TITLE)}</summary>
      ${shown && children()}
    </details>
  `;
}

/** An element that the keyboard can scroll where its content is larger. @param {{ tag?: string, class: string, children: unknown }} props */
export function Scroller({ tag = "div", class: name, children }) {
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const { scrollWidth = 0, clientWidth = 0, scrollHeight = 0, clientHeight = 0 } = element.current ?? {};
    const larger = scrollWidth > clientWidth || scrollHeight > clientHeight;
    if (larger === element.current?.hasAttribute("tabindex")) return;
    if (larger) element.current?.setAttribute("tabindex", "0");
    else element.current?.removeAttribute("tabindex");
  });
  return html`<${tag} class=${name} ref=${element}>${children}</${tag}>`;
}

/** A table of few rows. @param {{ head: string[], rows: unknown[][], class?: string }} props */
export function Table({ head, rows, class: name = "" }) {
  return html`
    <${Scroller} class="wide"><table class=${name}>
      <thead><tr>${head.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>
        ${rows.map(([first, ...rest]) => html`<tr><th scope="row">${first}</th>${rest.map((value, column) => html`<td data-label=${head[column + 1]}>${value}</td>`)}</tr>`)}
      </tbody>
    </table><//>
  `;
}
