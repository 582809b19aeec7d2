/** The style sheet, which is part of the page, since the page loads nothing. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f6f6f3; --card: #ffffff; --line: #e3e2dc; --soft: #efeee9;
  --ink: #1d1d1b; --dim: #66655f;
  --done: #2b8a57; --work: #4a7fc1; --cut: #c08a1e; --bad: #c9483a;
  --done-soft: #e2f2e9; --work-soft: #e6eef8; --cut-soft: #faf0d9; --bad-soft: #fbe7e4;
  --done-ink: #1d6b41; --work-ink: #2c5d9c; --cut-ink: #855b06; --bad-ink: #a3301f;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #151614; --card: #1e1f1c; --line: #32332f; --soft: #272824;
    --ink: #ecebe6; --dim: #a1a098;
    --done: #58b884; --work: #7ba8de; --cut: #dba84b; --bad: #ea7869;
    --done-soft: #1c3527; --work-soft: #1f2d3f; --cut-soft: #3a2f16; --bad-soft: #40221d;
    --done-ink: #8ad9ad; --work-ink: #a8c8ef; --cut-ink: #f0c97e; --bad-ink: #f5a599;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
  overflow-wrap: anywhere;
}
main { max-width: 68rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -0.02em; margin: 0; text-wrap: balance; }
h2 { font-size: 1.05rem; letter-spacing: -0.005em; margin: 2.75rem 0 0.75rem; }
h3 { font-size: 0.8rem; font-weight: 600; color: var(--dim); margin: 1.5rem 0 0.5rem; }
p { margin: 0.35rem 0; }
a { color: inherit; text-decoration-color: var(--line); text-underline-offset: 0.2em; }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--work); outline-offset: 2px; border-radius: 3px; }
.dim { color: var(--dim); }
.small { font-size: 0.85rem; }
.num { font-variant-numeric: tabular-nums; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.1rem 1.25rem; }

.tiles { display: flex; flex-wrap: wrap; gap: 1px;
  background: var(--line); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; margin: 1.75rem 0 0; }
.tile { flex: 1 1 8.5rem; background: var(--card); padding: 0.9rem 1.1rem; }
.tile dt { color: var(--dim); font-size: 0.8rem; }
.tile dd { margin: 0.1rem 0 0; font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.02em; white-space: nowrap; }
.tile.quiet dd { color: var(--dim); }
.tile.bad dd { color: var(--bad-ink); }
.tile.done dd { color: var(--done-ink); }
.tile.cut dd { color: var(--cut-ink); }

.badge { display: inline-block; padding: 0.05rem 0.55rem; border-radius: 99px; font-size: 0.78rem; line-height: 1.5;
  font-weight: 550; white-space: nowrap; background: var(--soft); color: var(--ink); }
.badge.done { background: var(--done-soft); color: var(--done-ink); }
.badge.work { background: var(--work-soft); color: var(--work-ink); }
.badge.cut { background: var(--cut-soft); color: var(--cut-ink); }
.badge.bad { background: var(--bad-soft); color: var(--bad-ink); }

.needs { display: grid; gap: 0.75rem; margin: 0; padding: 0; list-style: none; }
.needs li { border-left: 4px solid var(--cut); }
.needs li.bad { border-left-color: var(--bad); }
.needs .head { display: flex; flex-wrap: wrap; gap: 0.35rem 0.6rem; align-items: baseline; }
.id { font-weight: 600; }
pre, code { font-family: var(--mono); font-size: 0.83rem; }
pre { margin: 0.5rem 0 0; padding: 0.65rem 0.85rem; background: var(--soft); border-radius: 8px;
  white-space: pre-wrap; max-height: 24rem; overflow: auto; }

.legend { display: flex; flex-wrap: wrap; gap: 0.3rem 1.1rem; font-size: 0.8rem; color: var(--dim); margin: 0 0 1rem; padding: 0; list-style: none; }
.legend i { display: inline-block; width: 0.7rem; height: 0.7rem; border-radius: 2px; margin-right: 0.4rem; }
.done > i, i.done { background: var(--done); } .work > i, i.work { background: var(--work); }
.cut > i, i.cut { background: var(--cut); } .bad > i, i.bad { background: var(--bad); }
svg { display: block; width: 100%; }
svg .done { fill: var(--done); } svg .work { fill: var(--work); }
svg .cut { fill: var(--cut); } svg .bad { fill: var(--bad); }
svg rect:hover { opacity: 0.7; }

.lane + .lane { margin-top: 0.9rem; }
.lane .head { display: flex; flex-wrap: wrap; gap: 0.1rem 0.75rem; justify-content: space-between; font-size: 0.85rem; margin-bottom: 0.25rem; }
.lane svg { height: 1.15rem; background: var(--soft); border-radius: 4px; overflow: hidden; }
.axis { position: relative; height: 1.3rem; margin-top: 0.5rem; font-size: 0.75rem; color: var(--dim); }
.axis span { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.axis :first-child { transform: none; }
.axis :last-child { transform: translateX(-100%); }

.task { padding: 0; margin-top: 0.6rem; }
.task > summary { display: grid; grid-template-columns: auto 1fr auto; gap: 0.25rem 0.75rem; align-items: baseline;
  padding: 0.85rem 1.25rem; cursor: pointer; list-style: none; border-radius: 12px; }
.task > summary::-webkit-details-marker { display: none; }
.task > summary::before { content: "›"; color: var(--dim); font-size: 1.1rem; line-height: 1; transition: transform 0.12s; }
.task[open] > summary::before { transform: rotate(90deg); }
.task > summary .what { display: flex; flex-wrap: wrap; gap: 0.2rem 0.6rem; align-items: baseline; min-width: 0; }
.task > summary .why { grid-column: 2 / -1; color: var(--dim); font-size: 0.88rem;
  display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
.task[open] > summary .why { -webkit-line-clamp: none; }
.task .body { border-top: 1px solid var(--line); padding: 0.25rem 1.25rem 1.25rem; scroll-margin-top: 4rem; }
.facts { display: grid; grid-template-columns: 7rem 1fr; gap: 0.3rem 1rem; margin: 0.9rem 0 0; font-size: 0.9rem; }
.facts dt { color: var(--dim); } .facts dt::first-letter { text-transform: uppercase; } .facts dd { margin: 0; }
.story { margin: 0; padding: 0; list-style: none; font-size: 0.88rem; max-height: 20rem; overflow: auto; }
.story li { display: grid; grid-template-columns: 8.5rem 1fr; gap: 1rem; padding: 0.2rem 0; }
.story time { color: var(--dim); }

.scroll { max-height: 30rem; overflow: auto; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 0.84rem; }
th { position: sticky; top: 0; background: var(--card); text-align: left; font-weight: 600; color: var(--dim); box-shadow: inset 0 -1px var(--line); }
th, td { padding: 0.4rem 0.7rem; vertical-align: top; white-space: nowrap; }
td.words { white-space: normal; min-width: 16rem; color: var(--dim); }
tbody tr + tr td { border-top: 1px solid var(--line); }
.right { text-align: right; }
footer { margin-top: 3rem; color: var(--dim); font-size: 0.8rem; }

@media (max-width: 40rem) {
  main { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  .tile { flex-basis: 6.5rem; padding: 0.65rem 0.8rem; } .tile dd { font-size: 1.15rem; }
  .card { padding: 0.9rem 1rem; } .task { padding: 0; }
  .task > summary { grid-template-columns: auto 1fr; padding: 0.8rem 1rem; }
  .task > summary .used { grid-column: 2; }
  .task .body { padding: 0.25rem 1rem 1rem; }
  .facts { grid-template-columns: 5.5rem 1fr; gap: 0.3rem 0.75rem; }
  .story li { grid-template-columns: 1fr; gap: 0; padding: 0.35rem 0; }
  .axis :nth-child(even) { display: none; }
  table, tbody { display: block; } thead { display: none; }
  tbody tr { display: grid; grid-template-columns: 2.6rem 1fr auto auto; gap: 0 0.6rem; padding: 0.5rem 0.7rem; }
  tbody tr + tr { border-top: 1px solid var(--line); } tbody tr + tr td { border: 0; }
  td { padding: 0; } td.when, td.files, td.tokens { display: none; }
  td.words { grid-column: 1 / -1; min-width: 0; }
}
@media print {
  .scroll, .story, pre { max-height: none; } .card { break-inside: avoid; }
}
`;
