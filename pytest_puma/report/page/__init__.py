"""The HTML page of a run: one file that a browser opens from the disk, without a server and without a network.

    <header> <main id="summary">          the summary, complete without JavaScript and without CSS (`page.html.jinja`)
    <section id="details">                the viewer of samples writes here
    <script type="text/plain" id="ix">    a block: JSON in UTF-8, raw deflate, base64
    <template id="viewer"><script>        the viewer (`viewer.js`, built by tools/viewer)
    <script>                              starts the viewer, after the first paint of the page

A content security policy allows these two scripts and these styles, and nothing else: no attribute `style`, no
evaluation of text, no request. Texts of models and data are escaped in the summary, and text nodes in the viewer.

**Blocks.** A *row* is a sample and a trial of a scenario: those of all its cells, in the order of their first
appearance. Lists over rows may end early; a missing place is null, and a cell may lack rows. Numbers after the letter
of a block are places in the lists `scenarios` and `cells` of `ix`. Rounded to 6 significant digits: scores; to 4:
probabilities and log-probabilities of samples. All other numbers are those of `run.json`.

- `ix`: `format` (1), `run`, `against` (what changes and flips refer to, null for nothing), `left_out` (the number of
  samples without `texts`, that of `shortened` ones, and the limit in `megabytes`, null by choice of the user),
  `scenarios` (`name`, `task`, `labels`, `ordered`, `primary`, `better`, the number of `rows`, `cells`) and `cells`,
  with all numbers that `index` makes of an outcome.
- `fl`: no JSON, but 16 bits for each row of each cell, the least significant byte first (`encoding`).
- `r0`: the rows of a scenario: `ids`, `trials`, `gold`, `references`, `choices`, `groups`.
- `s0`: the `pieces` of its prompts, each text once.
- `h0`: of a cell, the common `start` and `end` of its prompts, by turn: a list of [role, text], and a text.
- `a0`: its `answers`, as places in a `table`; `old`: by row, the answers of `against` that flipped; `top`: the
  probability of the most probable label; `scores`: by metric. A free text is cut to 200 characters, for it is a reply.
- `t0`: its `rows` of texts, null if left out: `replies`, `reply` (if the scenario reads another text), `prompts`,
  `finish`, `failure`, `parsed`, and if known `probabilities`, `likelihoods` and `unconditional` ([total, tokens]),
  `order`, `units`.

A prompt in `t0` is null if it repeats the one before. All others count as turns: the prompt of turn k is `start[k]`,
whose last text is followed by the piece of the first entry [null, piece]; further entries [role, piece] are messages of
their own; `end[k]` follows the last text. Where `start[k]` is empty, the first entry has a role, too.
"""
