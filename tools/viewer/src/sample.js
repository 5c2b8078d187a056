// @ts-check
/** The opened sample: its prompt, and the replies of the columns side by side. */

import { useEffect, useRef } from "preact/hooks";

import { Mark } from "./answer.js";
import { Before } from "./before.js";
import { answerOf } from "./filter.js";
import { standing } from "./flags.js";
import { Scroller } from "./fold.js";
import { brief } from "./glyphs.js";
import { useBlocks } from "./hooks.js";
import { html } from "./html.js";
import { Prompt, PromptDifference } from "./prompt.js";
import { Reply } from "./reply.js";
import { golds, named } from "./rows.js";
import { Brief, Text } from "./text.js";

/**
 * @typedef {{
 *   report: import("./report").Report, rows: import("./contract").Rows, row: number, columns: number[],
 *   column: (place: number) => import("./answer").Column, state: import("./fragment").State, go: import("./hooks").Go, close: () => void,
 * }} Props
 */

/** @param {Props} props */
export function Sample(props) {
  const { rows, row, close } = props;
  const section = useRef(/** @type {HTMLElement | null} */ (null));
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return html`
    <section class="sample" aria-labelledby="sample" ref=${section}>
      <div class="head">
        <h3 id="sample" tabindex="-1" ref=${heading}>Sample <${Brief} text=${named(rows, row)} maximum=${120} /></h3>
        <button type="button" onClick=${close} aria-keyshortcuts="Escape">close</button>
      </div>
      <${Truth} rows=${rows} row=${row} />
      <${Trials} ...${props} />
      <${Contents} ...${props} loaded=${() => section.current?.scrollIntoView()} />
    </section>
  `;
}

/** @param {{ rows: Props["rows"], row: number }} props */
function Truth({ rows, row }) {
  const groups = Object.entries(rows.groups?.[row] ?? {});
  return html`
    <p>gold: ${golds(rows, row).map((gold, place) => html`${place > 0 && " | "}<strong><${Brief} text=${gold} maximum=${300} /></strong>`)}
      ${groups.map(([axis, group]) => html`; <${Text} text=${axis} />: <${Text} text=${group} />`)}
    </p>
  `;
}

/** The answers of all trials of the sample. @param {Props} props */
function Trials({ rows, row, columns, column, report, go }) {
  if (!rows.trials) return null;
  const trials = rows.ids.flatMap((id, other) => (id === rows.ids[row] ? [other] : []));
  return html`
    <${Scroller} class="wide"><table class="trials">
      <thead><tr><th scope="col">trial</th>${columns.map((place) => html`<th scope="col"><${Brief} text=${report.name(place, columns)} /></th>`)}</tr></thead>
      <tbody>
        ${trials.map((other) => {
          const number = (rows.trials?.[other] ?? 0) + 1;
          return html`
            <tr aria-current=${other === row ? "true" : null}>
              <th scope="row"><button type="button" class="row" onClick=${() => go({ trial: number }, { replace: true })}>#${number}</button></th>
              ${columns.map((place) => html`<td><${Mark} kind=${standing(column(place).flags[other])} /><${Brief} text=${answerOf(column(place).answers, other) ?? "no answer"} /></td>`)}
            </tr>
          `;
        })}
      </tbody>
    </table><//>
  `;
}

/** The texts; `loaded` is called when they are shown first, as the page may be too short to scroll before. @param {Props & { loaded: () => void }} props */
function Contents(props) {
  const { report, row, rows, columns, column, state, go } = props;
  const names = report.existing(columns.map((place) => `t${place}`));
  const loaded = useBlocks(report.blocks, names);
  useEffect(() => {
    if (loaded) props.loaded();
  }, [loaded !== null]);
  if (!names.length) return html`<p class="note">The report holds no texts of these cells.</p>`;
  if (!loaded) return html`<p class="note" aria-busy="true">loading the texts ...</p>`;
  /** @param {number} place @returns {import("./contract").Reply | null} */
  const reply = (place) => report.blocks.get(`t${place}`)?.rows[row] ?? null;
  const [first] = columns;
  const base = state.base === "none" ? -1 : columns.find((place) => report.addresses[place] === state.base) ?? first;
  const twin = report.twin(first);
  return html`
    ${reply(first)?.old && html`<${Before} report=${report} place=${first} reply=${reply(first)} />`}
    ${reply(first) && html`<${Prompt} report=${report} place=${first} reply=${reply(first)} />`}
    ${twin >= 0 && html`<${PromptDifference} report=${report} row=${row} place=${first} twin=${twin} />`}
    ${columns.length > 1 && html`<${Base} ...${{ report, columns, base, go }} />`}
    <div class="replies">
      ${columns.map((place) => html`
        <${Reply} key=${place} ...${{ report, place, row, rows, reply: reply(place), column: column(place) }} name=${report.name(place, columns)}
          base=${base < 0 || place === base ? null : reply(base)} ownPrompt=${place !== first} />
      `)}
    </div>
  `;
}

/** Which column the others are compared with. @param {{ report: Props["report"], columns: number[], base: number, go: Props["go"] }} props */
function Base({ report, columns, base, go }) {
  return html`
    <p><label>word differences to${" "}
      <select value=${String(base)} onChange=${(/** @type {Event} */ event) => {
        const place = Number(/** @type {HTMLSelectElement} */ (event.currentTarget).value);
        go({ base: place < 0 ? "none" : report.addresses[place] }, { replace: true });
      }}>
        ${columns.map((place) => html`<option value=${String(place)}>${brief(report.name(place, columns), 200)}</option>`)}
        <option value="-1">none</option>
      </select>
    </label></p>
  `;
}
