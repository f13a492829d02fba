"""How the timeline of a turn looks."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --paper: #fbfbf9; --soft: #eef1f4; --line: #c9d1d9; --faint: #5d6b78;
  --good: #2f7d4f; --bad: #c0392b; --wait: #b07d12; --run: #2a6f97; --odd: #7a4ea3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --paper: #14181d; --soft: #1f262e; --line: #3a4551;
  --faint: #9aa8b5; --good: #74c795; --bad: #ff7a6b; --wait: #e0b14c; --run: #6fb3dc; --odd: #bf95e6; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  padding: 2rem 1.5rem 4rem; max-width: 62rem; }
h1 { font-size: 1.3rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1rem; margin: 2.25rem 0 .75rem; }
.facts { color: var(--faint); margin: .25rem 0 0; } .facts b { color: var(--ink); font-weight: 600; }
.lanes { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr max-content; gap: .3rem .75rem; align-items: center;
  font-size: .85rem; margin-top: 1.5rem; }
.lanes a { color: inherit; text-decoration: none; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; max-width: 16rem; }
.lanes a:hover { text-decoration: underline; } .lanes output { color: var(--faint); font-variant-numeric: tabular-nums; }
.track { position: relative; height: 1.1rem; background: var(--soft); border-radius: 3px; }
.track i { position: absolute; top: 0; bottom: 0; min-width: 3px; border-radius: 3px; background: currentColor; }
.track i.asked { background: repeating-linear-gradient(-45deg, currentColor 0 4px, transparent 4px 8px); opacity: .8; }
.axis { display: flex; justify-content: space-between; color: var(--faint); font-size: .75rem; }
.call { border: 1px solid var(--line); border-left: 4px solid currentColor; border-radius: 6px; margin: 1rem 0; }
.call > div, .call > header { color: var(--ink); padding: .5rem 1rem; }
.call > header { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline; background: var(--soft); }
.call header b { font-size: 1.05rem; } .call header span:last-child { margin-left: auto; color: var(--faint); }
.badge { font-size: .78rem; font-weight: 600; border: 1px solid currentColor; border-radius: 99px; padding: 0 .6em; }
.what { margin: .35rem 0; overflow-wrap: anywhere; white-space: pre-wrap; }
ol { list-style: none; padding: 0; margin: .5rem 0; } li { display: flex; gap: .75rem; padding: .12rem 0; }
li time { flex: 0 0 4.5rem; text-align: right; color: var(--faint); font-variant-numeric: tabular-nums; }
li div { overflow-wrap: anywhere; min-width: 0; } li em { font-style: normal; font-weight: 600; }
li small, .cut { color: var(--faint); }
pre { background: var(--soft); border-radius: 4px; padding: .6rem .8rem; margin: .5rem 0; overflow: auto; max-height: 26rem;
  font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--faint); font-size: .85rem; } img { max-width: 100%; border-radius: 4px; }
.good { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); } .run { color: var(--run); }
.odd { color: var(--odd); } .call > div > small { color: var(--faint); }
@media print { .call { break-inside: avoid; } pre { max-height: none; } }
"""
