import type { ServerResponse } from 'node:http'
import { markup, type Markup } from '../../../../shared/pages/markup.ts'
import { pageDocument } from '../../../../shared/pages/page-document.ts'
import { PASSKEY_SCRIPT } from './passkey-script.ts'

export interface Page {
  readonly title: string
  readonly content: Markup
  /** Whether it has a form that asks for a passkey. */
  readonly hasPasskeys?: boolean
}

/** A page as it is sent. */
export interface RenderedPage {
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Renders the page in the look of all pages. Its one script is the one for passkeys. */
export function rendered({ title, content, hasPasskeys = false }: Page): RenderedPage {
  const script = hasPasskeys ? { script: PASSKEY_SCRIPT } : {}
  const { text, policy } = pageDocument({ title, body: content, hasIcon: false, ...script })
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-store',
  }
  return { headers, text }
}

/** Answers with the page. */
export function sendPage(
  response: ServerResponse,
  answer: { readonly status: number; readonly headers?: Readonly<Record<string, string>> },
  page: Page,
): void {
  const { headers, text } = rendered(page)
  const body = Buffer.from(text, 'utf8')
  response.writeHead(answer.status, { ...headers, ...answer.headers, 'content-length': body.length })
  response.end(body)
}

/** A page with only a message. */
export function notice(title: string, text: string): Page {
  return {
    title,
    content: markup`<h1>${title}</h1>
<p class="notice">${text}</p>
<p><a href="/">Go to the start page</a></p>`,
  }
}
