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
