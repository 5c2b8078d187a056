// @ts-check
/** The controls in the page's header: theme, the list of keys, and why a key does nothing. */

import { useEffect, useRef, useState } from "preact/hooks";

import { html } from "./html.js";
import { isForeign, KEYS, pressed } from "./keys.js";

/** @typedef {import("./fragment").State} State */
/** @typedef {(command: string) => string} Run returns why the command cannot be run, if so */

/** Time to read why a key does nothing. */
const HINT_MS = 5000;

/** @type {State["theme"][]} */
const THEMES = ["auto", "light", "dark"];

/** @param {{ state: State, go: import("./hooks").Go, run: Run }} props */
export function Controls({ state, go, run }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [hint, show] = useState("");
  /** @param {string} name */
  const command = (name) => {
    if (name === "help") return dialog.current?.showModal();
    const why = run(name);
    show(why && `${KEYS.find((key) => key.command === name)?.title}: ${why}`);
  };
  useEffect(() => {
    const wait = setTimeout(() => show(""), HINT_MS);
    return () => clearTimeout(wait);
  }, [hint]);
  useKeys(state.keys, command);
  useEffect(() => {
    if (state.theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = state.theme;
  }, [state.theme]);
  return html`
    <div class="controls">
      <label>theme${" "}
        <select value=${state.theme} onChange=${(/** @type {Event} */ event) => go({ theme: /** @type {State["theme"]} */ (/** @type {HTMLSelectElement} */ (event.currentTarget).value) }, { replace: true })}>
          ${THEMES.map((theme) => html`<option value=${theme}>${theme}</option>`)}
        </select>
      </label>${" "}
      <button type="button" onClick=${() => command("help")} aria-keyshortcuts=${state.keys ? "?" : null}>keys</button>
      <dialog ref=${dialog} aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <label><input type="checkbox" checked=${state.keys} onChange=${() => go({ keys: !state.keys }, { replace: true })} /> single keys are on</label>
        <ul>
          ${KEYS.map(({ keys, title, command: name }) => html`
            <li><kbd>${keys}</kbd>${" "}<button type="button" disabled=${name === "help"} onClick=${() => (dialog.current?.close(), command(name))}>${title}</button></li>
          `)}
          <li><kbd>Esc</kbd> close the sample</li>
        </ul>
        <button type="button" onClick=${() => dialog.current?.close()}>close</button>
      </dialog>
      <span class="hint" role="status">${hint}</span>
    </div>
  `;
}

/** Listen to keys: Esc always, single keys while they are on. @param {boolean} on @param {(command: string) => void} command */
function useKeys(on, command) {
  const latest = useRef(command);
  latest.current = command;
  useEffect(() => {
    let pending = "";
    /** @param {KeyboardEvent} event */
    const listen = (event) => {
      if (document.querySelector("dialog[open]")) return;
      if (event.key === "Escape") return latest.current("escape");
      if (!on || isForeign(event)) return;
      const found = pressed(event.key, pending);
      pending = found.pending;
      if (!found.command) return;
      event.preventDefault();
      latest.current(found.command);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [on]);
}
