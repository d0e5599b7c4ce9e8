/**
 * The style sheet of all pages. Classes: `card`, `notice`, `failure`, `row`, `primary`, `quiet`, `code` (a code to be compared), `facts` (a `dl`),
 * `list`, `choice` (the label of a checkbox), `qr`, `codes` (a list of codes to be kept).
 */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --text: #1c2024; --muted: #575f67; --page: #f6f7f8; --card: #ffffff; --line: #d3d8dd;
  --accent: #1d4ed8; --on-accent: #ffffff; --failure: #a4161a; --failure-page: #fdecec; --notice-page: #e9f0ff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e8eaed; --muted: #a8b0b8; --page: #14171a; --card: #1e2226; --line: #3b4249;
    --accent: #8ab4ff; --on-accent: #0b1220; --failure: #ffb3b3; --failure-page: #3a1c1e; --notice-page: #1b2740;
  }
}
* { box-sizing: border-box }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--page) }
main { max-width: 36rem; margin: 0 auto; padding: 1.5rem 1rem 3rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0 1rem }
h2 { font-size: 1.125rem; margin: 1.5rem 0 .5rem }
p, ul, dl { margin: .5rem 0 }
.card > h2:first-child { margin-top: .25rem }
a { color: var(--accent) }
code, pre, .code { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
pre { background: var(--page); border: 1px solid var(--line); border-radius: .375rem; padding: .75rem; white-space: pre-wrap }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.25rem; margin: 1rem 0 }
.notice, .failure { border-radius: .375rem; padding: .75rem 1rem; margin: 1rem 0 }
.notice { background: var(--notice-page) }
.failure { background: var(--failure-page); color: var(--failure) }
.muted { color: var(--muted) }
.code { font-size: 1.75rem; letter-spacing: .12em }
.facts { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .25rem 1rem }
.facts dt { color: var(--muted) }
.facts dd { margin: 0; overflow-wrap: anywhere }
.row { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0 }
.list { list-style: none; margin: 1rem 0; padding: 0 }
.list > li { display: flex; align-items: center; justify-content: space-between; gap: .75rem; margin: .5rem 0 }
label { display: block; margin: .75rem 0 .25rem }
label.choice { display: flex; gap: .5rem; align-items: baseline }
input:not([type=checkbox]):not([type=hidden]), select {
  font: inherit; color: inherit; background: var(--card); width: 100%; min-height: 2.75rem; padding: .5rem .75rem;
  border: 1px solid var(--muted); border-radius: .375rem;
}
button, .button {
  font: inherit; font-weight: 600; min-height: 2.75rem; padding: .5rem 1.25rem; border-radius: .375rem;
  border: 1px solid var(--accent); cursor: pointer; text-align: center; text-decoration: none; display: inline-block;
}
button.primary, .button.primary { background: var(--accent); color: var(--on-accent) }
button.quiet, .button.quiet { background: transparent; color: var(--accent) }
button:disabled { opacity: .6; cursor: default }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.card > form > button:only-of-type, form > .row:last-child { margin-bottom: .25rem }
summary { cursor: pointer; color: var(--accent); font-weight: 600; padding: .5rem 0 }
.qr { background: #fff; border-radius: .375rem; margin: 1rem auto; max-width: 100%; padding: .5rem; width: 12rem }
.qr svg { display: block; height: auto; width: 100% }
.codes { columns: 2 13rem; font: 1.125rem/2 ui-monospace, monospace; list-style: none; padding: 0; white-space: nowrap }
[hidden] { display: none !important }
@media (max-width: 26rem) { .facts { grid-template-columns: 1fr; gap: 0 } .facts dd { margin-bottom: .5rem } .row > * { flex: 1 1 100% } }
`
