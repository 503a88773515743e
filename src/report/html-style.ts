// How the page of a report looks, in light and in dark.

export const STYLE = `
:root { color-scheme: light dark;
  --ground: #f6f7f9; --sheet: #ffffff; --ink: #16202e; --soft: #5c6b7e; --line: #e1e6ec; --faint: #eef1f5;
  --good: #15803d; --good-soft: #dcf3e3; --bad: #c62a2f; --bad-soft: #fde3e2; --refused: #b45309; --refused-soft: #fdecd2;
  --limited: #6d4fc4; --limited-soft: #ebe5fb; --accent: #0b63ce; --on-mark: #ffffff; --shadow: 0 1px 2px rgb(16 32 46 / .06), 0 4px 16px rgb(16 32 46 / .05); }
@media (prefers-color-scheme: dark) { :root {
  --ground: #0e131a; --sheet: #161d27; --ink: #e7edf5; --soft: #93a3b8; --line: #273242; --faint: #1d2632;
  --good: #4cc47a; --good-soft: #14351f; --bad: #ff7b76; --bad-soft: #42191b; --refused: #f0a44b; --refused-soft: #3d2a10;
  --limited: #b29bff; --limited-soft: #2c2350; --accent: #6fb1ff; --on-mark: #0e131a; --shadow: 0 1px 2px rgb(0 0 0 / .4); } }
* { box-sizing: border-box; }
html { scroll-padding-top: 16px; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 1180px; margin: 0 auto; padding: 32px 24px 64px; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; margin-bottom: 24px; }
h1 { font-size: 26px; line-height: 1.2; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 17px; margin: 0 0 14px; letter-spacing: -.005em; }
h3 { font-size: 12px; margin: 20px 0 4px; color: var(--soft); text-transform: uppercase; letter-spacing: .06em; font-weight: 600; }
header p { flex-basis: 100%; margin: 0; color: var(--soft); }
code, .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .88em; }
section { background: var(--sheet); border: 1px solid var(--line); border-radius: 14px; padding: 22px 24px; margin-top: 18px; box-shadow: var(--shadow); }
.pill { padding: 4px 12px; border-radius: 99px; font-weight: 600; font-size: 13px; }
.pill.pass { color: var(--good); background: var(--good-soft); } .pill.fail { color: var(--bad); background: var(--bad-soft); }
.pill.inconclusive { color: var(--refused); background: var(--refused-soft); } .pill.none { color: var(--soft); background: var(--faint); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 14px; }
.tile { background: var(--sheet); border: 1px solid var(--line); border-radius: 14px; padding: 16px 18px; box-shadow: var(--shadow); }
.tile b { display: block; font-size: 30px; line-height: 1.15; letter-spacing: -.02em; } .tile b small { font-size: 16px; color: var(--soft); font-weight: 500; }
.tile span { color: var(--soft); font-size: 13px; } .tile svg { display: block; width: 100%; height: 6px; margin: 10px 0 8px; border-radius: 3px; }
.timeline { display: flex; } .timeline svg { display: block; flex: none; } .timeline text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: var(--ink); }
.scroll { overflow-x: auto; flex: 1; min-width: 0; border-left: 1px solid var(--line); } .scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.timeline .time { fill: var(--soft); font-size: 11px; } .lane { stroke: var(--line); } .pause { stroke: var(--soft); stroke-dasharray: 2 4; }
.link { fill: none; stroke: var(--soft); stroke-opacity: .4; } .good { fill: var(--good); } .bad { fill: var(--bad); } .refused { fill: var(--refused); } .limited { fill: var(--limited); }
.struck { fill: none; stroke: var(--refused); stroke-width: 1.5; stroke-dasharray: 3 2; }
.ring { fill: var(--sheet); stroke: var(--good); stroke-width: 2.5; } svg .number { fill: var(--on-mark); font: 600 10px system-ui, sans-serif; text-anchor: middle; } .bar { fill: var(--line); }
.scroll a:hover g, .scroll a:focus-visible g { opacity: .65; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; list-style: none; margin: 14px 0 0; padding: 0; color: var(--soft); font-size: 13px; } .legend li { display: flex; align-items: center; gap: 6px; }
.scrolling { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; } th { text-align: left; color: var(--soft); font-weight: 500; font-size: 12.5px; }
.coverage { table-layout: fixed; min-width: 640px; } .coverage td:nth-child(1) { width: 42%; } .coverage td:nth-child(2) { width: 26%; } .coverage td:nth-child(4) { width: 12%; }
th, td { padding: 7px 12px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; } tr:last-child td { border-bottom: 0; } td.number { text-align: right; } th.number { text-align: right; }
tr:target td { background: var(--refused-soft); } .path { overflow-wrap: anywhere; } .soft { color: var(--soft); } .never td { color: var(--soft); }
.chip { display: inline-block; padding: 1px 8px; margin: 0 4px 3px 0; border-radius: 7px; font-size: 12.5px; white-space: nowrap; background: var(--faint); color: var(--soft); }
.chip.good { background: var(--good-soft); color: var(--good); } .chip.refused { background: var(--refused-soft); color: var(--refused); } .chip.bad { background: var(--bad-soft); color: var(--bad); }
.chip.limited { background: var(--limited-soft); color: var(--limited); } .chip.unseen { background: none; border: 1px dashed var(--line); padding: 0 7px; }
.verdict { display: grid; grid-template-columns: 104px 1fr; gap: 2px 16px; padding: 13px 0; border-bottom: 1px solid var(--line); } .verdict:last-child { border-bottom: 0; padding-bottom: 0; }
.verdict .pill { grid-row: span 3; justify-self: start; align-self: start; font-size: 12px; padding: 3px 10px; } .verdict p { margin: 0; } .verdict .hint { color: var(--soft); }
details { margin-top: 12px; } h2 + details { margin-top: 0; } details summary { cursor: pointer; color: var(--accent); font-weight: 500; } details[open] summary { margin-bottom: 10px; } a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
.empty, .note { color: var(--soft); margin: 0 0 8px; } footer { color: var(--soft); font-size: 13px; margin-top: 26px; }
@media (max-width: 720px) { main { padding: 20px 14px 48px; } section { padding: 18px 16px; } .lanes { width: 130px; } .verdict { grid-template-columns: 1fr; } }
@media print { body { background: #fff; } section, .tile { box-shadow: none; break-inside: avoid; } }
`;
