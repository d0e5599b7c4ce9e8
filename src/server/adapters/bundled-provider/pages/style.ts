/** The one stylesheet of the pages: light and dark, from phone width up, system fonts. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --text: #1a1d21; --soft: #555d68; --line: #8a929e;
  --accent: #0b5cad; --on-accent: #fff; --bad: #a8071a; --bad-ground: #fff1f0 }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --card: #1e2226; --text: #eceff3; --soft: #b0b8c2;
  --line: #7c8592; --accent: #7db8f2; --on-accent: #0b1a2a; --bad: #ffa39e; --bad-ground: #3a1618 } }
* { box-sizing: border-box }
body { margin: 0; padding: 1rem; min-height: 100vh; display: flex; align-items: center; justify-content: center;
  background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 24rem; padding: 1.5rem; background: var(--card); border-radius: .5rem;
  border: 1px solid color-mix(in srgb, var(--line) 40%, transparent) }
h1 { margin: 0 0 .5rem; font-size: 1.4rem; line-height: 1.25 }
h2 { margin: 1.75rem 0 .25rem; font-size: 1.05rem }
p { margin: .25rem 0 1rem }
.soft { color: var(--soft) }
label { display: block; font-weight: 600; margin-top: 1rem }
label.choice { display: flex; gap: .5rem; font-weight: 400; align-items: baseline }
input:not([type=checkbox]) { width: 100%; margin-top: .25rem; padding: .6rem .7rem; font: inherit; color: inherit;
  background: var(--card); border: 1px solid var(--line); border-radius: .35rem }
button { width: 100%; min-height: 2.75rem; margin-top: 1.25rem; padding: .5rem 1rem; font: inherit; font-weight: 600;
  border: 1px solid var(--accent); border-radius: .35rem; background: var(--accent); color: var(--on-accent); cursor: pointer }
button.second { background: transparent; color: var(--accent) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.problem { padding: .6rem .75rem; border-left: 4px solid var(--bad); background: var(--bad-ground); color: var(--bad) }
.qr { display: block; width: 12rem; max-width: 100%; margin: 1rem auto; background: #fff; padding: .5rem; border-radius: .35rem }
.qr svg { display: block; width: 100%; height: auto }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
[hidden] { display: none }
`
