import type { FastifyRequest } from 'fastify'
import { cookieOf } from './cookies.ts'

/** Facts about the browser that may have sent a request. */
export interface BrowserFacts {
  /** The value of a cookie. */
  cookie(name: string): string | undefined
  /** Whether it navigates, and wants a page rather than data. */
  readonly prefersHtml: boolean
  /** Whether it came over TLS, to this server or to a trusted proxy. */
  readonly isSecure: boolean
  /** At most 256 characters; empty when absent. */
  readonly userAgent: string
}

/** Reads the facts on demand: most requests never need them. */
export function browserFactsOf({ headers }: FastifyRequest, isSecure: boolean): BrowserFacts {
  return {
    cookie: (name) => cookieOf(headers.cookie, name),
    get prefersHtml() {
      return prefersHtml(headers.accept)
    },
    isSecure,
    get userAgent() {
      return (headers['user-agent'] ?? '').slice(0, 256)
    },
  }
}

/** Whether a browser navigates to the address and shows the answer. */
export function isNavigation({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return (method === 'GET' || method === 'HEAD') && prefersHtml(headers.accept)
}

/** Browsers name `text/html` first where they navigate; programs name JSON, or nothing. */
export function prefersHtml(accept: string | undefined): boolean {
  const first = accept?.split(',', 1)[0]?.split(';', 1)[0]?.trim().toLowerCase()
  return first === 'text/html' || first === 'application/xhtml+xml'
}
