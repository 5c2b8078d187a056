// @ts-check
/** The summary, which the page has without us: its tables become sortable, its links lead to the details. */

import { key, sorted } from "./order.js";

/** Where links lead without JavaScript; with it, the browser must not scroll to them. */
const TARGET = ':is(tbody, tr)[id^="cell="]';

/** Take over the summary: sort by column heads, show which cell is open. */
export function adopt() {
  for (const body of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(TARGET))) {
    body.dataset.cell = body.id.slice("cell=".length);
    body.removeAttribute("id");
  }
  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("#summary table:not(.heat)"))) sortable(table);
  navigate();
}

/** Scroll to the sections that the bar names: the fragment of the address is the state of the viewer. */
function navigate() {
  document.querySelector("nav")?.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link) return;
    event.preventDefault();
    visit(link.getAttribute("href") ?? "");
  });
}

/** Let the bar lead to the samples, until the returned function is called. @returns {() => void} */
export function offerSamples() {
  const link = document.createElement("a");
  link.href = "#samples";
  link.textContent = "Samples";
  document.querySelector("nav")?.append(link);
  return () => link.remove();
}

/** Scroll to an element, and go on from there by keyboard; return whether the page has it. @param {string} selector */
export function visit(selector) {
  const section = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  if (!section) return false;
  if (section.tabIndex < 0) section.tabIndex = -1;
  section.focus({ preventScroll: true });
  section.scrollIntoView({ block: section.tagName === "INPUT" ? "center" : "start" });
  return true;
}

/** Mark the rows of the opened cell. @param {string} id */
export function markCurrent(id) {
  for (const body of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-cell]"))) {
    if (id && body.dataset.cell === id) body.setAttribute("aria-current", "true");
    else body.removeAttribute("aria-current");
  }
}

/** Give each column head a button that sorts. @param {HTMLTableElement} table */
function sortable(table) {
  for (const head of table.tHead?.rows[0]?.cells ?? []) {
    if (!head.textContent?.trim() || head.querySelector("svg")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, head));
    head.append(button);
  }
}

/** @param {HTMLTableElement} table @param {HTMLTableCellElement} head */
function sort(table, head) {
  const descending = head.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead?.rows[0].cells ?? []) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  // The rows of a cell are a body of their own, and stay together; its first row has all columns.
  const groups = [...table.tBodies];
  const [parent, parts, first] =
    groups.length > 1 ? [table, groups, groups.map((body) => body.rows[0])] : [groups[0], [...groups[0].rows], [...groups[0].rows]];
  const keys = first.map((row) => valueOf(row?.cells[head.cellIndex]));
  parent.append(...sorted(keys, descending).map((place) => parts[place]));
}

/** The value of a table cell: `data-sort` if it has one, else its text. @param {HTMLTableCellElement | undefined} cell */
function valueOf(cell) {
  return key(cell?.dataset.sort ?? cell?.textContent ?? "");
}
