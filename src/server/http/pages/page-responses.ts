import type { FastifyReply } from 'fastify'
import { markup, type Markup } from '../../../shared/pages/markup.ts'
import { pageDocument, type PageDocument } from '../../../shared/pages/page-document.ts'
import { PROBLEMS, type Problem, type ProblemCode } from '../../../shared/problems.ts'

/** Every page carries them. The referrer policy is not `no-referrer`: with that one browsers post forms with `Origin: null`. */
export const PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

/** Sends a page with its policy. */
export function sendDocument(reply: FastifyReply, { text, policy }: PageDocument, status: number): void {
  void reply
    .code(status)
    .header('Content-Security-Policy', policy)
    .header('Content-Type', 'text/html; charset=utf-8')
    .send(text)
}

/** Sends a problem as a page for people; programs get it as a document. */
export function sendFailurePage(reply: FastifyReply, answer: Problem, correlationId: string): void {
  const { retry_after_seconds: retryAfter, challenge } = answer.extras
  if (typeof retryAfter === 'number') void reply.header('Retry-After', String(Math.ceil(retryAfter)))
  // RFC 9110 §15.5.2: a 401 says how to sign in.
  if (answer.status === 401) void reply.header('WWW-Authenticate', typeof challenge === 'string' ? challenge : 'Bearer')
  sendDocument(reply, failurePage(answer, correlationId), answer.status)
}

/** Messages for people who typed an address, where the API's own messages would not help them. */
const SPOKEN: Partial<Record<ProblemCode, { readonly title: string; readonly text: string }>> = {
  not_found: { title: 'There is no such page', text: 'Nothing is at this address. It may be mistyped.' },
  method_not_allowed: {
    title: 'This is no page',
    text: 'Programs send requests to this address; there is nothing here to look at.',
  },
  unauthenticated: {
    title: 'You are not signed in',
    text: 'There is nothing at this address for somebody who is not signed in. It may also be mistyped.',
  },
}

function failurePage({ code }: Problem, correlationId: string): PageDocument {
  const { title, text } = SPOKEN[code] ?? { title: PROBLEMS[code].title, text: PROBLEMS[code].detail }
  const body: Markup = markup`<h1>${title}</h1>
<p class="failure" role="alert">${text}</p>
<p class="muted">Correlation id: <code>${correlationId}</code></p>
<p><a href="/">Go to the start page</a></p>`
  return pageDocument({ title, body })
}
