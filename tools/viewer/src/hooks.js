// @ts-check
/** Hooks: blocks that load, and the state in the page's address. */

import { useCallback, useEffect, useState } from "preact/hooks";

import { format, parse } from "./fragment.js";

/** @typedef {import("./fragment").State} State */
/** @typedef {(change: Partial<State>, options?: { replace?: boolean }) => void} Go */

/**
 * The values of JSON blocks, null while one loads. A damaged block is thrown, for the page to show.
 * @param {import("./blocks").Blocks} blocks
 * @param {string[]} names
 * @returns {any[] | null}
 */
export function useBlocks(blocks, names) {
  const [, refresh] = useState(0);
  const [failure, fail] = useState(/** @type {unknown} */ (null));
  const missing = names.filter((name) => !blocks.has(name));
  useEffect(() => {
    let live = true;
    if (missing.length) blocks.load(missing).then(() => live && refresh((times) => times + 1), (error) => live && fail(error));
    return () => void (live = false);
  }, [missing.join()]);
  if (failure) throw failure;
  return missing.length ? null : names.map((name) => blocks.get(name));
}

/** The state in the address, and its change: a step of the back button, or, with `replace`, none. @returns {[State, Go]} */
export function useAddress() {
  const [state, setState] = useState(() => parse(location.hash));
  useEffect(() => {
    const read = () => setState(parse(location.hash));
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  /** @type {Go} */
  const go = useCallback((change, { replace = false } = {}) => {
    const changed = { ...parse(location.hash), ...change };
    const fragment = `#${format(changed)}`;
    if (replace) location.replace(fragment);
    else location.hash = fragment;
    setState(changed);
  }, []);
  return [state, go];
}
