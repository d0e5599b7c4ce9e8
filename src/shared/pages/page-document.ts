import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { markup, type Markup } from './markup.ts'
import { PAGE_STYLE } from './page-style.ts'

/** A page for people. */
export interface PageContent {
  readonly title: string
  /** The content of `main`. */
  readonly body: Markup
  /** The only script of the page, a constant of this package: the policy names it by its hash. */
  readonly script?: string
  /** Whether the script makes requests, which may go to this server alone. */
  readonly isAsking?: boolean
  /** Whether the page has an (empty) icon, so that browsers do not ask for one; true by default. */
  readonly hasIcon?: boolean
  /** The target of an immediate refresh. */
  readonly refreshTo?: string
  /** Other origins that a form of the page may lead to, redirects included (CSP 3 §6.4.1). */
  readonly formOrigins?: readonly string[]
}

/** A page with the policy that goes with it. */
export interface PageDocument {
  readonly text: string
  /** Its `Content-Security-Policy`. */
  readonly policy: string
}

/**
 * Renders a page in the common design: light and dark, from phone width up, without external resources.
 * Its policy allows only what is in the page to run or load, and forbids framing.
 */
export function pageDocument(content: PageContent): PageDocument {
  const { title, body, script, refreshTo, hasIcon = true } = content
  const refresh =
    refreshTo === undefined ? undefined : markup`<meta http-equiv="refresh" content="0; url=${refreshTo}">\n`
  const scripted = script === undefined ? undefined : { text: `<script>${script}</script>\n` }
  const { text } = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${refresh}<title>${title === PRODUCT ? title : `${title} · ${PRODUCT}`}</title>
${hasIcon ? { text: '<link rel="icon" href="data:,">\n' } : undefined}<style>${{ text: PAGE_STYLE }}</style>
</head>
<body>
<main>
${body}
</main>
${scripted}</body>
</html>
`
  return { text, policy: policyOf(content) }
}

const PRODUCT = 'ctl'
const STYLE_SOURCE = sourceOf(PAGE_STYLE)

function policyOf({ script, isAsking = false, hasIcon = true, formOrigins = [] }: PageContent): string {
  return [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    ...(hasIcon ? ['img-src data:'] : []),
    ...(script === undefined ? [] : [`script-src ${sourceOf(script)}`]),
    ...(isAsking ? ["connect-src 'self'"] : []),
    ["form-action 'self'", ...formOrigins].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function sourceOf(text: string): string {
  return `'sha256-${btoa(String.fromCharCode(...sha256(utf8ToBytes(text))))}'`
}
