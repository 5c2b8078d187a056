// @ts-check
/** Markup as tagged templates. Values become text nodes and properties, never markup. */

import htm from "htm";
import { h } from "preact";

export const html = htm.bind(h);
