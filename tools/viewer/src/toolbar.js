// @ts-check
/** Filters of the samples: chips, gold, answer, search, columns. */

import { CHIPS } from "./filter.js";
import { Fold } from "./fold.js";
import { count } from "./format.js";
import { brief } from "./glyphs.js";
import { html } from "./html.js";
import { Text } from "./text.js";

/** Different values beyond which a select is no help. */
const MAX_OPTIONS = 60;

/** @typedef {import("./filter").Subject} Subject */
/** @typedef {import("./fragment").State} State */
/** @typedef {import("./hooks").Go} Go */

/** The chips that the state switches, after one more click on `name`. @param {string[]} chips @param {string} name */
export function toggled(chips, name) {
  return chips.includes(name) ? chips.filter((chip) => chip !== name) : [...chips, name];
}

/** @param {{ counts: Record<string, number>, state: State, go: Go, task: string, perturbed: boolean }} props */
export function Chips({ counts, state, go, task, perturbed }) {
  const chips = CHIPS.filter(({ name }) => name !== "turned" || perturbed);
  return html`
    <div class="chips" role="group" aria-label="Filters">
      ${chips.map(({ name, title, off, key }) => html`
        <button type="button" class="chip" data-chip=${name} aria-pressed=${state.chips.includes(name)} disabled=${!counts[name] && !state.chips.includes(name)}
          aria-keyshortcuts=${key && state.keys ? key : null} onClick=${() => go({ chips: toggled(state.chips, name) })}>
          ${task === "regression" && off ? off : title} <span class="count">${count(counts[name])}</span>
        </button>
      `)}
    </div>
  `;
}

/** @param {{ subject: Subject, state: State, go: Go }} props */
export function Selects({ subject, state, go }) {
  const golds = [...new Set(subject.rows.gold)].sort(natural);
  const answers = [...subject.answers.table].sort(natural);
  return html`
    <${Select} label="gold" value=${state.gold} values=${golds} choose=${(/** @type {string | undefined} */ gold) => go({ gold })} />
    <${Select} label="answer" value=${state.answer} values=${["", ...answers]} choose=${(/** @type {string | undefined} */ answer) => go({ answer })} />
  `;
}

/** @param {{ label: string, value: string | undefined, values: string[], choose: (value: string | undefined) => void }} props */
function Select({ label, value, values, choose }) {
  if (values.length > MAX_OPTIONS && value === undefined) return null;
  const options = value !== undefined && !values.includes(value) ? [value, ...values] : values.slice(0, MAX_OPTIONS);
  const chosen = value === undefined ? 0 : options.indexOf(value) + 1;
  return html`
    <label>${label}${" "}
      <select value=${String(chosen)} onChange=${(/** @type {Event} */ event) => choose(options[Number(/** @type {HTMLSelectElement} */ (event.currentTarget).value) - 1])}>
        <option value="0">all</option>
        ${options.map((option, place) => html`<option value=${String(place + 1)}>${brief(option, 40) || "no answer"}</option>`)}
      </select>
    </label>
  `;
}

/** @param {{ state: State, go: Go, searching: boolean }} props */
export function Search({ state, go, searching }) {
  return html`
    <label class="search">search${" "}
      <input type="search" id="search" value=${state.q} placeholder=${state.texts ? "all texts" : "id, gold, answer"} aria-keyshortcuts=${state.keys ? "/" : null}
        onInput=${(/** @type {Event} */ event) => go({ q: /** @type {HTMLInputElement} */ (event.currentTarget).value }, { replace: true })} />
    </label>
    <label><input type="checkbox" checked=${state.texts} onChange=${() => go({ texts: !state.texts }, { replace: true })} /> in all texts</label>
    ${searching && html`<span class="note">searching ...</span>`}
  `;
}

/** @param {{ report: import("./report").Report, place: number, columns: number[], go: Go }} props */
export function Columns({ report, place, columns, go }) {
  const { cells } = report.scenario(place);
  if (cells.length < 2) return null;
  /** @param {number} other */
  const toggle = (other) => {
    const chosen = columns.includes(other) ? columns.filter((column) => column !== other) : [...columns, other];
    go({ columns: chosen.map((column) => report.addresses[column]) }, { replace: true });
  };
  return html`
    <${Fold} class="columns" title=${`columns: ${columns.length} of ${cells.length}`}>${() => html`
      <div class="choices">
        ${cells.map((other) => html`
          <label><input type="checkbox" checked=${columns.includes(other)} disabled=${other === place} onChange=${() => toggle(other)} /> <${Text} text=${report.name(other, cells)} /></label>
        `)}
      </div>
      <button type="button" onClick=${() => go({ columns: cells.map((other) => report.addresses[other]) })}>all</button>${" "}
      <button type="button" onClick=${() => go({ columns: [report.addresses[place]] })}>this cell alone</button>${" "}
      <button type="button" onClick=${() => go({ columns: [] })}>as before</button>
    `}<//>
  `;
}

/** @param {string} one @param {string} other */
function natural(one, other) {
  return one.localeCompare(other, "en", { numeric: true });
}
