// @ts-check
/** The details below the summary: the opened cell and its samples. */

import { Component } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { Background, Cell } from "./cell.js";
import { withCell } from "./fragment.js";
import { brief } from "./glyphs.js";
import { html } from "./html.js";
import { Samples } from "./samples.js";
import { markCurrent } from "./summary.js";
import { Brief, Text } from "./text.js";

/** Characters of a cell in the list of all. */
const MAX_OPTION = 200;

/** @typedef {import("./report").Report} Report */
/** @typedef {{ report: Report, state: import("./fragment").State, go: import("./hooks").Go, commands: { current: Record<string, () => void> } }} Props */

/** @param {Props} props */
export function App({ report, state, go, commands }) {
  const place = report.place(state.cell);
  commands.current = {}; // The samples, if they are shown, set theirs below.
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => markCurrent(state.cell), [state.cell]);
  useLayoutEffect(() => {
    if (place >= 0) heading.current?.focus({ preventScroll: true });
    if (place >= 0) heading.current?.scrollIntoView();
  }, [place]);
  /** @param {number} other @param {string} text */
  const link = (other, text) => html`<button type="button" class="link" onClick=${() => go(withCell(state, report.addresses[other]))}><${Text} text=${text} /></button>`;
  // Charts and tables stay as they are while the samples are filtered.
  const cell = useMemo(
    () => place >= 0 && html`<${Cell} report=${report} place=${place} state=${state} go=${go} />`,
    [report, place, state.gold, state.answer, state.theme],
  );
  const background = useMemo(() => place >= 0 && html`<${Background} report=${report} place=${place} link=${link} />`, [report, place, state.theme, state.keys]);
  if (!report.index.cells.length) return html`<p class="note">No cell was measured.</p>`;
  return html`
    <div class="head">
      <h2 id="cell" tabindex="-1" ref=${heading}>${place < 0 ? "Details" : html`Cell <${Brief} text=${report.cell(place).id} maximum=${200} />`}</h2>
      <${Choose} report=${report} place=${place} choose=${(/** @type {string} */ id) => go(withCell(state, id))} />
    </div>
    ${place < 0 && state.cell && html`<p class="doubt">The report has no cell <${Text} text=${state.cell} />.</p>`}
    ${place < 0 && html`<p class="note">Choose a cell here or in the summary.</p>`}
    ${place >= 0 && html`
      <${Guard} key=${state.cell}>
        ${cell}
        <${Samples} report=${report} place=${place} state=${state} go=${go} commands=${commands} />
        ${background}
      <//>
    `}
    <${LeftOut} report=${report} />
  `;
}

/** @param {{ report: Report, place: number, choose: (id: string) => void }} props */
function Choose({ report, place, choose }) {
  const { addresses } = report;
  return html`
    <label>cell${" "}
      <select value=${String(place)} onChange=${(/** @type {Event} */ event) => choose(addresses[Number(/** @type {HTMLSelectElement} */ (event.currentTarget).value)] ?? "")}>
        <option value="-1">none</option>
        ${addresses.map((address, other) => html`<option value=${String(other)}>${brief(address, MAX_OPTION)}</option>`)}
      </select>
    </label>
  `;
}

/** @param {{ report: Report }} props */
function LeftOut({ report: { index } }) {
  if (!index.left_out) return null;
  const { texts, shortened, megabytes } = index.left_out;
  if (megabytes === null) return html`<p class="note">The texts of samples are left out (ini key puma_report_texts = none).</p>`;
  return html`<p class="note">Texts of ${texts} answers are left out and ${shortened} texts are shortened, for a limit of ${megabytes} MB. Numbers and answers are complete.</p>`;
}

/** Shows a sentence in place of details that cannot be read. */
class Guard extends Component {
  /** @param {unknown} error */
  static getDerivedStateFromError(error) {
    return { error };
  }

  render() {
    const { error } = /** @type {{ error?: unknown }} */ (this.state);
    if (!error) return this.props.children;
    return html`<p class="bad">The details cannot be shown: <${Text} text=${error instanceof Error ? error.message : String(error)} />.</p>`;
  }
}
