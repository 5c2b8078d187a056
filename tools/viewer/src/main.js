// @ts-check
/** The viewer of the HTML report: reads the blocks of the page and fills the section `details`. */

import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { App } from "./app.js";
import { Blocks } from "./blocks.js";
import { Controls } from "./controls.js";
import { withCell } from "./fragment.js";
import { useAddress } from "./hooks.js";
import { html } from "./html.js";
import { Report } from "./report.js";
import { adopt, visit } from "./summary.js";

const OLD_BROWSER = "This browser cannot show the details: it has no DecompressionStream, which browsers have since May 2023. The summary is complete.";

/** Places of the page that keys go to: selectors by command. */
const SECTIONS = /** @type {Record<string, string>} */ ({ summary: "#summary", models: ".heat", cell: "#cell", samples: "#samples", search: "#search" });

const details = /** @type {HTMLElement} */ (document.getElementById("details"));
const header = document.createElement("div");

/** @param {{ report: Report | null }} props `report`: null if the details cannot be shown */
function Page({ report }) {
  const [state, go] = useAddress();
  const commands = useRef(/** @type {Record<string, () => void>} */ ({}));
  useLayoutEffect(() => {
    /** A link to a cell keeps what the reader chose for the page. @param {MouseEvent} event */
    const follow = (event) => {
      const link = event.target instanceof Element ? event.target.closest('a[href^="#cell="]') : null;
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      go(withCell(state, new URLSearchParams(link.getAttribute("href")?.slice(1)).get("cell") ?? ""));
    };
    addEventListener("click", follow);
    return () => removeEventListener("click", follow);
  });
  /** Run a command; return why it cannot be run, if so. @param {string} command @returns {string} */
  const run = (command) => {
    if (command === "escape") return escape(commands.current), "";
    if (command in SECTIONS && visit(SECTIONS[command])) return "";
    if (command in commands.current) return commands.current[command](), "";
    if (command === "models") return "the page has no such table";
    return state.cell ? "no samples are shown" : "open a cell first, by its name in the tables";
  };
  useLayoutEffect(() => {
    render(html`<${Controls} state=${state} go=${go} run=${run} />`, header);
  });
  return report && html`<${App} report=${report} state=${state} go=${go} commands=${commands} />`;
}

/** Leave a field, else close the sample. @param {Record<string, () => void>} commands */
function escape(commands) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  if (focused?.tagName === "INPUT") focused.blur();
  else commands.close?.();
}

/** @param {string} sentence */
function explain(sentence) {
  const paragraph = document.createElement("p");
  paragraph.textContent = sentence;
  details.append(paragraph);
}

async function start() {
  document.querySelector("header")?.append(header);
  adopt();
  const blocks = new Blocks((name) => document.getElementById(name)?.textContent ?? null);
  /** @type {Report | null} */
  let report = null;
  let why = OLD_BROWSER;
  if (typeof DecompressionStream !== "undefined") {
    try {
      report = await Report.open(blocks);
    } catch (error) {
      why = `The details cannot be shown: ${error instanceof Error ? error.message : error}.`;
    }
  }
  details.replaceChildren();
  const root = document.createElement("div");
  details.append(root);
  render(html`<${Page} report=${report} />`, root);
  if (!report) explain(why);
  document.documentElement.dataset.viewer = report ? "ready" : "summary";
}

start();
