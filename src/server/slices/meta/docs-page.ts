/** The content security policy of the page, exactly as in S1 Limits. */
export const PAGE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; worker-src 'self' blob:; img-src 'self' data:"

/**
 * Renders the documentation page around a contract. The contract is embedded as data that no browser runs, since the
 * address that serves it takes a credential and this page does not.
 *
 * @param paths of the API, and of the script that draws the page
 */
export function docsPage(
  contract: object,
  { root, renderer }: { readonly root: string; readonly renderer: string },
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>ctl API</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff }
@media (prefers-color-scheme: dark) {
  body { color: #e8eaed; background: #14171a }
  #docs h5, #docs h5 span { color: #e8eaed }
  #docs td div > span, #docs td div > span > span { color: #b4bcc4 }
  #docs td div > span[type=warning], #docs td div > span > span[type=warning] { color: #14171a }
  #docs .react-tabs__tab--selected { background: #3b4249 }
  #docs .token.number { color: #8fc1e3 }
  #docs .token.boolean, #docs .token.keyword { color: #ff9d9a }
  #docs span + div > button[class] { color: #0b1220 }
  #docs svg[viewBox="0 0 24 24"] polygon { fill: #e8eaed }
}
#waiting { padding: 2rem }
:focus-visible { outline: 3px solid light-dark(#1d4ed8, #8ab4ff); outline-offset: -3px }
#docs :is(td, button, .http-verb, [role=menuitem] > label > :not(.operation-type)),
#docs :is(td, button, .http-verb + span, .dropdown-selector-content, h5) :is(div, span, p, strong),
#docs h5 ~ div, #docs h5 + *, #docs h5 :is(label, select, option), #docs .dropdown-select * { font-size: max(14px, 1em) }
</style>
</head>
<body>
<div id="docs"><p id="waiting">Drawing the documentation …</p></div>
<noscript><p>This page is drawn by a script. Without scripts, read the contract itself: <code>ctl openapi</code> prints it,
and <code>GET ${root}/openapi.json</code> serves it to every caller who presents a credential.</p></noscript>
<script type="application/json" id="contract">${inertJson(contract)}</script>
<script src="${renderer}"></script>
</body>
</html>
`
}

/** Characters that could end the block or start a comment in it, and two that old scripts took for line ends. */
const UNSAFE = /[<>&\u2028\u2029]/g

/** JSON escaped so that no text in it can end the script block; every JSON parser reads the same value. */
function inertJson(value: object): string {
  return JSON.stringify(value).replaceAll(UNSAFE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
