import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { markup, trusted, type Html } from './html.ts'
import { PASSKEY_SCRIPT } from './passkey-script.ts'
import { STYLE } from './style.ts'

export interface Page {
  readonly title: string
  readonly content: Html
  /** Whether it has a form that asks for a passkey. */
  readonly hasPasskeys?: boolean
}

/** Runs no script and takes no style but ours, sends forms to this server alone, lies in no frame. */
const POLICY = [
  "default-src 'none'",
  `style-src '${digestOf(STYLE)}'`,
  `script-src '${digestOf(PASSKEY_SCRIPT)}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'cache-control': 'no-store',
}

/** The whole document. */
export function documentOf({ title, content, hasPasskeys = false }: Page): string {
  const script = hasPasskeys ? markup`<script>${trusted(PASSKEY_SCRIPT)}</script>` : undefined
  // The policy allows style and script by their digests: not one space may stand beside them.
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · ctl</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
<main>
${content}
</main>
${script}
</body>
</html>
`.markup
}

/** Answers with the page. */
export function sendPage(response: ServerResponse, status: number, page: Page): void {
  const body = Buffer.from(documentOf(page), 'utf8')
  response.writeHead(status, { ...PAGE_HEADERS, 'content-length': body.length })
  response.end(body)
}

/** A page that only says something. */
export function notice(title: string, text: string): Page {
  return {
    title,
    content: markup`<h1>${title}</h1>
      <p>${text}</p>
      <p><a href="/">Back to the start</a></p>`,
  }
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
