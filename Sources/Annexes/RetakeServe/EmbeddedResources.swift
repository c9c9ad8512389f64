// swift-format-ignore-file
// Made by Scripts/embed-resources from the files in Resources; change those, then run it again.

/// The files of this module's Resources folder, byte for byte.
enum EmbeddedResources {
  static let homeCSS = #"""
.home main { padding-top: 8px; gap: 0; }
.home h2 { font-size: 15px; font-weight: 640; margin-bottom: 8px; }
.home td:first-child, .home thead th:first-child { width: 40%; }
.home td.verdict-cell { font-weight: 600; color: var(--tone); white-space: nowrap; }
.home td.number-cell { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.home thead th.number-cell { text-align: right; }
.home .problem-cell { color: var(--violet); }
#viewer { margin-top: 18px; padding-top: 16px; border-top: 1px solid var(--line); }
#viewer .bar-row { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; margin-bottom: 12px; }
#viewer h3 { font-size: 15px; margin-right: auto; }
#viewer input[type="number"] { font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--line-2); border-radius: 7px; padding: 5px 8px; width: 110px; min-height: 34px; }
#viewer figure { margin: 0 0 8px; }
#viewer img { display: block; max-width: 100%; max-height: 66vh; margin: 0 auto; background: var(--stage); border-radius: 8px; }
#viewer figcaption { min-height: 21px; margin-top: 6px; font-size: 14px; font-weight: 400; color: var(--ink-3); font-variant-numeric: tabular-nums; }
@media (max-width: 620px) {
  .home td:first-child, .home thead th:first-child { width: auto; }
  .home td.number-cell { white-space: normal; }
}

"""#
  static let homeCSSHash = "5njLQRdXFOBqgtHtdvhbNew7jGplJtTJg03caiodMzc="
  static let homeHTML = #"""
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Retake</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<link rel="stylesheet" href="home.css">
</head>
<body class="home">
<a class="skip" href="#detail">Skip to the reports</a>
<header class="banner plain">
<div class="wide">
<div class="top"><p class="product"><b>Retake</b> <bdi id="project"></bdi></p></div>
<h1>Reports and sessions</h1>
<p class="meaning" id="summary" role="status">Reading the project …</p>
</div>
</header>
<main class="wide body single" id="detail" tabindex="-1">
<noscript><p class="note">These pages need JavaScript. A report by itself, opened from disk, does not.</p></noscript>
<section class="card" aria-labelledby="reports-title"><h2 id="reports-title">Reports</h2><div id="reports"></div></section>
<section class="card" aria-labelledby="pending-title"><h2 id="pending-title">Waiting to be accepted</h2><div id="pending"></div></section>
<section class="card" aria-labelledby="sessions-title">
<h2 id="sessions-title">Sessions</h2>
<div id="sessions"></div>
<div id="viewer" hidden>
<div class="bar-row">
<h3 id="viewer-title" tabindex="-1"></h3>
<button id="viewer-play" type="button" aria-pressed="false">Play</button>
<label for="viewer-track">Track</label> <select id="viewer-track"></select>
<label for="viewer-number">Frame</label> <input id="viewer-number" type="number" min="0" step="1">
</div>
<figure><img id="viewer-picture" alt=""><figcaption id="viewer-caption" role="status"></figcaption></figure>
<input id="viewer-slider" type="range" min="0" step="1" aria-label="Frame">
<p class="quiet">Keys on the slider: <kbd>←</kbd> <kbd>→</kbd> one frame, <kbd>Page up</kbd> <kbd>Page down</kbd> a tenth, <kbd>Home</kbd> <kbd>End</kbd>.</p>
</div>
</section>
<section class="card" aria-labelledby="runs-title"><h2 id="runs-title">Runs</h2><div id="runs"></div></section>
</main>
<script src="home.js"></script>
</body>
</html>

"""#
  static let homeJS = #"""
"use strict";
(() => {
  const byID = (id) => document.getElementById(id);
  // The name of the server's program in commands to type.
  let program = "retake";
  const plural = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

  // Names come from files: they only ever become text, and what acts in a text is shown.
  const acting = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;
  const visible = (text) => String(text).replace(acting, (one) => `\\u{${one.codePointAt(0).toString(16).toUpperCase()}}`);
  function html(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "click") node.addEventListener("click", value);
      else if (value !== undefined) node.setAttribute(name, value);
    }
    for (const child of children) node.append(child instanceof Node ? child : visible(child));
    return node;
  }

  function table(host, heads, rows, empty) {
    if (!rows.length) return host.replaceChildren(html("p", { class: "quiet" }, empty));
    host.replaceChildren(html("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": heads[0] },
      html("table", {}, html("thead", {}, html("tr", {}, ...heads.map((head, index) => html("th", { scope: "col", class: index ? "number-cell" : undefined }, head)))),
        html("tbody", {}, ...rows))));
  }

  const kinds = { 0: "passed", 1: "changed", 2: "errored" };
  function reportRow(report) {
    const name = html("a", { href: `reports/${encodeURIComponent(report.id)}` }, html("bdi", {}, report.path || "."));
    if (report.error) return html("tr", {}, html("td", {}, html("bdi", {}, report.path || ".")), html("td", { class: "problem-cell", colspan: "3" }, report.error));
    return html("tr", {}, html("td", {}, name), html("td", { class: `number-cell verdict-cell ${kinds[report.exitCode] || "missing"}` }, report.exitWord),
      html("td", { class: "number-cell" }, report.counts), html("td", { class: "number-cell" }, report.generatedAt || "–"));
  }

  function sessionRow(session) {
    if (session.error) return html("tr", {}, html("td", {}, html("bdi", {}, session.name)), html("td", { class: "problem-cell", colspan: "3" }, session.error));
    const look = html("button", { type: "button", click: () => view.open(session) }, html("bdi", {}, session.name));
    const frames = session.tracks.reduce((sum, track) => sum + track.frames, 0);
    return html("tr", {}, html("td", {}, look), html("td", { class: "number-cell" }, plural(frames, "frame")),
      html("td", { class: "number-cell" }, session.tracks.map((track) => `${track.width}×${track.height}`).join(", ")), labelsCell(session));
  }

  function labelsCell({ name, labels }) {
    if (labels?.error) return html("td", { class: "problem-cell" }, labels.error);
    const text = labels ? `Labels: ${labels.labelled} of ${plural(labels.frames, "frame")}${labels.drafts ? `, ${plural(labels.drafts, "draft")}` : ""}` : "No labels yet";
    return html("td", { class: "number-cell" }, html("a", { href: `labels?session=${encodeURIComponent(name)}` }, text));
  }

  function runRow(run) {
    if (run.error) return html("tr", {}, html("td", {}, html("bdi", {}, run.path)), html("td", { class: "problem-cell", colspan: "2" }, run.error));
    return html("tr", {}, html("td", {}, html("bdi", {}, run.path)), html("td", { class: "number-cell" }, plural(run.frames, "frame")),
      html("td", { class: "number-cell" }, run.decisionDigest));
  }

  // A case that waits leads to its place in the newest report that has it.
  function pendingRow(item) {
    const name = html("bdi", {}, item.key);
    if (!item.report) return html("tr", {}, html("td", {}, name), html("td", { class: "number-cell" }, `in no report: ${program} test --report report`));
    return html("tr", {}, html("td", {}, html("a", { href: `reports/${encodeURIComponent(item.report)}#${encodeURIComponent(item.anchor)}` }, name)), html("td", { class: "number-cell" }, "in its report"));
  }

  // Frames of one session. The picture that was asked for last is the one that is shown.
  const view = {
    session: undefined, wanted: 0, busy: false, playing: false, shown: undefined,
    open(session) {
      this.play(false);
      this.session = session;
      byID("viewer").hidden = false;
      byID("viewer-title").textContent = visible(session.name);
      byID("viewer-track").replaceChildren(...session.tracks.map((track) => html("option", { value: String(track.track) }, String(track.track))));
      this.choose();
      byID("viewer-title").focus();
      byID("viewer").scrollIntoView({ block: "start" });
    },
    get track() { return this.session.tracks.find((one) => String(one.track) === byID("viewer-track").value); },
    choose() {
      this.play(false);
      const last = Math.max(0, this.track.frames - 1);
      byID("viewer-slider").max = byID("viewer-number").max = String(last);
      this.seek(0);
    },
    seek(sequence) {
      const last = Math.max(0, this.track.frames - 1);
      this.wanted = Math.min(Math.max(0, Math.round(sequence) || 0), last);
      byID("viewer-slider").value = byID("viewer-number").value = String(this.wanted);
      byID("viewer-slider").setAttribute("aria-valuetext", `frame ${this.wanted} of ${last}`);
      this.load();
    },
    // At the recorded pace, or slower where frames take longer to come: none is skipped.
    play(playing) {
      this.playing = playing;
      this.shown = undefined;
      byID("viewer-play").textContent = playing ? "Pause" : "Play";
      byID("viewer-play").setAttribute("aria-pressed", String(playing));
      if (playing) this.seek(this.wanted < this.track.frames - 1 ? this.wanted : 0);
    },
    playOn(sequence, nanoseconds) {
      if (sequence >= this.track.frames - 1) return this.play(false);
      const before = this.shown;
      this.shown = { at: performance.now(), nanoseconds };
      const pause = before ? (nanoseconds - before.nanoseconds) / 1e6 - (this.shown.at - before.at) : 0;
      this.shown.at += Math.max(0, pause || 0);
      setTimeout(() => { if (this.playing && this.wanted === sequence) this.seek(sequence + 1); }, Math.max(0, pause || 0));
    },
    async load() {
      if (this.busy) return;
      this.busy = true;
      const { session, wanted, track } = this;
      const address = `frames/${encodeURIComponent(session.name)}/${track.track}/${wanted}`;
      const picture = byID("viewer-picture");
      const loaded = new Promise((done) => { picture.onload = () => done(true); picture.onerror = () => done(false); });
      picture.alt = `Frame ${track.track}:${wanted} of ${visible(session.name)}`;
      picture.src = `${address}.png`;
      const [shown, facts] = await Promise.all([loaded, fetch(`${address}.json`).then((answer) => answer.json(), () => ({}))]);
      const time = facts.timeNanoseconds === undefined ? "" : ` · ${(facts.timeNanoseconds / 1e9).toFixed(3)} s`;
      byID("viewer-caption").textContent = visible(shown ? `Frame ${track.track}:${wanted}${time}` : `Frame ${track.track}:${wanted} cannot be shown${facts.damage ? ": " + facts.damage : ""}`);
      picture.dataset.frame = `${track.track}:${wanted}`;
      this.busy = false;
      if (this.session !== session || this.wanted !== wanted || this.track !== track) this.load();
      else if (this.playing) this.playOn(wanted, facts.timeNanoseconds);
    },
    key(event) {
      const tenth = Math.max(1, Math.round(this.track.frames / 10));
      const moves = { PageUp: tenth, PageDown: -tenth };
      if (!(event.key in moves)) return;
      event.preventDefault();
      this.seek(this.wanted + moves[event.key]);
    },
  };
  byID("viewer-play").addEventListener("click", () => view.play(!view.playing));
  byID("viewer-slider").addEventListener("input", (event) => view.seek(Number(event.target.value)));
  byID("viewer-slider").addEventListener("keydown", (event) => view.key(event));
  byID("viewer-number").addEventListener("change", (event) => view.seek(Number(event.target.value)));
  byID("viewer-track").addEventListener("change", () => view.choose());

  async function start() {
    const answer = await fetch("state.json");
    const state = await answer.json();
    if (!answer.ok) throw new Error(state.message);
    program = state.program;
    byID("project").textContent = visible(state.project);
    document.title = `Retake · ${visible(state.project)}`;
    byID("summary").textContent = `${plural(state.reports.length, "report")}, ${plural(state.sessions.length, "session")}, ${plural(state.runs.length, "run")}, ${state.pending.length} waiting to be accepted`
      + (state.more ? `; ${state.more} more are not listed` : "") + (state.isCI ? ". This is CI: goldens cannot be accepted here" : "");
    table(byID("reports"), ["Report", "Verdict", "Cases", "Made"], state.reports.map(reportRow), `No report yet. Make one: ${program} test --report report`);
    table(byID("sessions"), ["Session", "Frames", "Size", "Labels"], state.sessions.map(sessionRow), `No session in Recordings. Make one: ${program} import FILE`);
    table(byID("runs"), ["Run", "Frames", "Decisions"], state.runs.map(runRow), `No run was kept. Keep one: ${program} replay SESSION --output runs/first`);
    table(byID("pending"), ["Case", "Look at it"], state.pending.map(pendingRow), "Nothing. What a test leaves pending is accepted on its report's page.");
    document.documentElement.classList.add("js", "ready");
  }
  start().catch((error) => { byID("summary").textContent = `The project cannot be read: ${visible(error.message)}`; });
})();

"""#
  static let homeJSHash = "GtAPkWJZtTWbRC8IjoA8MgdWmrxFrnqd3kZ0ZLpTUWk="
  static let labelsCSS = #"""
.labels main { padding-top: 8px; }
.labels h2 { font-size: 19px; margin-right: auto; }
.labels .bar-row { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; margin-bottom: 12px; }
.labels input:not([type="range"]):not([type="checkbox"]) { font: inherit; color: var(--ink); background: var(--surface); border: 1px solid var(--line-2); border-radius: 7px; padding: 5px 8px; min-height: 34px; min-width: 0; }
#number { width: 100px; }
.desk { display: grid; grid-template-columns: minmax(0, 1fr) 280px; gap: 20px; align-items: start; }
.desk figure { margin: 0; min-width: 0; }
.desk .panels svg { max-height: 70vh; touch-action: none; cursor: crosshair; }
.desk .loading image { opacity: 0.4; }
.desk .box { fill: transparent; cursor: move; stroke: var(--truth-box); }
.desk .chosen .box { stroke: #fff; }
.desk .ignored .box { stroke-dasharray: 6 4; fill: rgb(0 0 0 / 30%); }
.desk .handle { fill: #fff; stroke: #000; }
.desk [data-handle="nw"], .desk [data-handle="se"] { cursor: nwse-resize; }
.desk [data-handle="ne"], .desk [data-handle="sw"] { cursor: nesw-resize; }
.desk [data-handle="n"], .desk [data-handle="s"] { cursor: ns-resize; }
.desk [data-handle="w"], .desk [data-handle="e"] { cursor: ew-resize; }
.side { display: grid; gap: 8px; font-size: 14px; }
.side .bar-row { margin: 0; gap: 8px; }
.side select { min-height: 120px; padding: 4px; font: 13px/1.5 var(--mono); }
.side fieldset { display: grid; grid-template-columns: 1fr 1fr; gap: 8px 12px; border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px 12px; margin: 0; min-width: 0; }
.side fieldset label { display: grid; gap: 2px 6px; color: var(--ink-3); overflow-wrap: anywhere; }
.side .full { grid-column: 1 / -1; }
.side .check { grid-template-columns: auto 1fr; align-items: end; padding-bottom: 8px; white-space: nowrap; }
.labels .primary:not(:disabled) { background: var(--ink); color: var(--page); border-color: var(--ink); }
.outcome { min-height: 22px; margin-bottom: 8px; font-weight: 550; }
.outcome[data-done="yes"] { color: var(--green); }
.outcome[data-done="no"] { color: var(--red); }
#keys { font-size: 13px; max-width: 110ch; margin-top: 16px; }
@media (max-width: 900px) { .desk { grid-template-columns: minmax(0, 1fr); } }

"""#
  static let labelsCSSHash = "c9YHxgxutvNKeiOl0KlmUvFrI4j+eCkuwC8NWTaFj/8="
  static let labelsHTML = #"""
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Retake · Labels</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<link rel="stylesheet" href="labels.css">
</head>
<body class="labels">
<a class="skip" href="#boxes">Skip to the boxes</a>
<header class="banner plain">
<div class="wide">
<div class="top"><p class="product"><b>Retake</b> <a href=".">Reports and sessions</a></p></div>
<h1>Labels of <bdi id="session"></bdi></h1>
<p class="meaning" id="summary">Reading the labels …</p>
</div>
</header>
<main class="wide body single">
<noscript><p class="note">This page needs JavaScript. Labels can also be corrected in their file.</p></noscript>
<section class="card" id="editor" aria-labelledby="title" hidden>
<div class="bar-row">
<h2 id="title"></h2>
<label id="track-label">Track <select id="track"></select></label>
<label>Frame <input id="number" type="number" min="0" step="1"></label>
<div class="group">
<button type="button" id="previous" aria-keyshortcuts="p">Previous</button>
<button type="button" id="next" aria-keyshortcuts="n">Next</button>
<button type="button" id="next-draft" aria-keyshortcuts="d">Next draft</button>
</div>
</div>
<div class="bar-row">
<button type="button" id="right-next" class="primary" aria-keyshortcuts="Enter">Right, and next draft</button>
<button type="button" id="right" aria-keyshortcuts="r">This frame is right</button>
<button type="button" id="empty" aria-keyshortcuts="o">No objects</button>
<button type="button" id="remove">Not labelled</button>
<button type="button" id="undo" aria-keyshortcuts="u Control+Z">Undo</button>
<button type="button" id="save" aria-keyshortcuts="s">Save</button>
<button type="button" id="reload" hidden>Load the new labels</button>
</div>
<p class="outcome" id="outcome" role="status"></p>
<div class="desk">
<figure class="panels one">
<svg id="picture" tabindex="0" role="application" aria-describedby="keys"><image id="image" preserveAspectRatio="none"></image><g id="drawing"></g></svg>
<figcaption id="caption"></figcaption>
<input id="slider" type="range" min="0" step="1" aria-label="Frame">
</figure>
<div class="side">
<label for="boxes">Boxes</label>
<select id="boxes" size="7"></select>
<div class="bar-row">
<button type="button" id="add" aria-keyshortcuts="a">Add a box</button>
<button type="button" id="delete" aria-keyshortcuts="Delete">Delete</button>
<button type="button" id="zoom" aria-keyshortcuts="z" aria-pressed="false">Zoom</button>
</div>
<fieldset id="fields">
<legend>Chosen box</legend>
<label class="full">Class <input id="label" list="classes" autocomplete="off" maxlength="200"></label>
<datalist id="classes"></datalist>
<label>Identity <input id="identity" type="number" step="1"></label>
<label class="check"><input id="ignored" type="checkbox" aria-keyshortcuts="i"> Ignored region</label>
<label>Left <input id="x" type="number" step="any"></label>
<label>Top <input id="y" type="number" step="any"></label>
<label>Width <input id="width" type="number" step="any" min="0"></label>
<label>Height <input id="height" type="number" step="any" min="0"></label>
<label class="full">Text <input id="text" autocomplete="off" maxlength="1000"></label>
</fieldset>
<fieldset id="numbers"><legend>Numbers of the frame</legend></fieldset>
</div>
</div>
<p class="sr" id="said" role="status"></p>
<p class="quiet" id="keys">Drag on the frame to draw a box, with <kbd>Shift</kbd> also over another box; drag a box to move it, its corners and sides to resize it. Keys: <kbd>n</kbd> <kbd>p</kbd> next, previous frame, <kbd>d</kbd> next draft, <kbd>Enter</kbd> right, and next draft, <kbd>r</kbd> right, <kbd>o</kbd> no objects, <kbd>a</kbd> add a box, <kbd>b</kbd> next box, <kbd>1</kbd> to <kbd>9</kbd> its class, <kbd>i</kbd> ignored region, <kbd>Delete</kbd>, <kbd>z</kbd> zoom to the box, <kbd>u</kbd> undo, <kbd>s</kbd> save. On the frame, arrows move the box by a pixel, with <kbd>Shift</kbd> by ten; with <kbd>Alt</kbd> they resize it.</p>
</section>
</main>
<script src="labels.js"></script>
</body>
</html>

"""#
  static let labelsJS = #"""
"use strict";
(() => {
  const byID = (id) => document.getElementById(id);
  const picture = byID("picture");
  const session = new URLSearchParams(location.search).get("session") ?? "";
  const address = `labels/${encodeURIComponent(session)}`;
  const undoMax = 1000;
  // In bytes of UTF-8; the server reads at most 65,536.
  const requestMax = 60000;

  // Names come from files: they only ever become text, and control characters are shown.
  const acting = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;
  const visible = (text) => String(text).replace(acting, (one) => `\\u{${one.codePointAt(0).toString(16).toUpperCase()}}`);
  const plural = (number, noun, nouns = `${noun}s`) => `${number} ${number === 1 ? noun : nouns}`;
  const tidy = (number) => Math.round(number * 100) / 100;
  const clamp = (number, low, high) => Math.min(Math.max(number, low), high);

  function make(space, tag, attributes, ...children) {
    const node = document.createElementNS(`http://www.w3.org/${space}`, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children.map((child) => (child instanceof Node ? child : visible(child))));
    return node;
  }
  const html = (...parts) => make("1999/xhtml", ...parts);
  const svg = (...parts) => make("2000/svg", ...parts);

  // The labels of the file, and the frames as they are on the page. A frame is never changed in place, so both share it.
  let labels;
  let frames = {};
  const undo = [];
  let shown = { track: 0, number: 0 };
  let chosen = -1;
  let lastClass;
  let view;
  let drag;
  let loading;
  let saving = Promise.resolve(true);

  const id = () => `${shown.track}:${shown.number}`;
  const track = () => labels.tracks.find((one) => one.track === shown.track);
  const boxes = () => frames[id()]?.boxes ?? [];
  const textOf = (frame) => frame && JSON.stringify([frame.draft === true, frame.boxes?.map(({ box, label, identity, ignored, text }) =>
    [box.x, box.y, box.width, box.height, label, identity ?? null, ignored === true, text ?? null]), Object.entries(frame.scalars ?? {}).sort()]);
  const isChanged = (name) => frames[name] !== labels.frames[name] && textOf(frames[name]) !== textOf(labels.frames[name]);
  const changed = () => [...new Set([...Object.keys(frames), ...Object.keys(labels.frames)])].filter(isChanged);
  const drafts = () => Object.keys(frames).filter((name) => frames[name].draft);

  function say(text, done) {
    byID("outcome").textContent = visible(text);
    byID("outcome").dataset.done = done === undefined ? "" : done ? "yes" : "no";
  }

  // MARK: Changes

  function put(name, frame) {
    if (frame) frames[name] = frame; else delete frames[name];
  }

  function keep(name, before) {
    undo.push({ name, before });
    if (undo.length > undoMax) undo.shift();
  }

  /// Changes a copy of the frame; `change` may return another frame, or null if it is not labelled.
  function edit(change) {
    const before = frames[id()];
    const frame = structuredClone(before ?? { boxes: [] });
    const result = change(frame);
    put(id(), result === null ? undefined : frame);
    if (textOf(frames[id()]) === textOf(before)) return put(id(), before), show();
    keep(id(), before);
    say("");
    show();
  }

  function editBox(change) {
    if (chosen >= 0 && boxes()[chosen]) edit((frame) => { change(frame.boxes[chosen]); });
  }

  function takeBack() {
    const last = undo.pop();
    if (!last) return say("Nothing to undo.");
    put(last.name, last.before);
    const [trackNumber, number] = last.name.split(":").map(Number);
    chosen = -1;
    go(number, trackNumber);
    say(`Undone in frame ${last.name}.`);
  }

  const newBox = (box) => ({ box, label: lastClass ?? labels.classes[0] ?? "object" });

  function add() {
    const { width, height } = view;
    edit((frame) => {
      chosen = (frame.boxes ??= []).push(newBox({ x: Math.round(view.x + width * 3 / 8), y: Math.round(view.y + height * 3 / 8),
        width: Math.max(1, Math.round(width / 4)), height: Math.max(1, Math.round(height / 4)) })) - 1;
    });
    picture.focus();
  }

  function remove() {
    if (chosen < 0) return;
    edit((frame) => { frame.boxes.splice(chosen, 1); chosen = Math.min(chosen, frame.boxes.length - 1); });
  }

  function setClass(name) {
    if (!name.trim()) return show();
    lastClass = name.trim();
    editBox((item) => { item.label = lastClass; });
  }

  const right = (frame) => { delete frame.draft; };

  /// Saves the frame with a verdict of the person.
  async function judge(change) {
    if (labels.isCI) return false;
    edit(change);
    return isChanged(id()) ? save([id()]) : true;
  }

  async function rightAndNext() {
    if (frames[id()] && !(await judge(right))) return;
    nextDraft();
  }

  // MARK: Saving

  function save(names) {
    saving = saving.then(() => saveAll(names));
    return saving;
  }

  async function saveAll(names) {
    const left = names.filter(isChanged);
    const what = left.length === 1 ? `frame ${left[0]}` : plural(left.length, "frame");
    const isNeeded = left.length > 0;
    while (left.length) {
      const sent = {};
      let bytes = 100;
      while (left.length) {
        const size = new TextEncoder().encode(JSON.stringify(frames[left[0]] ?? null)).length + 40;
        if (bytes > 100 && bytes + size > requestMax) break;
        bytes += size;
        const name = left.shift();
        sent[name] = frames[name] ?? null;
      }
      if (!(await send(sent))) return false;
    }
    if (isNeeded) say(`Saved ${what}.`, true);
    show();
    return true;
  }

  async function send(sent) {
    let answer, result;
    try {
      answer = await fetch(address, { method: "POST", body: JSON.stringify({ digest: labels.digest, frames: sent }),
        headers: { "Content-Type": "application/json", "X-Retake-Token": location.pathname.split("/")[1] } });
      result = await answer.json();
    } catch {
      say(`Not saved: the server does not answer. Is ${labels.program} report serve still running?`, false);
      return false;
    }
    if (!answer.ok) {
      byID("reload").hidden = result.code !== "labels.changed";
      say(`Not saved: ${result.message}.${result.cause ? ` ${result.cause}.` : ""}`, false);
      return false;
    }
    labels.digest = result.digest;
    labels.classes = result.classes;
    for (const [name, frame] of Object.entries(sent)) if (frame) labels.frames[name] = frame; else delete labels.frames[name];
    return true;
  }

  async function load() {
    const answer = await fetch(address);
    const next = await answer.json();
    if (!answer.ok) throw new Error(next.message);
    const mine = labels ? changed() : [];
    // A frame that changed here and in the file is shown as in the file; undo has the page's.
    const lost = mine.filter((name) => textOf(next.frames[name]) !== textOf(labels.frames[name]));
    const old = frames;
    frames = { ...next.frames };
    labels = next;
    for (const name of mine) if (lost.includes(name)) keep(name, old[name]); else put(name, old[name]);
    return lost;
  }

  async function reload() {
    try {
      const lost = await load();
      byID("reload").hidden = true;
      chosen = -1;
      show();
      say(lost.length ? `Loaded. ${plural(lost.length, "frame")} changed here and in the file: ${lost.join(", ")}. The file's is shown; undo brings yours back.` : "Loaded. Your changes are kept.", !lost.length);
    } catch (error) { say(`The labels cannot be read: ${error.message}`, false); }
  }

  // MARK: Frames

  function go(number, trackNumber = shown.track) {
    const last = Math.max(0, labels.tracks.find((one) => one.track === trackNumber).frames - 1);
    const next = { track: trackNumber, number: clamp(Math.round(number) || 0, 0, last) };
    if (next.track !== shown.track || !view) view = undefined;
    if (next.track !== shown.track || next.number !== shown.number) chosen = -1;
    shown = next;
    history.replaceState(null, "", `#${id()}`);
    show();
    const { words } = state();
    byID("said").textContent = `Frame ${id()}, ${words}, ${plural(boxes().length, "box", "boxes")}`;
  }

  function nextDraft() {
    const order = drafts().map((name) => name.split(":").map(Number)).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const next = order.find(([t, n]) => t > shown.track || (t === shown.track && n > shown.number)) ?? order[0];
    if (!next) return say("No drafts are left.", true);
    go(next[1], next[0]);
  }

  function state() {
    const frame = frames[id()];
    const word = !frame ? "not labelled" : frame.draft ? "draft" : !frame.boxes ? "numbers only" : frame.boxes.length ? "labelled" : "no objects";
    return { frame, words: word + (isChanged(id()) ? ", not saved" : "") };
  }

  // MARK: Drawing

  function show() {
    const { frame, words } = state();
    const { width, height, frames: count } = track();
    view ??= { x: 0, y: 0, width, height };
    chosen = clamp(chosen, -1, boxes().length - 1);
    byID("title").replaceChildren(`Frame ${id()} `, html("span", { class: "quiet" }, words));
    for (const field of ["slider", "number"]) { byID(field).max = String(count - 1); byID(field).value = String(shown.number); }
    byID("slider").setAttribute("aria-valuetext", `frame ${shown.number} of ${count - 1}, ${words}`);
    byID("track").value = String(shown.track);
    const waiting = changed().length;
    const all = Object.keys(frames).length;
    byID("summary").textContent = `${all - drafts().length} of ${plural(labels.tracks.reduce((sum, one) => sum + one.frames, 0), "frame")} labelled, ${plural(drafts().length, "draft")}`;
    byID("save").textContent = waiting ? `Save ${plural(waiting, "frame")}` : "Save";
    byID("save").disabled = !waiting || labels.isCI;
    for (const button of ["right", "right-next"]) byID(button).disabled = !frame || labels.isCI;
    byID("right-next").disabled &&= labels.isCI || !drafts().length;
    byID("empty").disabled = byID("remove").disabled = labels.isCI;
    byID("remove").disabled ||= !frame;
    byID("undo").disabled = !undo.length;
    byID("next-draft").disabled = !drafts().length;
    showPicture(width, height);
    showList();
    showFields(frame);
    draw();
  }

  function showPicture(width, height) {
    picture.setAttribute("aria-label", `Frame ${id()} with ${plural(boxes().length, "box", "boxes")}`);
    for (const [name, value] of [["width", width], ["height", height]]) byID("image").setAttribute(name, value);
    // One request at a time: the server decodes one frame after another.
    if (loading || picture.dataset.frame === id()) return;
    loading = id();
    picture.classList.add("loading");
    byID("image").setAttribute("href", `frames/${encodeURIComponent(session)}/${shown.track}/${shown.number}.png?width=1920`);
  }

  function loaded(hasPicture) {
    picture.dataset.frame = loading;
    loading = undefined;
    byID("caption").textContent = hasPicture ? "" : `Frame ${picture.dataset.frame} has no picture.`;
    if (picture.dataset.frame === id()) picture.classList.remove("loading");
    else showPicture(track().width, track().height);
  }

  function showList() {
    byID("boxes").replaceChildren(...boxes().map(({ box, label, identity, ignored }, index) => html("option", { value: index },
      `${label}${identity === undefined ? "" : ` #${identity}`}${ignored ? ", ignored" : ""}: ${box.x}, ${box.y}, ${box.width}×${box.height}`)));
    byID("boxes").selectedIndex = chosen;
    byID("classes").replaceChildren(...labels.classes.map((name) => html("option", { value: name })));
  }

  function showFields(frame) {
    const item = boxes()[chosen];
    byID("fields").disabled = byID("delete").disabled = !item;
    byID("zoom").disabled = !item && view.width === track().width;
    byID("zoom").setAttribute("aria-pressed", String(view.width !== track().width));
    byID("label").value = item?.label ?? "";
    byID("identity").value = item?.identity ?? "";
    byID("text").value = item?.text ?? "";
    byID("ignored").checked = item?.ignored === true;
    for (const side of ["x", "y", "width", "height"]) byID(side).value = item ? String(item.box[side]) : "";
    const scalars = Object.entries(frame?.scalars ?? {}).sort();
    byID("numbers").hidden = !scalars.length;
    byID("numbers").replaceChildren(byID("numbers").firstElementChild, ...scalars.map(([name, value]) => {
      const field = html("input", { type: "number", step: "any", value });
      field.addEventListener("change", () => edit((one) => { if (field.value !== "") one.scalars[name] = Number(field.value); }));
      return html("label", {}, name, field);
    }));
  }

  function draw() {
    picture.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    const unit = 1 / (picture.getScreenCTM()?.a || 1);
    // Small boxes last, so that the pointer reaches one inside of another.
    const order = boxes().map((item, index) => ({ ...item, index })).sort((a, b) => (a.index === chosen) - (b.index === chosen) || b.box.width * b.box.height - a.box.width * a.box.height);
    byID("drawing").replaceChildren(...order.map(({ box, label, identity, ignored, index }) => {
      const group = svg("g", { class: `${index === chosen ? "chosen" : ""} ${ignored ? "ignored" : ""}` });
      group.append(svg("rect", { class: "halo", ...box }), svg("rect", { class: "box", ...box, "data-box": index }),
        svg("text", { x: box.x, y: Math.max(view.y + 13 * unit, box.y - 4 * unit), "font-size": 13 * unit, "stroke-width": 3 * unit }, label + (identity === undefined ? "" : ` #${identity}`)));
      if (index === chosen) for (const name of ["n", "s", "w", "e", "nw", "ne", "sw", "se"]) {
        const at = (low, high, start, size) => start + (name.includes(low) ? 0 : name.includes(high) ? size : size / 2) - 5 * unit;
        group.append(svg("rect", { class: "handle", "data-handle": name, x: at("w", "e", box.x, box.width), y: at("n", "s", box.y, box.height), width: 10 * unit, height: 10 * unit }));
      }
      return group;
    }));
  }

  function choose(index) {
    chosen = clamp(index, -1, boxes().length - 1);
    show();
  }

  function zoom() {
    const { width, height } = track();
    const item = boxes()[chosen];
    if (view.width !== width || !item) view = undefined;
    else {
      const share = Math.min(1, Math.max(item.box.width / width, item.box.height / height, 0.02) * 3);
      view = { width: width * share, height: height * share };
      view.x = clamp(item.box.x + item.box.width / 2 - view.width / 2, 0, width - view.width);
      view.y = clamp(item.box.y + item.box.height / 2 - view.height / 2, 0, height - view.height);
    }
    show();
  }

  // MARK: Pointer and keys

  // A box that is inside of the frame stays inside of it.
  function moved(box, dx, dy) {
    const { width, height } = track();
    return { ...box, x: tidy(clamp(box.x + dx, Math.min(0, box.x), Math.max(box.x, width - box.width))),
      y: tidy(clamp(box.y + dy, Math.min(0, box.y), Math.max(box.y, height - box.height))) };
  }

  function resized(box, sides, to) {
    const result = { ...box };
    const ends = [["x", "width", "w", "e"], ["y", "height", "n", "s"]];
    for (const [start, size, low, high] of ends) {
      const end = box[start] + box[size];
      if (sides.includes(low)) { result[start] = Math.min(to[start], tidy(end - 1)); result[size] = tidy(end - result[start]); }
      if (sides.includes(high)) result[size] = tidy(Math.max(1, to[start] - box[start]));
    }
    return result;
  }

  function point(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    return { x: Math.round(clamp(at.x, 0, track().width)), y: Math.round(clamp(at.y, 0, track().height)) };
  }

  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { handle, box } = event.target.dataset;
    const start = point(event);
    drag = { start, before: frames[id()], kind: handle ? "resize" : box !== undefined && !event.shiftKey ? "move" : "draw", handle };
    picture.setPointerCapture(event.pointerId);
    picture.focus();
    if (drag.kind !== "resize") choose(drag.kind === "move" ? Number(box) : -1);
    drag.box = drag.kind === "draw" ? undefined : boxes()[chosen].box;
    event.preventDefault();
  });
  picture.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const to = point(event);
    const { start, before, kind } = drag;
    const frame = structuredClone(before ?? { boxes: [] });
    if (kind === "draw") {
      const box = { x: Math.min(start.x, to.x), y: Math.min(start.y, to.y), width: Math.abs(to.x - start.x), height: Math.abs(to.y - start.y) };
      if (box.width < 2 || box.height < 2) return;
      chosen = (frame.boxes ??= []).push(newBox(box)) - 1;
    } else frame.boxes[chosen].box = kind === "move" ? moved(drag.box, to.x - start.x, to.y - start.y) : resized(drag.box, drag.handle, to);
    put(id(), frame);
    show();
  });
  function drop(keeps) {
    if (!drag) return;
    const { before } = drag;
    drag = undefined;
    if (!keeps) put(id(), before);
    else if (textOf(frames[id()]) !== textOf(before)) { keep(id(), before); say(""); }
    show();
  }
  picture.addEventListener("pointerup", () => drop(true));
  picture.addEventListener("pointercancel", () => drop(false));

  picture.addEventListener("keydown", (event) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if ((!dx && !dy) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const step = event.shiftKey ? 10 : 1;
    editBox((item) => {
      const { box } = item;
      item.box = event.altKey ? resized(box, "es", { x: Math.round(box.x + box.width + dx * step), y: Math.round(box.y + box.height + dy * step) }) : moved(box, dx * step, dy * step);
    });
  });

  const saveChanged = () => (labels.isCI ? false : save(changed()));
  const noObjects = () => judge((frame) => { frame.boxes = []; right(frame); });
  const toggleIgnored = () => editBox((item) => { if (item.ignored) delete item.ignored; else item.ignored = true; });
  const nextBox = (by) => { if (boxes().length) choose((Math.max(chosen, by < 0 ? 0 : -1) + by + boxes().length) % boxes().length); };
  const actions = {
    n: () => go(shown.number + 1), p: () => go(shown.number - 1), d: nextDraft, Enter: rightAndNext, r: () => frames[id()] && judge(right), o: noObjects,
    a: add, b: () => nextBox(1), B: () => nextBox(-1), i: toggleIgnored, Delete: remove, Backspace: remove, z: zoom, u: takeBack, s: saveChanged, Escape: () => drop(false),
  };
  document.addEventListener("keydown", (event) => {
    if (!labels || event.altKey || event.defaultPrevented) return;
    const field = event.target.closest("input:not([type=range]):not([type=checkbox]), select");
    if ((event.ctrlKey || event.metaKey) && !(event.key === "z" && !field)) return;
    if (field && !(field.id === "boxes" && ["Enter", "Delete", "Backspace"].includes(event.key))) return;
    if (event.key === "Enter" && event.target.closest("button, a")) return;
    const number = Number(event.key);
    const action = event.ctrlKey || event.metaKey ? takeBack : number >= 1 && labels.classes[number - 1] !== undefined ? () => setClass(labels.classes[number - 1]) : Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  });

  const click = { previous: actions.p, next: actions.n, "next-draft": nextDraft, "right-next": rightAndNext, right: () => judge(right), empty: noObjects,
    remove: () => judge(() => null), add, delete: remove, zoom, undo: takeBack, save: saveChanged, reload };
  for (const [name, action] of Object.entries(click)) byID(name).addEventListener("click", action);
  byID("boxes").addEventListener("change", (event) => choose(event.target.selectedIndex));
  byID("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  byID("number").addEventListener("change", (event) => go(Number(event.target.value)));
  byID("track").addEventListener("change", (event) => go(0, Number(event.target.value)));
  byID("label").addEventListener("change", (event) => setClass(event.target.value));
  byID("ignored").addEventListener("change", toggleIgnored);
  byID("identity").addEventListener("change", ({ target }) => editBox((item) => { if (target.value === "") delete item.identity; else if (Number.isSafeInteger(Number(target.value))) item.identity = Number(target.value); }));
  byID("text").addEventListener("change", ({ target }) => editBox((item) => { if (target.value === "") delete item.text; else item.text = target.value; }));
  for (const side of ["x", "y", "width", "height"]) byID(side).addEventListener("change", ({ target }) => { editBox((item) => { if (target.value !== "") item.box[side] = Number(target.value); }); show(); });
  byID("image").addEventListener("load", () => loaded(true));
  byID("image").addEventListener("error", () => loaded(false));
  addEventListener("resize", () => { if (labels) draw(); });
  addEventListener("beforeunload", (event) => { if (labels && changed().length) event.preventDefault(); });

  async function start() {
    byID("session").textContent = visible(session);
    document.title = `Retake · Labels of ${visible(session)}`;
    await load();
    byID("editor").hidden = false;
    byID("track").replaceChildren(...labels.tracks.map((one) => html("option", { value: one.track }, String(one.track))));
    byID("track-label").hidden = labels.tracks.length < 2;
    const named = location.hash.match(/^#(\d+):(\d+)$/);
    const known = labels.tracks.find((one) => named && one.track === Number(named[1]));
    shown.track = (known ?? labels.tracks[0]).track;
    if (known) go(Number(named[2])); else if (drafts().length) { shown.number = -1; nextDraft(); } else go(0);
    if (labels.isCI) say("This is CI: labels are corrected on a desk.");
    document.documentElement.classList.add("js", "ready");
  }
  start().catch((error) => { byID("summary").textContent = `The labels cannot be read: ${visible(error.message)}`; });
})();

"""#
  static let labelsJSHash = "FdnB2AReMM+oY4tQXCFJDGUSHhNTXDPYySnqQ3ghxao="
}
