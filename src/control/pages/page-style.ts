// How the pages of a room look: large enough for the last row, in light and in dark, with the fonts that are there.

const GROUND = `
:root { color-scheme: light dark; --ground: #f3f5f8; --sheet: #fff; --ink: #111a26; --soft: #55637a; --line: #dbe1e9; --faint: #e4e9f0;
  --good: #15803d; --good-soft: #d9f2e1; --wait: #9a4a00; --wait-soft: #ffe6c2; --accent: #0b5cc4; }
@media (prefers-color-scheme: dark) { :root { --ground: #0c1118; --sheet: #161e29; --ink: #eef3f9; --soft: #9dadc2; --line: #2a3647; --faint: #283444;
  --good: #4fd083; --good-soft: #123a22; --wait: #ffb65c; --wait-soft: #44300f; --accent: #7db8ff; } }
* { box-sizing: border-box; }
html { font-size: clamp(15px, 1.25vw, 30px); }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.35 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
h1 { margin: 0; font-size: 1.6rem; letter-spacing: -.02em; line-height: 1.15; } p { margin: 0; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
[hidden] { display: none !important; }
`;

export const BOARD_STYLE = `${GROUND}
body { padding: 1.1rem 1.5rem; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem 1.6rem; margin-bottom: .9rem; }
header .door { font-size: 1.1rem; color: var(--soft); } header code { color: var(--ink); font-weight: 650; overflow-wrap: anywhere; }
header .counts { margin-left: auto; font-size: 1.1rem; font-weight: 600; }
.trouble { margin: 0 0 .9rem; padding: .6rem 1rem; border-radius: .6rem; background: var(--wait-soft); color: var(--wait); font-weight: 650; font-size: 1.1rem; }
.empty { padding: 12vh 0; text-align: center; font-size: 2rem; color: var(--soft); }
ol { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13.6rem), 1fr)); }
li { background: var(--sheet); border: 1px solid var(--line); border-radius: .6rem; padding: .38rem .65rem .45rem; min-width: 0; }
.row { display: flex; align-items: baseline; gap: .5rem; min-width: 0; white-space: nowrap; }
.name { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; font-size: 1.2rem; line-height: 1.4; font-weight: 700; }
.place { font-size: 1.2rem; font-weight: 700; } .what { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; color: var(--soft); }
.row.small { font-size: .84rem; line-height: 1.5; } .since { color: var(--soft); }
.steps { display: flex; gap: .18rem; margin: .1rem 0 .2rem; } .steps i { flex: 1; height: .36rem; border-radius: .2rem; background: var(--faint); }
.steps .ticked { background: var(--good); } .steps .passed { background: none; border: .09rem solid var(--good); }
.steps .now { background: linear-gradient(90deg, var(--accent) 50%, var(--faint) 50%); }
.word { font-weight: 700; border-radius: .35rem; padding: 0 .4rem; } .longest .word { color: var(--wait); background: var(--wait-soft); }
.longest { border-color: var(--wait); box-shadow: inset .28rem 0 var(--wait); } .done .place, .done .word, .fresh .word { color: var(--good); }
.done, .fresh { border-color: var(--good); } .done .word, .fresh .word { background: var(--good-soft); }
.some ol { grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); } .some li { padding: .7rem 1rem .8rem; font-size: 1.15rem; }
.some .name, .some .place { font-size: 1.6rem; } .some .row.small { font-size: 1.05rem; } .some .steps i { height: .5rem; }
.few ol { grid-template-columns: repeat(auto-fill, minmax(min(100%, 27rem), 1fr)); gap: 1rem; } .few li { padding: 1.1rem 1.4rem 1.2rem; }
.few .name, .few .place { font-size: 2.2rem; } .few .row.small { font-size: 1.35rem; } .few .steps { margin: .5rem 0; } .few .steps i { height: .75rem; border-radius: .4rem; }
`;

export const JOIN_STYLE = `${GROUND}
html { font-size: clamp(16px, 1vw, 20px); }
main { max-width: 46rem; margin: 0 auto; padding: 8vh 1.25rem 4rem; } h1 { margin-bottom: .4rem; }
.soft { color: var(--soft); } form { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1.4rem 0 .6rem; } label { flex-basis: 100%; font-weight: 600; }
input { flex: 1 1 14rem; min-width: 0; font: inherit; font-size: 1.2rem; padding: .6rem .8rem; color: inherit; background: var(--sheet); border: 1px solid var(--soft); border-radius: .6rem; }
button { font: inherit; font-size: 1.1rem; font-weight: 650; padding: .6rem 1.4rem; border: 0; border-radius: .6rem; background: var(--accent); color: var(--ground); cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
[role=alert] { color: var(--wait); font-weight: 600; min-height: 1.5em; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3rem 1rem; margin: 1.2rem 0 1.6rem; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; font-weight: 600; }
#back { margin-top: 1rem; overflow-wrap: anywhere; } code { font-size: .94em; } dd code { font-size: 1em; }
section { background: var(--sheet); border: 1px solid var(--line); border-radius: .8rem; padding: 1.2rem 1.4rem; } h2 { margin: 0 0 .6rem; font-size: 1.2rem; } section p { margin: .7rem 0; }
pre { margin: .8rem 0; padding: .8rem 1rem; border-radius: .5rem; background: var(--ground); border: 1px solid var(--line); font-size: .9rem; white-space: pre-wrap; overflow-wrap: anywhere; user-select: all; }
pre.out { color: var(--soft); border-style: dashed; background: none; user-select: auto; }
`;
