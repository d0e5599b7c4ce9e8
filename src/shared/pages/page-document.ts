import { hash } from 'node:crypto'
import { markup, type Markup } from './markup.ts'
import { PAGE_STYLE } from './page-style.ts'

/** A page for people. */
export interface PageContent {
  readonly title: string
  /** Goes into `main`. */
  readonly body: Markup
  /** The one script of the page, ours and the same for everybody: the policy names it by its hash. */
  readonly script?: string
  /** Where the page goes by itself, at once: a path on this origin. */
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
 * Renders a page in the one look that ours have: light and dark, from phone width up, without anything from elsewhere.
 * Its policy lets nothing run or load but what is in it, and nobody frame it.
 */
export function pageDocument({ title, body, script, refreshTo, formOrigins = [] }: PageContent): PageDocument {
  const refresh =
    refreshTo === undefined ? undefined : markup`<meta http-equiv="refresh" content="0; url=${refreshTo}">\n`
  const scripted = script === undefined ? undefined : { text: `<script>${script}</script>\n` }
  const { text } = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${refresh}<title>${title}</title>
<link rel="icon" href="data:,">
<style>${{ text: PAGE_STYLE }}</style>
</head>
<body>
<main>
${body}
</main>
${scripted}</body>
</html>
`
  return { text, policy: policyOf(script, formOrigins) }
}

function policyOf(script: string | undefined, formOrigins: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src ${sourceOf(PAGE_STYLE)}`,
    'img-src data:',
    ...(script === undefined ? [] : [`script-src ${sourceOf(script)}`, "connect-src 'self'"]),
    ["form-action 'self'", ...formOrigins].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`
}
