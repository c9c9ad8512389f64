// swift-format-ignore-file
// Made by Scripts/embed-resources from the files in Resources; change those, then run it again.

/// The files of this module's Resources folder, byte for byte.
enum EmbeddedResources {
  static let pageCSS = #"""

:root {
  color-scheme: light dark;
  --page: #f6f6f4; --surface: #ffffff; --sunken: #f1f1ee; --stage: #e6e6e2;
  --ink: #1c1d20; --ink-2: #4c4f55; --ink-3: #65686e; --line: #e4e4df; --line-2: #cbcbc5;
  --red: #b3261e; --red-soft: #fcefee; --green: #19703a; --green-soft: #eaf5ed;
  --amber: #855400; --amber-soft: #fbf3e1; --blue: #1d5bb5; --blue-soft: #e9f1fb;
  --violet: #733aa8; --violet-soft: #f4edfa; --focus: #1d5bb5;
  --golden-box: #f5a300; --actual-box: #1a8cff; --truth-box: #2fbf5f;
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) {
    --page: #131417; --surface: #1b1d21; --sunken: #24272c; --stage: #0d0e10;
    --ink: #eaebed; --ink-2: #bcbfc5; --ink-3: #969aa2; --line: #2d3036; --line-2: #454951;
    --red: #ff8f86; --red-soft: #38201f; --green: #74d492; --green-soft: #1b2e21;
    --amber: #efbb58; --amber-soft: #322912; --blue: #86b9ff; --blue-soft: #1b2940;
    --violet: #d0a8f5; --violet-soft: #2d2239; --focus: #86b9ff;
  }
}
:root[data-theme="dark"] {
  color-scheme: dark;
  --page: #131417; --surface: #1b1d21; --sunken: #24272c; --stage: #0d0e10;
  --ink: #eaebed; --ink-2: #bcbfc5; --ink-3: #969aa2; --line: #2d3036; --line-2: #454951;
  --red: #ff8f86; --red-soft: #38201f; --green: #74d492; --green-soft: #1b2e21;
  --amber: #efbb58; --amber-soft: #322912; --blue: #86b9ff; --blue-soft: #1b2940;
  --violet: #d0a8f5; --violet-soft: #2d2239; --focus: #86b9ff;
}
:root[data-theme="light"] { color-scheme: light; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 16px; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 var(--text); }
h1, h2, h3, p, ul, ol { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1, h2, h3 { line-height: 1.25; letter-spacing: -0.011em; overflow-wrap: anywhere; }
p, li, td, th, code { overflow-wrap: anywhere; }
code, .mono, kbd { font-family: var(--mono); font-size: 0.867em; }
a { color: var(--blue); }
bdi.strong { color: var(--ink); }
.wide { max-width: 1400px; margin: 0 auto; padding: 0 32px; }
.quiet { color: var(--ink-3); }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999px; top: 8px; padding: 8px 16px; background: var(--surface); z-index: 9; }
.skip:focus { left: 16px; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
main:focus, h2:focus { outline: none; }
html:not(.js) .needs-script { display: none; }

button, select, input[type="search"] { font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--line-2); border-radius: 7px; padding: 5px 12px; min-height: 34px; }
button { cursor: pointer; font-size: 14px; }
button:hover:not(:disabled) { background: var(--sunken); }
button:disabled { color: var(--ink-3); border-color: var(--line); cursor: default; }
input[type="search"]::placeholder { color: var(--ink-3); opacity: 1; }
kbd { border: 1px solid var(--line-2); border-radius: 4px; padding: 0 5px; background: var(--surface); }

.banner { background: var(--surface); border-bottom: 1px solid var(--line); border-top: 4px solid var(--tone); padding: 14px 0 24px; }
.banner.passed, .passed { --tone: var(--green); --tone-soft: var(--green-soft); }
.banner.changed, .changed { --tone: var(--red); --tone-soft: var(--red-soft); }
.banner.errored, .errored { --tone: var(--violet); --tone-soft: var(--violet-soft); }
.banner.missing, .missing, .stale, .notComparable { --tone: var(--amber); --tone-soft: var(--amber-soft); }
.plain { --tone: var(--ink); }
.expected { --tone: var(--blue); --tone-soft: var(--blue-soft); }
.top { display: flex; align-items: center; gap: 16px; margin-bottom: 22px; font-size: 14px; min-height: 34px; }
.product { color: var(--ink-2); min-width: 0; overflow-wrap: anywhere; }
.top button { flex: none; }
.product b { color: var(--ink); margin-right: 8px; letter-spacing: -0.01em; }
.top .quiet { margin-left: auto; }
.banner h1 { font-size: 34px; font-weight: 680; letter-spacing: -0.024em; color: var(--tone); display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 14px; }
.exit { font-size: 14px; font-weight: 500; letter-spacing: 0; color: var(--ink-3); }
.meaning { font-size: 17px; color: var(--ink-2); margin-top: 4px; max-width: 68ch; overflow-wrap: anywhere; }
.facts { display: flex; flex-wrap: wrap; gap: 6px 28px; margin-top: 16px; color: var(--ink-2); }
.facts.small { margin-top: 8px; font-size: 14px; gap: 4px 20px; }
.facts.small b { font-size: 14px; }
.facts b { font-size: 19px; font-weight: 640; font-variant-numeric: tabular-nums; letter-spacing: -0.01em; color: var(--tone, var(--ink)); margin-right: 3px; }

.body { display: grid; grid-template-columns: 272px minmax(0, 1fr); gap: 36px; padding-top: 28px; padding-bottom: 48px; align-items: start; }
.body.single { grid-template-columns: minmax(0, 1fr); }
.body.single .cases { display: none; }
.cases { position: sticky; top: 20px; max-height: calc(100vh - 40px); display: flex; flex-direction: column; }
.nav-head { display: flex; align-items: baseline; justify-content: space-between; margin-bottom: 10px; }
.nav-head h2 { font-size: 15px; }
.nav-head p { font-size: 13px; }
.filter { display: grid; gap: 8px; margin-bottom: 12px; }
.filter input, .filter select { width: 100%; font-size: 14px; }
#case-list { overflow-y: auto; margin: 0 -8px; padding: 2px; min-height: 60px; }
#case-list a { display: flex; gap: 10px; padding: 8px; border-radius: 8px; color: inherit; text-decoration: none; }
#case-list a:hover { background: var(--sunken); }
#case-list a[aria-current] { background: var(--surface); box-shadow: 0 0 0 1px var(--line), 0 1px 2px rgb(0 0 0 / 4%); }
.mark { flex: none; width: 22px; height: 22px; border-radius: 50%; display: grid; place-items: center; font-size: 12px; font-weight: 700; background: var(--tone-soft); color: var(--tone); margin-top: 1px; }
.names { min-width: 0; line-height: 1.35; }
.name { display: block; font-weight: 550; overflow-wrap: anywhere; }
.brief { display: block; font-size: 13px; color: var(--ink-3); }

.js .case:not(.shown) { display: none; }
html:not(.js) .case + .case { margin-top: 48px; padding-top: 40px; border-top: 1px solid var(--line-2); }
.case > header h2 { font-size: 25px; font-weight: 650; letter-spacing: -0.018em; }
.case > header .quiet { margin-top: 3px; font-size: 14px; overflow-wrap: anywhere; }
.verdict { display: inline-flex; gap: 6px; padding: 2px 10px 2px 8px; margin-bottom: 8px; border-radius: 99px; font-size: 13px; font-weight: 600; background: var(--tone-soft); color: var(--tone); }
.reason { margin-top: 10px; color: var(--ink-2); max-width: 76ch; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: 20px 22px; margin-top: 20px; }
.card h3 { font-size: 15px; font-weight: 640; }
.card h3 .quiet { font-weight: 400; }
.eyebrow { font-size: 13px; font-weight: 600; color: var(--red); margin-bottom: 3px; }
.cause { border-left: 4px solid var(--red); }
.card.cause h3 { font-size: 19px; font-weight: 500; letter-spacing: -0.012em; }
.cause h3 b { font-weight: 680; }
.cause > button { float: right; margin: -2px 0 0 16px; }
.number { font-variant-numeric: tabular-nums; }
.why { margin-top: 5px; max-width: 76ch; overflow-wrap: anywhere; }
.card h4 { font-size: 14px; font-weight: 640; margin: 18px 0 6px; }
.equals { margin-top: 6px; }
.equal { display: inline-block; max-width: 100%; overflow-wrap: anywhere; }
.equal::before { content: "✓ "; color: var(--green); }
.scroll { overflow-x: auto; }
.cause .scroll { margin: 16px -6px 4px; }
.note { margin-top: 16px; padding: 10px 14px; border-radius: 8px; background: var(--sunken); color: var(--ink-2); overflow-wrap: anywhere; }
.problem { margin-top: 18px; padding: 14px 18px; border-radius: 10px; background: var(--violet-soft); }
.problem code { color: var(--violet); }
.problem .advice { margin-top: 4px; font-weight: 550; }
.empty { color: var(--ink-3); padding: 40px 0; text-align: center; }
.commands { margin-top: 14px; display: grid; grid-template-columns: minmax(56px, auto) minmax(0, 1fr) auto; gap: 8px 12px; }
.commands li { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; align-items: center; }
.commands .label { color: var(--ink-3); font-size: 14px; overflow-wrap: anywhere; max-width: 180px; }
.commands code { background: var(--sunken); border-radius: 7px; padding: 7px 12px; display: block; }
.commands button { min-width: 74px; }
.suspects { margin-top: 20px; padding: 14px 18px; border-radius: 10px; background: var(--amber-soft); }
.suspects h3 { font-size: 14px; color: var(--amber); margin-bottom: 4px; }
.pair { display: block; font-family: var(--mono); font-size: 13px; color: var(--ink-2); }

.graph { display: block; max-width: none; font-family: var(--text); }
.graph rect { fill: var(--surface); stroke: var(--line-2); stroke-width: 1; }
.graph text { fill: var(--ink); font-size: 12px; }
.graph .id { font-weight: 640; font-size: 13px; }
.graph .kind { fill: var(--ink-3); font-size: 11px; }
.graph .status { font-size: 11px; font-weight: 600; fill: var(--ink-3); }
.graph .label { fill: var(--ink-3); font-size: 10.5px; text-anchor: middle; }
.graph .edge, .graph .tip { fill: none; stroke: var(--line-2); stroke-width: 1.5; }
.graph .edge.differs, .graph .tip.differs { stroke: var(--red); stroke-dasharray: none; }
.graph .equal .status { fill: var(--green); }
.graph .rootCause rect { fill: var(--red-soft); stroke: var(--red); stroke-width: 2.5; }
.graph .rootCause .status { fill: var(--red); }
.graph .downstream rect, .graph .tainted rect { stroke: var(--red); stroke-dasharray: 5 3; }
.graph .downstream .status, .graph .tainted .status { fill: var(--red); }
.graph .added rect, .graph .removed rect { stroke: var(--blue); stroke-width: 2; fill: var(--blue-soft); }
.graph .added .status, .graph .removed .status { fill: var(--blue); }
.graph .removed rect { stroke-dasharray: 2 3; }
.graph .notRun, .graph .notCompared { opacity: 0.6; }

table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 500; color: var(--ink-3); }
thead th { font-size: 13px; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
td, tbody th { padding: 7px 12px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody tr:last-child > * { border-bottom: 0; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(340px, 1fr)); gap: 20px; align-items: start; margin-top: 20px; }
.columns .card { margin-top: 0; }
.columns .card h3 { margin-bottom: 8px; }
.figures td { text-align: right; font-variant-numeric: tabular-nums; padding-right: 0; padding-left: 14px; }
.figures thead th:not(:first-child) { text-align: right; padding-right: 0; padding-left: 14px; }
.figures tbody th { color: var(--ink-2); font-weight: 400; }
.figures tr.differs td, .figures tr.differs th { color: var(--ink); font-weight: 600; }
.figures tr.differs .delta, .figures tr.over td:last-child { color: var(--red); font-weight: 600; }
.delta { min-width: 36px; }
.digests th { width: 1%; white-space: nowrap; }
.digests td { text-align: left; }
.digests .quiet { font-size: 13px; display: inline-block; width: 52px; }
.digests .differs code { font-weight: 500; }
.environment { max-width: 760px; }
.environment tbody th { white-space: nowrap; }
.bar { display: block; width: 100%; height: 4px; margin-top: 5px; border-radius: 2px; }
.bar .rail { fill: var(--sunken); }
.bar .fill { fill: var(--green); }
.over .bar .fill { fill: var(--red); }
.change { font-weight: 600; white-space: nowrap; }
.decisions .groups { margin-top: 10px; }
.decisions th:last-child { width: 34%; }
.rules td { text-align: left; }
.tracks .figures td, .runs td:not(:last-child) { white-space: nowrap; }
.runs td:last-child { width: 60%; }
.runs .verdict { margin: 0; }
.accept form { margin-top: 12px; }
.accept .bar-row { display: flex; flex-wrap: wrap; gap: 8px 12px; }
.root-causes { border: 0; margin: 0 0 12px; padding: 0; min-width: 0; font-size: 14px; }
.root-causes legend { padding: 0; color: var(--ink-3); margin-bottom: 2px; }
.root-causes .check { display: flex; gap: 8px; align-items: baseline; padding: 2px 0; overflow-wrap: anywhere; min-width: 0; }
.root-causes .check span { min-width: 0; }
.root-causes .check:has(:disabled) { color: var(--ink-3); text-decoration: line-through; }
.accept input[type="text"] { flex: 1 1 260px; min-width: 0; font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--line-2); border-radius: 7px; padding: 5px 12px; min-height: 34px; }
.accept input::placeholder { color: var(--ink-3); opacity: 1; }
.accept .primary:not(:disabled) { background: var(--ink); color: var(--page); border-color: var(--ink); }
.accept .outcome { margin-top: 10px; min-height: 22px; font-weight: 550; }
.accept .outcome[data-done="yes"] { color: var(--green); }
.accept .outcome[data-done="no"] { color: var(--red); }
.quiet-button { min-height: 0; padding: 0 4px; margin: 0 -4px; border: 0; background: none; color: var(--blue); text-decoration: underline; text-underline-offset: 2px; text-decoration-thickness: 1px; }
.raw { margin: 20px 0 24px; font-size: 14px; color: var(--ink-2); }
.raw summary { cursor: pointer; width: fit-content; }
.raw pre { max-height: 480px; overflow: auto; padding: 12px; background: var(--sunken); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
.decisions .change.added { color: var(--green); }
.decisions .change.removed { color: var(--red); }
.decisions .change.moved { color: var(--blue); }
.decisions .change.changed { color: var(--amber); }

.inspector > .bar-row { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; margin-bottom: 14px; }
.bar-row h3 { margin-right: auto; min-width: 0; }
.bar-row h3 .quiet { font-variant-numeric: tabular-nums; }
.group { display: inline-flex; }
.group button { border-radius: 0; margin-left: -1px; }
.group button:first-child { border-radius: 7px 0 0 7px; margin-left: 0; }
.group button:last-child { border-radius: 0 7px 7px 0; }
.group button[aria-pressed="true"] { background: var(--ink); color: var(--page); border-color: var(--ink); }
.panels { display: grid; grid-template-columns: 1fr 1fr; gap: 14px; }
.panels.one { grid-template-columns: 1fr; }
.panels.one svg { max-height: 62vh; }
.panels figure { margin: 0; min-width: 0; }
.panels svg { display: block; width: 100%; height: auto; background: var(--stage); border-radius: 8px; overflow: hidden; }
.panels.zoomed image { image-rendering: pixelated; }
figcaption { display: flex; align-items: center; gap: 8px; font-size: 14px; font-weight: 600; margin-bottom: 6px; min-height: 21px; }
figcaption .quiet { font-weight: 400; font-size: 13px; margin-left: auto; text-align: right; }
.swatch { width: 22px; height: 12px; border-radius: 3px; border: 2px solid; flex: none; }
.swatch.golden { border-color: var(--golden-box); border-style: dashed; }
.swatch.actual { border-color: var(--actual-box); }
.swatch.truth { border-color: var(--truth-box); border-style: dotted; }
.panels rect, .panels polyline, .panels circle { fill: none; vector-effect: non-scaling-stroke; }
.panels .ground { fill: var(--stage); }
.panels .halo { stroke: #000; stroke-opacity: 0.6; stroke-width: 4; }
.panels .box { stroke-width: 1.75; }
.panels .golden .box { stroke: var(--golden-box); stroke-dasharray: 6 3; }
.panels .actual .box { stroke: var(--actual-box); }
.panels .both .box { stroke: #fff; stroke-opacity: 0.72; stroke-width: 1; }
.panels .both .halo { stroke-width: 2.5; stroke-opacity: 0.4; }
.panels .truth .box { stroke: var(--truth-box); stroke-dasharray: 2 3; }
.panels .absent .box { stroke: #fff; stroke-dasharray: 2 4; }
.panels .chosen .box { stroke-width: 2.75; }
.panels .chosen .halo { stroke-width: 5.5; }
.panels text { font-family: var(--text); font-weight: 600; fill: #fff; paint-order: stroke; stroke: #000; stroke-opacity: 0.8; stroke-linejoin: round; }
.panels .blank { fill: var(--ink-3); stroke: none; font-weight: 400; text-anchor: middle; }

.sensors figure { margin: 14px 0 0; }
.sensors figcaption { flex-wrap: wrap; font-weight: 400; }
.sensors figcaption .quiet { margin-left: 0; }
.sensors .curves { display: block; width: 100%; height: 56px; background: var(--sunken); border-radius: 6px; }
.sensors .band { fill: var(--green); fill-opacity: 0.16; }
.sensors path { fill: none; stroke-width: 1.5; stroke-linecap: round; vector-effect: non-scaling-stroke; }
.sensors .head { stroke: var(--ink); }
.sensors path.curve-0 { stroke: var(--blue); }
.sensors path.curve-1 { stroke: var(--amber); }
.sensors path.curve-2 { stroke: var(--violet); }
.sensors .legend { font-size: 13px; border-bottom: 3px solid; line-height: 1.1; }
.sensors .legend.curve-0 { border-color: var(--blue); }
.sensors .legend.curve-1 { border-color: var(--amber); border-bottom-style: dashed; }
.sensors .legend.curve-2 { border-color: var(--violet); border-bottom-style: dotted; }
.sensors path.curve-1 { stroke-dasharray: 5 3; }
.sensors path.curve-2 { stroke-dasharray: 2 3; }

.strip { position: relative; display: grid; grid-template-columns: 92px minmax(0, 1fr); margin-top: 16px; font-size: 12px; color: var(--ink-3); }
.strip .lane-name { padding-right: 10px; line-height: 1; align-self: end; padding-bottom: 1px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.strip svg { display: block; width: 100%; height: 26px; overflow: visible; border-bottom: 1px solid var(--line); cursor: pointer; }
.strip svg.flat { height: 15px; }
.strip .findings { fill: var(--red); }
.strip .drops-golden { fill: var(--golden-box); }
.strip .drops-actual { fill: var(--actual-box); }
.strip .error-area { fill: var(--ink-2); fill-opacity: 0.35; }
.strip .error { fill: var(--ink-2); }
.strip .error-beyond { fill: var(--red); }
.strip-bar { grid-column: 2; display: flex; align-items: center; justify-content: flex-end; gap: 10px; min-height: 28px; margin-bottom: 4px; font-variant-numeric: tabular-nums; }
.strip-bar button { min-height: 26px; padding: 0 9px; font-size: 13px; }
.strip svg.fates { height: 18px; margin-bottom: 3px; border-bottom: 0; }
.strip .fate-all { fill: var(--green); fill-opacity: 0.22; }
.fate-dropped { fill: var(--red); background: var(--red); }
.fate-failed { fill: var(--violet); background: var(--violet); }
.fate-lost { fill: var(--ink); background: var(--ink); }
.fate-replaced { fill: var(--blue); background: var(--blue); }
.fate-throttled { fill: var(--amber); background: var(--amber); }
.legend { grid-column: 2; display: flex; flex-wrap: wrap; gap: 2px 14px; margin-top: 4px; }
.legend .key { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 5px; }
.marks { position: relative; height: 30px; border-bottom: 1px solid var(--line); overflow: hidden; }
.marks .tick { position: absolute; white-space: nowrap; padding-left: 4px; border-left: 2px solid var(--ink-3); line-height: 13px; height: 14px; top: 8px; }
.marks .golden { border-left-color: var(--golden-box); top: 0; }
.marks .actual { border-left-color: var(--actual-box); top: 15px; }
.waves { margin: 12px 0 4px; }
.strip.waves { grid-template-columns: minmax(92px, 34%) minmax(0, 1fr); }
.strip.waves .lane-name { white-space: normal; overflow-wrap: anywhere; line-height: 1.2; padding-top: 6px; }
.waves svg { cursor: default; }
.strip .band { fill: var(--green); fill-opacity: 0.16; }
.strip .head { stroke: var(--ink); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.strip .slot { grid-column: 2; padding-top: 4px; }
.strip .axis { grid-column: 2; display: flex; justify-content: space-between; font-variant-numeric: tabular-nums; }
input[type="range"] { display: block; width: 100%; margin: 0; height: 22px; accent-color: var(--ink-2); }
.facing { display: grid; grid-template-columns: 1fr 1fr; gap: 4px 14px; margin-top: 14px; padding-top: 14px; border-top: 1px solid var(--line); }
.facing .say { grid-column: 1 / -1; font-weight: 550; margin-bottom: 2px; overflow-wrap: anywhere; }
.facing .say .quiet { font-weight: 400; }
.facing pre { margin: 0; font: 13px/1.5 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; padding: 7px 10px; background: var(--sunken); border-radius: 6px; border-left: 3px solid; max-height: 160px; overflow-y: auto; }
.facing .golden { border-left-color: var(--golden-box); }
.facing .actual { border-left-color: var(--actual-box); }
mark { background: var(--red-soft); color: var(--red); border-radius: 3px; padding: 0 2px; font-weight: 650; }

.browse { margin-top: 18px; padding-top: 16px; border-top: 1px solid var(--line); }
.browse .bar-row { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; margin-bottom: 8px; }
.browse .bar-row h3 { margin-right: auto; }
.browse input[type="search"] { width: 190px; font-size: 14px; }
.browse select { font-size: 14px; max-width: 180px; }
.browse label.check { font-size: 14px; display: inline-flex; gap: 6px; align-items: center; color: var(--ink-2); }
.browse tbody tr { cursor: pointer; }
.browse tbody tr:hover { background: var(--sunken); }
.browse tbody tr[aria-current] { background: var(--blue-soft); }
.browse td:first-child, .browse th:first-child { padding-left: 8px; }
.browse td button { min-height: 0; padding: 0 4px; margin: 0 -4px; border: 0; background: none; font: 13px var(--mono); color: var(--blue); text-decoration: underline; text-underline-offset: 2px; text-decoration-thickness: 1px; }
.browse td.values { font: 13px/1.5 var(--mono); }
.browse .values span { display: block; padding-left: 9px; border-left: 3px solid; max-width: 44ch; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.browse .values .golden { border-left-color: var(--golden-box); }
.browse .values .actual { border-left-color: var(--actual-box); }
.browse .amount { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; padding-right: 8px; }
.browse th.amount { text-align: right; }
.because { margin-top: 4px; font-size: 13px; color: var(--ink-3); }
.facing .because { grid-column: 1 / -1; }
.because li + li { padding-left: 12px; }
.kind-word { color: var(--ink-3); font-size: 13px; }
.pager { display: flex; align-items: center; justify-content: flex-end; gap: 10px; margin-top: 12px; font-size: 14px; color: var(--ink-2); font-variant-numeric: tabular-nums; }

footer { border-top: 1px solid var(--line); padding: 28px 0 48px; }
footer section { margin-bottom: 28px; }
footer h2 { font-size: 15px; margin-bottom: 8px; }
.end { font-size: 13px; margin-top: 20px; }

@media (max-width: 900px) {
  .wide { padding: 0 18px; }
  .body { grid-template-columns: minmax(0, 1fr); gap: 24px; padding-top: 20px; }
  .cases { position: static; max-height: none; }
  #case-list { max-height: 264px; }
  .filter { grid-template-columns: 1fr 1fr; }
}
@media (max-width: 620px) {
  .banner h1 { font-size: 28px; }
  .top { margin-bottom: 14px; flex-wrap: wrap; gap: 4px 12px; }
  .top .quiet { margin-left: 0; flex-basis: 100%; order: 3; }
  .top button { margin-left: auto; }
  .card { padding: 16px; }
  .panels, .facing { grid-template-columns: 1fr; }
  .columns { grid-template-columns: minmax(0, 1fr); }
  .strip { grid-template-columns: 94px minmax(0, 1fr); }
  .commands { grid-template-columns: minmax(0, 1fr) auto; }
  .commands .label { grid-column: 1 / -1; max-width: none; }
  .browse input[type="search"], .browse select { width: 100%; max-width: none; }
  .browse .values { display: none; }
  .decisions .scroll table { min-width: 620px; }
  .figures td, .figures thead th:not(:first-child) { padding-left: 8px; }
  .figures:not(.rules):not(.digests) td:last-child { white-space: nowrap; }
  .rules th { min-width: 72px; }
}
@media print {
  body { background: #fff; }
  .cases, .needs-script, .skip, .commands button, .pager { display: none !important; }
  .body { display: block; }
  .js .case:not(.shown) { display: block; }
  .card { break-inside: avoid; }
}

"""#
  static let pageCSSHash = "j47iVs+RnRC+SM0g6Bm5xH6KF27YGJcLHzF6jQ6N1Ag="
  static let pageJS = #"""

"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const said = document.getElementById("said");
  const pageRows = 25;
  // A served page can ask for any frame of a session, and for an acceptance.
  const served = document.documentElement.dataset.served;
  const accepts = document.documentElement.dataset.accepts === "yes";
  const program = document.documentElement.dataset.program;

  // Text: nothing here becomes markup. Characters that act are shown, as the other reports do.
  const acting = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff0-\ufffb\ufffe\uffff]|[\u{e0000}-\u{e0fff}]/gu;
  const visible = (text) => String(text).replace(acting, (one) => `\\u{${one.codePointAt(0).toString(16).toUpperCase()}}`);
  const cut = (text, limit) => (text.length > limit ? text.slice(0, limit - 1) + "…" : text);
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const plural = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
  const seconds = (nanoseconds) => `${(nanoseconds / 1e9).toFixed(3)} s`;
  const nameOf = (frame) => `${frame.track}:${frame.sequence}`;
  const amount = (value) => (typeof value === "number" ? String(Number(value.toPrecision(6))) : value);

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "on") for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined) continue;
      node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
    }
    return node;
  }
  const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  const announce = (text) => { said.textContent = visible(text); };

  // Tables that show one page of many rows.
  class Pager {
    constructor(draw) {
      this.draw = draw;
      this.page = 0;
      this.rows = [];
      this.text = html("span", { role: "status" });
      this.back = html("button", { type: "button", on: { click: () => this.go(this.page - 1) } }, "Earlier");
      this.next = html("button", { type: "button", on: { click: () => this.go(this.page + 1) } }, "Later");
      this.element = html("div", { class: "pager" }, this.text, this.back, this.next);
    }
    set(rows) {
      this.rows = rows;
      this.go(0);
    }
    reveal(row) {
      const place = this.rows.indexOf(row);
      if (place < 0) return;
      const page = Math.floor(place / pageRows);
      if (page !== this.page) this.go(page);
    }
    go(page) {
      const last = Math.max(0, Math.ceil(this.rows.length / pageRows) - 1);
      this.page = Math.min(Math.max(page, 0), last);
      const start = this.page * pageRows;
      const shown = this.rows.slice(start, start + pageRows);
      this.text.textContent = this.rows.length
        ? `${grouped(start + 1)}–${grouped(start + shown.length)} of ${grouped(this.rows.length)}` : "nothing to show";
      this.back.disabled = this.page === 0;
      this.next.disabled = this.page === last;
      this.element.hidden = this.rows.length <= pageRows && this.rows.length > 0;
      this.draw(shown);
    }
  }

  // The places of the slider: frames that have findings or pictures.
  function stopsOf(item) {
    const stops = new Map();
    const stop = (frame) => {
      const key = nameOf(frame);
      if (!stops.has(key)) stops.set(key, { key, frame, findings: [], pictures: [], time: undefined });
      return stops.get(key);
    };
    item.findings.items.forEach((finding, index) => {
      if (!finding.frame) return;
      const place = stop(finding.frame);
      place.findings.push(index);
      if (finding.timeNanoseconds !== undefined) place.time = finding.timeNanoseconds;
    });
    for (const picture of item.pictures) stop(picture.frame).pictures.push(picture);
    for (const cause of item.rootCauses) {
      if (cause.frame && stops.has(nameOf(cause.frame)) && cause.timeNanoseconds !== undefined) {
        stops.get(nameOf(cause.frame)).time = cause.timeNanoseconds;
      }
    }
    return [...stops.values()].sort((a, b) => a.frame.track - b.frame.track || a.frame.sequence - b.frame.sequence);
  }

  class Inspector {
    constructor(item, host) {
      this.item = item;
      this.host = host;
      this.findings = item.findings.items;
      this.stops = stopsOf(item);
      // What is shown: one of the stops, or, on a served page, any other frame.
      this.place = this.stops[0] || this.anyFrame();
      this.chosen = -1;
      this.mode = "side";
      this.zoomed = false;
      this.build();
      const first = this.firstFinding();
      if (first >= 0) this.choose(first, true);
      else if (this.place) this.seek(this.place);
    }

    // The first frame of a served session.
    anyFrame() {
      const track = served ? this.item.tracks.find((one) => one.frames > 0) : undefined;
      return track ? freeStop(track.track, 0) : undefined;
    }

    firstFinding() {
      const cause = this.item.rootCauses[0];
      const key = cause && cause.frame ? nameOf(cause.frame) : undefined;
      const stop = this.stops.find((one) => one.key === key && one.findings.length);
      return stop ? stop.findings[0] : this.findings.length ? 0 : -1;
    }

    build() {
      this.title = html("h3");
      this.previous = html("button", { type: "button", title: "Previous finding (p)", "aria-label": "Previous finding", on: { click: () => this.step(-1) } }, "‹");
      this.following = html("button", { type: "button", title: "Next finding (n)", "aria-label": "Next finding", on: { click: () => this.step(1) } }, "›");
      this.modes = this.toggles("Layout", [["side", "Side by side"], ["over", "Overlay"]], (mode) => { this.mode = mode; this.draw(); });
      this.zooms = this.toggles("Zoom", [["fit", "Fit"], ["finding", "Zoom"]], (zoom) => { this.zoomed = zoom === "finding"; this.draw(); });
      this.panels = html("div", { class: "panels" });
      this.facing = html("div", { class: "facing" });
      this.slider = html("input", { type: "range", step: 1, "aria-label": "Frame with findings",
        on: { input: () => this.seekNear(Number(this.slider.value)), keydown: (event) => this.slide(event) } });
      this.strip = new Strip(this, this.item.timelines);
      this.browser = new Browser(this);
      const bar = html("div", { class: "bar-row" }, this.title,
        html("span", { class: "group", role: "group", "aria-label": "Findings" }, this.previous, this.following), this.modes, this.zooms);
      const children = this.place ? [bar, this.panels, this.strip.element, this.facing] : [html("div", { class: "bar-row" }, html("h3", {}, "Findings")), this.facing];
      this.host.replaceChildren(...children, this.browser.element);
    }

    toggles(label, choices, act) {
      const buttons = choices.map(([key, text], index) => html("button", { type: "button", "aria-pressed": index === 0 ? "true" : "false",
        on: { click: () => { buttons.forEach((one, place) => one.setAttribute("aria-pressed", place === index ? "true" : "false")); act(key); } } }, text));
      return html("span", { class: "group", role: "group", "aria-label": label }, buttons);
    }

    choose(index, quiet) {
      this.chosen = index;
      const finding = this.findings[index];
      const stop = finding.frame && this.stops.find((one) => one.key === nameOf(finding.frame));
      if (stop) this.place = stop;
      this.draw();
      this.browser.mark(index);
      if (!quiet) announce(`Finding ${index + 1} of ${this.findings.length}: ${finding.message}`);
    }

    seek(place) {
      this.place = place;
      if (place.findings.length) this.choose(place.findings[0], true);
      else { this.chosen = -1; this.draw(); this.browser.mark(-1); }
    }

    // The slider covers all frames of the track. On a page from disk it is there only where there is
    // something to see.
    seekNear(wanted) {
      const { track } = this.place.frame;
      const here = this.stops.filter((one) => one.frame.track === track);
      let best;
      for (const stop of here) {
        if (!best || Math.abs(stop.frame.sequence - wanted) < Math.abs(best.frame.sequence - wanted)) best = stop;
      }
      if (served && (!best || best.frame.sequence !== wanted)) best = this.free(track, wanted);
      if (best && best.key !== this.place.key) this.seek(best);
      else this.slider.value = this.place.frame.sequence;
    }

    free(track, sequence) {
      const known = this.item.tracks.find((one) => one.track === track);
      const last = Math.max(0, (known ? known.frames : 1) - 1);
      return freeStop(track, Math.min(Math.max(0, Math.round(sequence)), last));
    }

    slide(event) {
      const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity };
      if (event.key === "+" || event.key === "-") return this.strip.zoom(event.key === "+" ? 0.5 : 2);
      if (!(event.key in moves)) return;
      event.preventDefault();
      const by = moves[event.key];
      if (served) {
        const [first, last] = this.strip.whole();
        const to = by === -Infinity ? first : by === Infinity ? last : this.place.frame.sequence + by;
        return this.seekNear(Math.min(Math.max(to, first), last));
      }
      const wanted = Math.min(Math.max(this.stops.indexOf(this.place) + by, 0), this.stops.length - 1);
      if (this.stops[wanted] !== this.place) this.seek(this.stops[wanted]);
    }

    step(by) {
      const rows = this.browser.pager.rows;
      if (!rows.length) return;
      const place = rows.indexOf(this.chosen);
      const next = place < 0 ? (by > 0 ? 0 : rows.length - 1) : place + by;
      if (next >= 0 && next < rows.length) this.choose(rows[next]);
    }

    draw() {
      const stop = this.place;
      const rows = this.browser ? this.browser.pager.rows : [];
      const place = rows.indexOf(this.chosen);
      this.previous.disabled = place <= 0;
      this.following.disabled = place < 0 || place >= rows.length - 1;
      this.drawFacing();
      if (!stop) return;
      const time = stop.time === undefined ? "" : ` · ${seconds(stop.time)}`;
      this.title.replaceChildren(`Frame ${stop.key}`, html("span", { class: "quiet" },
        `${time}${this.chosen >= 0 ? ` · finding ${grouped(this.chosen + 1)} of ${grouped(this.item.findings.total)}` : ""}`));
      this.strip.head(stop.frame);
      const [first, last] = this.strip.range();
      this.slider.min = first;
      this.slider.max = last;
      this.slider.value = stop.frame.sequence;
      this.slider.setAttribute("aria-valuetext", `frame ${stop.key}, ${plural(stop.findings.length, "finding")}`);
      this.drawPanels(stop);
    }

    drawFacing() {
      const finding = this.findings[this.chosen];
      if (!finding) return this.facing.replaceChildren();
      const measure = finding.magnitude === undefined ? ""
        : ` · ${amount(finding.magnitude)}${finding.unit ? " " + finding.unit : ""}${finding.allowed === undefined ? "" : ` where ${amount(finding.allowed)} is allowed`}`;
      const parts = [html("p", { class: "say" }, finding.message, html("span", { class: "quiet" }, `${finding.sink ? " · " + finding.sink : ""}${measure}`))];
      if (finding.golden !== undefined || finding.actual !== undefined) {
        parts.push(facingText("golden", finding.golden, finding.actual), facingText("actual", finding.actual, finding.golden));
      }
      if (finding.because.length) parts.push(chain(finding.because));
      this.facing.replaceChildren(...parts);
    }

    drawPanels(stop) {
      const side = this.mode === "side";
      this.panels.setAttribute("class", `panels${side ? "" : " one"}${this.zoomed ? " zoomed" : ""}`);
      const sides = side ? [["golden"], ["actual"]] : [["golden", "actual"]];
      this.panels.replaceChildren(...sides.map((shown) => this.panel(stop, shown)));
    }

    panel(stop, sides) {
      const frame = this.frameOf(stop);
      const finding = this.findings[this.chosen];
      const view = this.zoomed && finding ? around(finding.boxes, frame) : { x: 0, y: 0, width: frame.width, height: frame.height };
      const across = getComputedStyle(this.panels).gridTemplateColumns.split(" ").length;
      const scale = view.width / (this.panels.clientWidth / across || 430);
      const input = stop.pictures.find((one) => one.role === "input");
      // What the sink of the chosen finding kept, over the frame that it comes from.
      const kept = stop.pictures.find((one) => one.role === sides[0] && (!finding || one.node === finding.sink));
      const picture = kept || input;
      const layers = [svg("rect", { class: "ground", x: 0, y: 0, width: frame.width, height: frame.height })];
      const whole = { x: 0, y: 0, width: frame.width, height: frame.height };
      const image = (href, area) => layers.push(svg("image", { href, x: finite(area.x), y: finite(area.y), width: Math.max(0, finite(area.width)), height: Math.max(0, finite(area.height)), preserveAspectRatio: "none" }));
      if (input || (served && !kept)) image(input ? inline(input) : this.address(stop), whole);
      if (kept) image(inline(kept), kept.area || whole);
      if (layers.length === 1) layers.push(svg("text", { class: "blank", x: view.x + view.width / 2, y: view.y + view.height / 2, "font-size": 13 * scale }, "No image of this frame in the report"));
      const boxes = [], taken = new Set();
      for (const box of finding && stop.findings.includes(this.chosen) ? finding.boxes : []) taken.add(keyOf(box));
      for (const box of (input || { boxes: [] }).boxes) boxes.push(drawn(box, view, scale, box.side === "truth" ? "truth" : "both", false));
      for (const index of stop.findings) {
        const own = this.findings[index].boxes.filter((box) => sides.includes(box.side) && !taken.has(keyOf(box)));
        for (const box of own) { taken.add(keyOf(box)); boxes.push(drawn(box, view, scale, box.side, false)); }
      }
      if (finding && stop.findings.includes(this.chosen)) boxes.push(...this.boxesOf(finding, sides, view, scale));
      const name = sides.length > 1 ? "Golden over actual" : sides[0] === "golden" ? "Golden" : "Actual";
      const count = [...taken].filter((key) => sides.some((one) => key.startsWith(one))).length;
      const label = `${name}, frame ${stop.key}${count ? `, ${grouped(count)} differing ${count === 1 ? "box" : "boxes"}` : ""}`;
      const drawing = svg("svg", { viewBox: `${view.x} ${view.y} ${view.width} ${view.height}`, role: "img", "aria-label": label }, layers, boxes);
      const known = (input || { boxes: [] }).boxes.some((box) => box.side === "truth") ? ["truth"] : [];
      const swatches = [...sides, ...known].map((one) => html("span", { class: `swatch ${one}`, "aria-hidden": "true" }));
      return html("figure", {}, html("figcaption", {}, swatches, name, html("span", { class: "quiet" }, picture && picture.node ? `over ${picture.node}` : "")), drawing);
    }

    // A frame as the server decodes it.
    address(stop) {
      return `${served}frames/${encodeURIComponent(this.item.session)}/${stop.frame.track}/${stop.frame.sequence}.png`;
    }

    // The chosen finding's boxes; where this side has none, the place where one is missing.
    boxesOf(finding, sides, view, scale) {
      const own = finding.boxes.filter((box) => sides.includes(box.side) || box.side === "both");
      if (own.length || sides.length > 1) return own.map((box) => drawn(box, view, scale, box.side, true));
      return finding.boxes.map((box) => drawn({ ...box, label: "missing here" }, view, scale, "absent", true));
    }

    frameOf(stop) {
      const picture = stop.pictures[0];
      const track = this.item.tracks.find((one) => one.track === stop.frame.track);
      const found = picture || track;
      if (found && found.width > 0 && found.height > 0) return { width: found.width, height: found.height };
      const boxes = stop.findings.flatMap((index) => this.findings[index].boxes);
      const width = Math.max(64, ...boxes.map((box) => finite(box.x) + finite(box.width)));
      return { width, height: Math.max(width * 0.5625, ...boxes.map((box) => finite(box.y) + finite(box.height))) };
    }
  }

  const freeStop = (track, sequence) => ({ key: `${track}:${sequence}`, frame: { track, sequence }, findings: [], pictures: [], time: undefined });
  const keyOf = (box) => [box.side, box.x, box.y, box.width, box.height].join(" ");
  const inline = (picture) => picture.file || `data:image/png;base64,${picture.png}`;
  const finite = (value) => (Number.isFinite(value) ? value : 0);

  function drawn(box, view, scale, side, chosen) {
    const at = { x: finite(box.x), y: finite(box.y), width: Math.max(0, finite(box.width)), height: Math.max(0, finite(box.height)) };
    const parts = ["halo", "box"].flatMap((kind) => (box.lines ? box.lines.map((line) => stroke(line, kind, scale)) : [svg("rect", { class: kind, ...at })]));
    if (box.label && chosen) {
      const size = 12 * scale;
      const text = cut(visible(box.label), 40);
      const above = at.y - size * 0.45, below = at.y + at.height + size * 1.25;
      const fits = side === "actual" ? below < view.y + view.height : above - size < view.y && below < view.y + view.height;
      const left = Math.min(at.x + size * 0.2, view.x + view.width - (text.length + 1) * size * 0.63);
      parts.push(svg("text", { x: Math.max(left, view.x + size * 0.2), y: fits ? below : Math.max(above, view.y + size * 1.2), "font-size": size, "stroke-width": size * 0.26 }, text));
    }
    return svg("g", { class: `${side}${chosen ? " chosen" : ""}` }, parts);
  }

  // A line through corners, or a dot for a single corner.
  function stroke(line, kind, scale) {
    const at = line.map(finite);
    return at.length < 4 ? svg("circle", { class: kind, cx: at[0], cy: at[1], r: 2.5 * scale }) : svg("polyline", { class: kind, points: at.join(" ") });
  }

  // The part of the frame that shows the boxes with room around them, in the frame's own shape.
  function around(boxes, frame) {
    const whole = { x: 0, y: 0, width: frame.width, height: frame.height };
    const good = boxes.filter((box) => [box.x, box.y, box.width, box.height].every(Number.isFinite));
    if (!good.length) return whole;
    const left = Math.min(...good.map((box) => box.x)), right = Math.max(...good.map((box) => box.x + box.width));
    const top = Math.min(...good.map((box) => box.y)), bottom = Math.max(...good.map((box) => box.y + box.height));
    const width = Math.min(frame.width, Math.max((right - left) * 1.8, (bottom - top) * 1.8 * frame.width / frame.height, frame.width / 24));
    const height = width * frame.height / frame.width;
    const place = (middle, size, limit) => Math.min(Math.max(0, middle - size / 2), Math.max(0, limit - size));
    return { x: place((left + right) / 2, width, frame.width), y: place((top + bottom) / 2, height, frame.height), width, height };
  }

  // What a decision follows from, the nearest first.
  const chain = (causes) => (causes && causes.length ? html("ol", { class: "because" }, causes.map((one) => html("li", {}, "because ", one))) : null);

  // A text with the words marked that the other side does not have in that place.
  function facingText(side, text, other) {
    const block = html("pre", { class: side, "aria-label": side });
    if (text === undefined) return fill(block, {}, [html("span", { class: "quiet" }, "no text")]);
    const words = text.split(" "), others = other === undefined ? [] : other.split(" ");
    words.forEach((word, index) => {
      if (index) block.append(" ");
      block.append(other !== undefined && word !== others[index] ? html("mark", {}, word) : document.createTextNode(visible(word)));
    });
    return block;
  }

  // The timeline: the golden's frames over the run's, what happened, and errors, with the playhead.
  // It shows all bins, or a part of them.
  class Strip {
    constructor(inspector, timelines) {
      this.inspector = inspector;
      this.timelines = timelines;
      this.element = html("div", { class: "strip", role: "group", "aria-label": "Timeline" });
      this.text = html("span", { role: "status" });
      const button = (text, name, act) => html("button", { type: "button", "aria-label": name, title: name, on: { click: act } }, text);
      this.bar = html("div", { class: "strip-bar" }, this.text, html("span", { class: "group", role: "group", "aria-label": "Zoom of the timeline" },
        button("−", "Zoom out of the timeline", () => this.zoom(2)), button("+", "Zoom into the timeline", () => this.zoom(0.5)), button("All", "The entire timeline", () => this.zoom(Infinity))));
      this.show((inspector.place || { frame: { track: timelines.length ? timelines[0].track : 0 } }).frame.track);
    }

    show(track) {
      this.track = track;
      this.line = this.timelines.find((one) => one.track === track);
      if (this.line) {
        const line = this.line;
        this.bins = Math.max(line.findings.length, line.droppedGolden.length, line.droppedActual.length, 1);
        [this.low, this.high] = [0, this.bins];
      }
      this.draw();
    }

    // Bins around the playhead; at least 20 frames.
    zoom(factor) {
      if (!this.line) return;
      const least = Math.min(this.bins, Math.max(1, Math.ceil(20 / this.line.framesPerBin)));
      const size = Math.min(this.bins, Math.max(least, Math.round((this.high - this.low) * factor)));
      const middle = this.bin(this.inspector.place.frame.sequence);
      this.low = Math.min(Math.max(0, Math.round(middle - size / 2)), this.bins - size);
      this.high = this.low + size;
      this.draw();
      this.inspector.draw();
    }

    draw() {
      const rows = [], line = this.line;
      this.heads = [];
      if (line) {
        rows.push(this.bar);
        if ((line.lanes || []).length) rows.push(...this.fates("golden", line), ...this.fates("actual", line));
        const dropped = line.droppedGolden.some(Boolean) || line.droppedActual.some(Boolean);
        if (dropped) rows.push(...this.lane("golden drops", bars(this.part(line.droppedGolden)), "drops-golden", "flat"));
        if (dropped) rows.push(...this.lane("actual drops", bars(this.part(line.droppedActual)), "drops-actual", "flat"));
        for (const name of [...new Set((line.marks || []).map((one) => one.lane))]) rows.push(...this.marks(name, line));
        rows.push(...this.lane("findings", bars(this.part(line.findings)), "findings"));
        for (const curve of line.errors) rows.push(...this.errors(line, curve));
      }
      rows.push(html("div", { class: "slot" }, this.inspector.slider));
      if (line) rows.push(this.axis(line));
      if (line && (line.lanes || []).length) rows.push(legend(line.lanes));
      this.element.replaceChildren(...rows);
    }

    part(values) { return values.slice(this.low, this.high); }

    lane(name, path, kind, shape) {
      return this.row(name, shape, svg("path", { class: kind, d: path }));
    }

    // All frames of one side; over them those that did not arrive, by what became of them.
    fates(side, line) {
      const top = Math.max(1, ...line.lanes.flatMap((lane) => [...columns(this.part(lane.golden)), ...columns(this.part(lane.actual))]));
      const paths = line.lanes.map((lane) => svg("path", { class: `fate-${lane.name}`, d: bars(this.part(lane[side]), top) }));
      return this.row(side, "fates", svg("rect", { class: "fate-all", x: 0, y: 0, width: 1000, height: 24 }), paths);
    }

    // What happened at a time: the golden's marks above, the run's below, the device's on both.
    marks(name, line) {
      const [first, last] = this.range();
      const shown = line.marks.filter((one) => one.lane === name && one.sequence >= first && one.sequence <= last).slice(0, 200);
      const host = html("div", { class: "marks", role: "list", "aria-label": name });
      for (const mark of shown) {
        const one = html("span", { class: `tick ${mark.side}`, role: "listitem", title: `${mark.side === "both" ? "" : mark.side + ": "}${visible(mark.text)} · frame ${line.track}:${mark.sequence}` }, cut(visible(mark.text), 24));
        one.style.left = `${((mark.sequence - first) / Math.max(1, last - first + 1) * 100).toFixed(3)}%`;
        host.append(one);
      }
      return [html("div", { class: "lane-name" }, name), host];
    }

    // The largest error of each column, dark from the least one on, over what is allowed; red where it
    // is beyond that. A curve has bins of its own, from frame 0 on.
    errors(line, curve) {
      const number = (one) => (Number.isFinite(Number(one)) ? Number(one) : Infinity);
      const top = curve.largest.reduce((most, one) => (number(one) === Infinity ? most : Math.max(most, number(one))), Math.max(number(curve.allowed), 1e-12)) * 1.1;
      const [first, last] = this.range();
      const from = Math.floor(first / curve.framesPerBin), to = Math.min(curve.largest.length, Math.floor(last / curve.framesPerBin) + 1);
      const step = Math.max(1, Math.ceil((to - from) / 500)), shown = [];
      for (let bin = from; bin < to; bin += step) {
        const large = curve.largest.slice(bin, Math.min(bin + step, to)).map(number);
        const small = (curve.least.length ? curve.least : curve.largest).slice(bin, Math.min(bin + step, to)).map(number);
        const at = (place) => Math.min(1000, Math.max(0, (place * curve.framesPerBin - first) / (last - first + 1) * 1000));
        shown.push({ x: at(bin), width: at(bin + large.length) - at(bin), large: Math.max(...large), small: Math.min(...small) });
      }
      const y = (value) => 24 - 24 * Math.min(value / top, 1);
      const column = (one, low, high) => `M${one.x.toFixed(2)} ${y(low).toFixed(1)}h${Math.max(one.width, 1.2).toFixed(2)}V${Math.min(y(high), y(low) - 0.8).toFixed(1)}h${(-Math.max(one.width, 1.2)).toFixed(2)}z`;
      const area = shown.filter((one) => one.large > 0).map((one) => column(one, 0, Math.min(one.large, curve.allowed))).join("");
      const inside = shown.filter((one) => one.small > 0 && one.small < curve.allowed).map((one) => column(one, one.small, Math.min(one.large, curve.allowed))).join("");
      const beyond = shown.filter((one) => one.large > curve.allowed).map((one) => column(one, curve.allowed, one.large)).join("");
      const band = curve.allowed > 0 ? svg("rect", { class: "band", x: 0, width: 1000, y: y(curve.allowed), height: 24 - y(curve.allowed) }) : null;
      const name = `${curve.measure.split(".").pop()}${curve.unit ? ", " + curve.unit : ""}`;
      const text = `${curve.measure}${curve.unit ? ", " + curve.unit : ""}: ${amount(curve.allowed)} allowed`;
      const row = this.row(name, null, band, svg("path", { class: "error-area", d: area }), svg("path", { class: "error", d: inside }), svg("path", { class: "error-beyond", d: beyond }));
      row[0].title = visible(text);
      return row;
    }

    row(name, shape, ...content) {
      const head = svg("line", { class: "head", x1: -10, x2: -10, y1: -2, y2: 26 });
      this.heads.push(head);
      const drawing = svg("svg", { class: shape, viewBox: "0 0 1000 24", preserveAspectRatio: "none", "aria-hidden": "true",
        on: { pointerdown: (event) => this.seek(event), pointermove: (event) => { if (event.buttons & 1) this.seek(event); } } }, content, head);
      return [html("div", { class: "lane-name" }, name), drawing];
    }

    axis(line) {
      const [first, last] = this.range();
      this.text.textContent = this.high - this.low === this.bins ? "" : `frames ${grouped(first)} to ${grouped(last)}`;
      const isWhole = this.high - this.low === this.bins;
      const text = (sequence, time) => html("span", {}, `${line.track}:${sequence}${!isWhole || time === undefined ? "" : " · " + seconds(time)}`);
      return html("div", { class: "axis" }, text(first, line.startNanoseconds), text(last, line.endNanoseconds));
    }

    seek(event) {
      const area = event.currentTarget.getBoundingClientRect();
      const bin = this.low + Math.floor((event.clientX - area.left) / area.width * (this.high - this.low));
      this.inspector.seekNear(this.line.firstSequence + bin * this.line.framesPerBin);
    }

    bin(sequence) { return Math.floor((sequence - this.line.firstSequence) / this.line.framesPerBin); }

    // The first and the last frame that is shown.
    range() {
      if (this.line) return [this.line.firstSequence + this.low * this.line.framesPerBin, this.line.firstSequence + this.high * this.line.framesPerBin - 1];
      return this.whole();
    }

    // The first and the last frame of the track.
    whole() {
      const track = this.inspector.item.tracks.find((one) => one.track === this.track);
      if (track && (served || this.line)) return [this.line ? this.line.firstSequence : 0, Math.max(0, track.frames - 1)];
      const own = this.inspector.stops.filter((stop) => stop.frame.track === this.track).map((stop) => stop.frame.sequence);
      return own.length ? [own[0], own[own.length - 1]] : [0, 0];
    }

    head(frame) {
      if (frame.track !== this.track) this.show(frame.track);
      if (!this.line) return;
      const bin = this.bin(frame.sequence);
      if (bin < this.low || bin >= this.high) {
        const size = this.high - this.low;
        this.low = Math.min(Math.max(0, Math.round(bin - size / 2)), this.bins - size);
        this.high = this.low + size;
        this.draw();
      }
      const x = (bin - this.low + 0.5) / (this.high - this.low) * 1000;
      for (const head of this.heads) { head.setAttribute("x1", x); head.setAttribute("x2", x); }
    }
  }

  const legend = (lanes) => html("p", { class: "legend" }, lanes.map((lane) => html("span", {}, html("span", { class: `key fate-${lane.name}`, "aria-hidden": "true" }), lane.name)));

  // At most 500 columns are drawn; a column shows the largest of its bins.
  function columns(values) {
    const count = Math.min(values.length, 500);
    const result = new Array(count).fill(null);
    values.forEach((value, index) => {
      if (value === null) return;
      const place = Math.min(count - 1, Math.floor(index * count / values.length));
      if (result[place] === null || value > result[place]) result[place] = value;
    });
    return result;
  }

  function bars(values, most) {
    const shown = columns(values);
    const top = most || Math.max(1, ...shown);
    const step = 1000 / shown.length;
    const width = Math.max(step * 0.82, 1.6);
    return shown.map((value, index) => {
      if (!value) return "";
      const height = 4 + 20 * value / top;
      return `M${(index * step).toFixed(2)} 24v${(-height).toFixed(1)}h${width.toFixed(2)}V24z`;
    }).join("");
  }

  // The table of findings.
  class Browser {
    constructor(inspector) {
      this.inspector = inspector;
      this.body = html("tbody");
      this.pager = new Pager((rows) => this.draw(rows));
      this.search = html("input", { type: "search", placeholder: "Filter findings", "aria-label": "Filter findings", autocomplete: "off", spellcheck: "false", on: { input: () => this.filter() } });
      const kinds = [...new Set(inspector.findings.map((one) => one.kind))].sort();
      this.kind = html("select", { "aria-label": "Kind of finding", on: { change: () => this.filter() } },
        html("option", { value: "" }, "All kinds"), kinds.map((kind, index) => html("option", { value: index }, cut(visible(kind), 60))));
      this.kinds = kinds;
      this.only = html("input", { type: "checkbox", on: { change: () => this.filter() } });
      this.cause = html("select", { "aria-label": "Root cause", on: { change: () => this.filter() } }, html("option", { value: "" }, "All root causes"),
        inspector.item.rootCauses.map((cause, index) => html("option", { value: index }, cut(visible(`${cause.stage || cause.why}${cause.frame ? " at " + nameOf(cause.frame) : ""}`), 60))));
      const total = inspector.item.findings.total, left = total - inspector.findings.length;
      const heads = [["Frame"], ["Finding"], ["Golden and actual", "values"]].map(([text, kind]) => html("th", { scope: "col", class: kind }, text));
      this.element = html("div", { class: "browse" },
        html("div", { class: "bar-row" }, html("h3", {}, plural(total, "finding"), left > 0 ? html("span", { class: "quiet" }, ` · the first ${grouped(inspector.findings.length)} are here`) : null),
          html("label", { class: "check" }, this.only, "This frame only"), inspector.item.rootCauses.length > 1 ? this.cause : null, kinds.length > 1 ? this.kind : null, this.search),
        html("div", { class: "scroll" }, html("table", {}, html("thead", {}, html("tr", {}, heads, html("th", { scope: "col", class: "amount" }, "Error"))), this.body)),
        this.pager.element);
      if (!inspector.findings.length) this.element.hidden = true;
      this.texts = inspector.findings.map((one) => [one.frame ? nameOf(one.frame) : "", one.message, one.kind, one.sink, one.golden, one.actual].join(" ").toLowerCase());
      this.pager.set(inspector.findings.map((_, index) => index));
    }

    filter() {
      const wanted = this.search.value.trim().toLowerCase();
      const kind = this.kind.value === "" ? undefined : this.kinds[Number(this.kind.value)];
      const stop = this.inspector.place;
      const frame = this.only.checked && stop ? new Set(stop.findings) : undefined;
      const findings = this.inspector.findings;
      const cause = this.cause.value === "" ? undefined : this.inspector.item.rootCauses[Number(this.cause.value)].id;
      this.pager.set(findings.map((_, index) => index).filter((index) => (!wanted || this.texts[index].includes(wanted))
        && (kind === undefined || findings[index].kind === kind) && (cause === undefined || findings[index].rootCause === cause) && (!frame || frame.has(index))));
      this.inspector.draw();
    }

    draw(rows) {
      this.body.replaceChildren(...rows.map((index) => this.row(index)));
    }

    row(index) {
      const finding = this.inspector.findings[index];
      const pick = html("button", { type: "button", "aria-label": `Show finding ${index + 1}` }, finding.frame ? nameOf(finding.frame) : "–");
      const value = (side) => html("span", { class: side, title: `${side}: ${cut(visible(finding[side] === undefined ? "–" : finding[side]), 1000)}` }, cut(visible(finding[side] === undefined ? "–" : finding[side]), 120));
      const both = finding.golden === undefined && finding.actual === undefined ? ["–"] : [value("golden"), value("actual")];
      const error = finding.magnitude === undefined ? "–" : `${amount(finding.magnitude)}${finding.unit ? " " + finding.unit : ""}`;
      const current = index === this.inspector.chosen ? "true" : null;
      return html("tr", { "data-finding": index, "aria-current": current, on: { click: () => this.inspector.choose(index) } },
        html("td", {}, pick), html("td", {}, cut(visible(finding.message), 300), " ", html("span", { class: "kind-word" }, cut(visible(finding.kind), 60))),
        html("td", { class: "values" }, both), html("td", { class: "amount" }, cut(visible(error), 40)));
    }

    mark(index) {
      if (this.only.checked) this.filter();
      this.pager.reveal(index);
      for (const row of this.body.children) {
        if (Number(row.dataset.finding) === index) row.setAttribute("aria-current", "true");
        else row.removeAttribute("aria-current");
      }
    }
  }

  // Decisions of one kind at one node as two waveforms over the frames: the golden's, the run's.
  function waveforms(item, host) {
    const rows = new Map();
    let first = Infinity, last = -Infinity;
    const note = (line, side) => {
      const words = line === undefined ? [] : line.split(" ");
      const frame = /^\d+:(\d+)/.exec(words[2] || "");
      if (!frame) return;
      const sequence = Number(frame[1]), key = `${words[3]} at ${words[1]}`;
      if (!rows.has(key)) rows.set(key, { golden: [], actual: [] });
      rows.get(key)[side].push(sequence);
      first = Math.min(first, sequence);
      last = Math.max(last, sequence);
    };
    for (const line of item.decisions.lines.items) { note(line.golden, "golden"); note(line.actual, "actual"); }
    if (!rows.size) return;
    const width = 1000 / (last - first + 1);
    const wave = (places, base) => places.map((one) => `M${((one - first) * width).toFixed(2)} ${base}v-9h${Math.max(width * 0.9, 1.5).toFixed(2)}v9z`).join("");
    const lanes = [...rows].slice(0, 12).map(([name, places]) => [html("div", { class: "lane-name", title: visible(name) }, cut(visible(name), 60)),
      svg("svg", { viewBox: "0 0 1000 24", preserveAspectRatio: "none", role: "img", "aria-label": `${visible(name)}: ${plural(places.golden.length, "line")} of the golden, ${plural(places.actual.length, "line")} of the run differ` },
        svg("path", { class: "drops-golden", d: wave(places.golden, 11) }), svg("path", { class: "drops-actual", d: wave(places.actual, 23) }))]);
    host.querySelector(".lines").before(html("div", { class: "strip waves" }, lanes.flat(),
      html("div", { class: "axis" }, html("span", {}, `frame ${grouped(first)}`), html("span", {}, "golden above, actual below"), html("span", {}, grouped(last)))));
  }

  function decisions(item, host) {
    waveforms(item, host);
    const body = host.querySelector(".lines tbody");
    const words = { added: "+ added", removed: "− removed", moved: "→ moved", changed: "≠ changed" };
    const pager = new Pager((rows) => body.replaceChildren(...rows.map((line) => html("tr", {},
      html("td", { class: `change ${line.change}` }, words[line.change]), html("td", { class: "mono" }, line.golden || ""),
      html("td", { class: "mono" }, line.actual || ""), html("td", {}, line.note || "", chain(line.because))))));
    host.append(pager.element);
    pager.set(item.decisions.lines.items);
    const left = item.decisions.lines.total - item.decisions.lines.items.length;
    if (left > 0) host.append(html("p", { class: "quiet" }, `${plural(left, "line")} more in the run folder.`));
  }

  // Objects whose boxes differ, by the identity that the tracker gave them.
  function objects(item, host, inspector) {
    const found = new Map();
    for (const [index, finding] of item.findings.items.entries()) {
      for (const side of ["golden", "actual"]) {
        const words = (finding[side] || "").split(" ");
        if (words[0] !== "D" || words.length !== 7 || !finding.frame) continue;
        const identity = words[1].split(":")[0];
        if (identity === "-") continue;
        const key = `${finding.frame.track}:${identity}`;
        const one = found.get(key) || { identity, track: finding.frame.track, first: finding.frame.sequence, last: finding.frame.sequence, kinds: new Map(), golden: 0, actual: 0, index };
        one.first = Math.min(one.first, finding.frame.sequence);
        one.last = Math.max(one.last, finding.frame.sequence);
        one[side] += 1;
        one.kinds.set(finding.kind, (one.kinds.get(finding.kind) || 0) + 1);
        found.set(key, one);
      }
    }
    if (!found.size) return;
    const rows = [...found.values()].sort((a, b) => a.track - b.track || a.first - b.first);
    const body = html("tbody");
    const pager = new Pager((shown) => body.replaceChildren(...shown.map((one) => html("tr", {},
      html("td", {}, html("button", { type: "button", class: "quiet-button", on: { click: () => inspector && inspector.choose(one.index) } }, `object ${one.identity}`)),
      html("td", {}, one.first === one.last ? `${one.track}:${one.first}` : `${one.track}:${one.first} to ${one.track}:${one.last}`),
      html("td", {}, [...one.kinds.keys()].map((kind) => cut(visible(kind), 40)).join(", ")), html("td", {}, `${grouped(one.golden)} / ${grouped(one.actual)}`)))));
    const heads = ["Object", "Frames", "How it differs", "Golden / actual"].map((text) => html("th", { scope: "col" }, text));
    host.append(html("h4", {}, `${plural(rows.length, "object")} with differences`),
      html("div", { class: "scroll" }, html("table", { class: "figures" }, html("thead", {}, html("tr", {}, heads)), body)), pager.element);
    pager.set(rows);
  }

  // A box for each root cause of several: what is accepted. What was accepted is closed.
  function rootCauseChoice(item, act) {
    if (item.rootCauses.length < 2) return undefined;
    const boxes = item.rootCauses.slice(0, 40).map((cause) => ({ cause, box: html("input", { type: "checkbox", checked: true, on: { change: act } }) }));
    const rest = item.rootCauses.slice(40);
    const others = html("input", { type: "checkbox", checked: true, on: { change: act } });
    const line = (box, text) => html("label", { class: "check" }, box, html("span", {}, text));
    const place = (cause) => `${cause.id}: ${cause.why}; ${plural(cause.findings + cause.downstream, "finding")}`;
    const open = () => boxes.filter((one) => !one.box.disabled);
    return {
      element: html("fieldset", { class: "root-causes" }, html("legend", {}, "Which root causes are right"), boxes.map((one) => line(one.box, cut(visible(place(one.cause)), 200))),
        rest.length ? line(others, `${plural(rest.length, "other root cause")}`) : null),
      chosen: () => [...open().filter((one) => one.box.checked).map((one) => one.cause.id), ...(others.checked && !others.disabled ? rest.map((one) => one.id) : [])],
      open: () => open().length + (others.disabled ? 0 : rest.length),
      close: (ids) => {
        const done = new Set(ids);
        for (const one of boxes) if (done.has(one.cause.id)) [one.box.disabled, one.box.checked] = [true, false];
        if (rest.length && rest.every((one) => done.has(one.id))) others.disabled = true;
        for (const one of open()) one.box.checked = true;
      },
    };
  }

  // The commands that accept, with the reason that is written there; a served page can send it.
  function acceptPanel(item, host) {
    const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
    const codes = [...host.querySelectorAll("code")].map((code) => ({ code, text: code.textContent }));
    const reason = html("input", { type: "text", maxlength: 500, autocomplete: "off", "aria-label": "Why the new result is right", placeholder: "Why the new result is right",
      on: { input: () => {
        const text = reason.value.trim();
        for (const one of codes) one.code.textContent = text ? one.text.replace(/--reason ("[^"]*"|\S+)/, () => `--reason ${quoted(visible(text))}`) : one.text;
        refresh();
      } } });
    const causes = served && accepts ? rootCauseChoice(item, () => refresh()) : undefined;
    const title = `${item.session}/${item.case}`;
    const send = html("button", { type: "submit", class: "primary", disabled: true });
    const outcome = html("p", { class: "outcome", role: "status" });
    let done = false;
    const refresh = () => {
      const chosen = causes ? causes.chosen() : undefined;
      const all = !causes || chosen.length === causes.open();
      send.textContent = cut(visible(all ? `Accept ${title}` : `Accept ${chosen.length} of ${plural(causes.open(), "root cause")}`), 80);
      send.disabled = done || !reason.value.trim() || (causes !== undefined && chosen.length === 0);
    };
    const form = html("form", { on: { submit: async (event) => {
      event.preventDefault();
      send.disabled = true;
      const wish = { key: title, reason: reason.value.trim(), pending: item.pending ?? "" };
      // All that is left is the whole case.
      if (causes && causes.chosen().length < causes.open()) wish.rootCauses = causes.chosen();
      const answer = await post(wish);
      outcome.textContent = visible(answer.text);
      outcome.dataset.done = answer.done ? "yes" : "no";
      if (answer.done && causes) causes.close(answer.rootCauses);
      done = answer.done && (!causes || causes.open() === 0);
      refresh();
    } } }, causes ? causes.element : null, html("div", { class: "bar-row" }, reason, served && accepts ? send : null));
    refresh();
    host.querySelector("ul").before(form);
    host.append(outcome);
    if (served && !accepts) outcome.textContent = "This is CI: goldens are accepted on a desk.";
  }

  async function post(wish) {
    const token = served.split("/")[1];
    try {
      const answer = await fetch(`${served}accept`, { method: "POST", headers: { "Content-Type": "application/json", "X-Retake-Token": token }, body: JSON.stringify(wish) });
      const result = await answer.json();
      if (!answer.ok) return { done: false, text: `Not accepted: ${result.message}.${result.advice ? " " + result.advice : ""}` };
      const left = result.reduce((sum, one) => sum + one.left.length, 0);
      const what = result.map((one) => (one.left.length ? `${one.rootCauses.join(", ")} of ${one.key}` : `${one.key}, ${plural(one.frames, "frame")}`)).join("; ");
      const next = left ? `${plural(left, "root cause")} still ${left === 1 ? "waits" : "wait"}.` : `Run ${program} test again for a new report.`;
      return { done: true, rootCauses: result.flatMap((one) => one.rootCauses), text: `Accepted: ${what}. ${next}` };
    } catch {
      return { done: false, text: `Not accepted: the server does not answer. Is ${program} report serve still running?` };
    }
  }

  // The document of a case, as text; made when it is opened.
  function rawText(item, host) {
    host.addEventListener("toggle", () => {
      const text = host.querySelector("pre");
      if (!host.open || text.textContent) return;
      const short = (key, value) => (key === "png" ? `${value.length} characters` : value);
      const all = JSON.stringify(item, short, 2);
      text.textContent = visible(all.slice(0, 200000)).replaceAll("\\u{A}", "\n") + (all.length > 200000 ? "\n… the rest is in report.json" : "");
    });
  }

  // Cases: one is shown at a time; the address says which.
  const articles = new Map([...document.querySelectorAll("article.case")].map((one) => [one.id, one]));
  const links = [...document.querySelectorAll("#case-list a")];
  const inspectors = new Map();
  let current;

  function revealRootCause(article) {
    for (const root of article.querySelectorAll(".graph .rootCause rect")) {
      const area = root.closest(".scroll");
      area.scrollLeft = Number(root.getAttribute("x")) - area.clientWidth / 2 + 67;
    }
  }

  // A frame of the labels leads to its image.
  function leadToFrame(cell, inspector) {
    const [track, sequence] = cell.dataset.frame.split(":").map(Number);
    const stop = inspector && (inspector.stops.find((one) => one.key === cell.dataset.frame) || (served && inspector.free(track, sequence)));
    if (!stop) return;
    cell.replaceChildren(html("button", { type: "button", on: { click: () => {
      inspector.seek(stop);
      inspector.host.scrollIntoView({ block: "start" });
    } } }, cell.textContent));
  }

  // A root cause leads to its frame.
  function leadTo(cause, inspector) {
    const stop = inspector && inspector.stops.find((one) => one.key === cause.dataset.frame);
    if (!stop) return;
    cause.prepend(html("button", { type: "button", on: { click: () => {
      inspector.seek(stop);
      inspector.host.scrollIntoView({ block: "start" });
      inspector.slider.focus({ preventScroll: true });
    } } }, "Show the frame"));
  }

  function prepare(article) {
    if (inspectors.has(article.id)) return;
    const item = report.cases[Number(article.dataset.index)];
    const host = article.querySelector(".inspector");
    const inspector = host ? new Inspector(item, host) : undefined;
    inspectors.set(article.id, inspector);
    for (const cause of article.querySelectorAll(".cause")) leadTo(cause, inspector);
    for (const cell of article.querySelectorAll(".loss")) leadToFrame(cell, inspector);
    const lines = article.querySelector(".decisions");
    if (lines && item.decisions) decisions(item, lines);
    const tracks = article.querySelector(".tracks");
    if (tracks) objects(item, tracks, inspector);
    const panel = article.querySelector(".accept");
    if (panel) acceptPanel(item, panel);
    rawText(item, article.querySelector(".raw"));
  }

  function showCase(id, focus) {
    const article = articles.get(id) || articles.values().next().value;
    if (!article) return;
    for (const one of articles.values()) one.classList.toggle("shown", one === article);
    for (const link of links) {
      if (link.getAttribute("href") === `#${article.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    current = article.id;
    prepare(article);
    revealRootCause(article);
    if (focus) article.querySelector("h2").focus({ preventScroll: false });
  }

  function filterCases() {
    const text = document.getElementById("filter").value.trim().toLowerCase();
    const verdict = document.getElementById("verdict").value;
    let shown = 0;
    for (const link of links) {
      const kind = link.parentElement.dataset.kind;
      const fits = (!verdict || (verdict === "!passed" ? kind !== "passed" : kind === verdict)) && (!text || link.textContent.toLowerCase().includes(text));
      link.parentElement.hidden = !fits;
      if (fits) shown += 1;
    }
    document.getElementById("shown").textContent = shown === links.length ? grouped(shown) : `${grouped(shown)} of ${grouped(links.length)}`;
  }

  function addCopyButtons() {
    for (const line of document.querySelectorAll(".commands li")) {
      const code = line.querySelector("code");
      const button = html("button", { type: "button", "aria-label": `Copy: ${cut(visible(code.textContent), 80)}` }, "Copy");
      button.addEventListener("click", async () => {
        const text = code.textContent;
        let done = true;
        try { await navigator.clipboard.writeText(text); } catch { done = copySelected(code); }
        button.textContent = done ? "Copied" : "Select";
        announce(done ? "Copied" : "The command is selected; copy it by hand");
        setTimeout(() => { button.textContent = "Copy"; }, 1600);
      });
      line.append(button);
    }
  }

  function copySelected(node) {
    getSelection().selectAllChildren(node);
    return document.execCommand("copy");
  }

  function save() {
    const address = URL.createObjectURL(new Blob([document.getElementById("data").textContent], { type: "application/json" }));
    html("a", { href: address, download: "report.json" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  // Of the case that is shown; cases without findings have none.
  const findingsFilter = () => document.querySelector(".case.shown .browse:not([hidden]) input[type=search]");

  function pressed(event) {
    if (!document.getElementById("keys").checked || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.matches("input:not([type=range]):not([type=checkbox]), select, textarea")) return;
    const inspector = inspectors.get(current);
    if (event.key === "n" && inspector) inspector.step(1);
    else if (event.key === "p" && inspector) inspector.step(-1);
    else if (event.key === "/" && findingsFilter()) findingsFilter().focus();
    else if ((event.key === "c" || event.key === "/") && links.length > 1) document.getElementById("filter").focus();
    else return;
    event.preventDefault();
  }

  // The system's theme, or the one chosen for this visit.
  const themes = ["auto", "light", "dark"];
  const theme = document.getElementById("theme");
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(theme.dataset.theme) + 1) % themes.length];
    theme.dataset.theme = next;
    theme.textContent = `Theme: ${next}`;
    if (next === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.dataset.theme = next;
  });

  document.documentElement.classList.add("js");
  document.getElementById("download").addEventListener("click", save);
  document.getElementById("filter").addEventListener("input", filterCases);
  document.getElementById("verdict").addEventListener("change", filterCases);
  document.addEventListener("keydown", pressed);
  addEventListener("hashchange", () => { if (articles.has(location.hash.slice(1))) showCase(location.hash.slice(1), true); });
  let resized;
  addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(() => { const one = inspectors.get(current); if (one) one.draw(); }, 120); });
  addCopyButtons();
  filterCases();
  showCase(location.hash.slice(1), false);
})();

"""#
  static let pageJSHash = "2iDOuRvymQkw/A2j76KoH03x2O8rulAjeLo4p/jI7qQ="
}
