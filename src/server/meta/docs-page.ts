/** What the page may do: S1 Limits, to the letter. */
export const PAGE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; worker-src 'self' blob:; img-src 'self' data:"

/**
 * Renders the documentation page around a contract. The contract lies in it as data that no browser runs, since the
 * address that serves it takes a credential and this page does not.
 *
 * @param renderer path of the script that draws the page
 */
export function docsPage(contract: object, renderer: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ctl API</title>
<link rel="icon" href="data:,">
<style>
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff }
#waiting { padding: 2rem }
:focus-visible { outline: 3px solid #1d4ed8; outline-offset: -3px }
#docs :is(td, button, .http-verb, [role=menuitem] > label > :not(.operation-type)),
#docs :is(td, button, .http-verb + span, .dropdown-selector-content, h5) :is(div, span, p, strong),
#docs h5 ~ div, #docs h5 + *, #docs h5 :is(label, select, option), #docs .dropdown-select * { font-size: max(14px, 1em) }
</style>
</head>
<body>
<div id="docs"><p id="waiting">Drawing the documentation …</p></div>
<noscript><p>This page is drawn by a script. Without scripts, read the contract itself: <code>ctl openapi</code> prints it,
and <code>GET /v1/openapi.json</code> serves it to every caller who presents a credential.</p></noscript>
<script type="application/json" id="contract">${inertJson(contract)}</script>
<script src="${renderer}"></script>
</body>
</html>
`
}

/** Characters that could end the block or start a comment in it, and two that old scripts took for line ends. */
const UNSAFE = /[<>&\u2028\u2029]/g

/** JSON that stays one inert block whatever texts are in it: the same value to every JSON parser. */
function inertJson(value: object): string {
  return JSON.stringify(value).replaceAll(UNSAFE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
