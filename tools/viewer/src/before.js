// @ts-check
/** A flipped answer as it was beside what it is: the prompts and the replies, with their word differences. */

import { useBlocks } from "./hooks.js";
import { html } from "./html.js";
import { wholeText } from "./prompts.js";
import { Difference, Long, Text } from "./text.js";

/** @param {{ report: import("./report").Report, place: number, reply: import("./contract").Reply }} props */
export function Before({ report, place, reply }) {
  const names = [`h${place}`, `s${report.cell(place).scenario}`];
  const loaded = useBlocks(report.blocks, report.existing(names));
  if (!reply.old || !loaded || loaded.length < names.length || !loaded[0].old) return null;
  const [head, { pieces }] = /** @type {[import("./contract").Shared, import("./contract").Pieces]} */ (loaded);
  const old = reply.old;
  const [was, is] = [wholeText(old.prompts, head.old ?? head, pieces), wholeText(reply.prompts, head, pieces)];
  return html`
    <div class="replies before">
      <article class="reply">
        <h4>Before, in run <${Text} text=${head.old?.run ?? ""} /></h4>
        ${was !== is && html`<p class="role">prompt</p><${Long} text=${was} />`}
        <p class="role">reply</p><${Long} text=${old.replies.join("\n")} />
      </article>
      <article class="reply">
        <h4>Now</h4>
        ${was !== is && html`<p class="role">prompt</p><${Difference} base=${was} text=${is} />`}
        <p class="role">reply</p><${Difference} base=${old.replies.join("\n")} text=${reply.replies.join("\n")} />
      </article>
    </div>
    ${was === is && html`<p class="note">The prompt is the same.</p>`}
  `;
}
