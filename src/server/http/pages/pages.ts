import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PageDocument } from '../../../shared/pages/page-document.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { BrowserFacts } from '../browser-facts.ts'
import type { Cookie } from '../cookies.ts'

/** A page for people, or a public document for programs, outside the operations of the contract. */
export interface Page {
  readonly method: 'GET' | 'POST'
  /** Literal, e.g. `/v1/device`. */
  readonly path: `/${string}`
  /** Counts against the visitor's address, as operations that take codes do. */
  readonly perAddress?: true
  /** The same for every visitor: no session is looked up, so the page does not need the datastore. */
  readonly isPublic?: true
  /** A thrown `Problem` is shown as a page of its own, to programs as the problem document. */
  readonly handler: (visit: PageVisit) => PageAnswer | Promise<PageAnswer>
}

/** One request for a page. A POST has been held to the allowed origins, whether or not it comes with a session. */
export interface PageVisit {
  readonly method: Page['method']
  readonly correlationId: string
  readonly nowMs: number
  readonly sourceAddress: string
  /** Path and query, safe as the target of a redirect. */
  readonly target: string
  readonly query: URLSearchParams
  /** Members of a posted form; at most 8 KiB. */
  readonly form: URLSearchParams
  /** Whose browser it is; undefined when nobody is signed in there, and for public pages. The credential's id is the session's. */
  readonly session: Caller | undefined
  readonly browser: BrowserFacts
  /** For `firstArrival` alone. */
  readonly arriving: Arriving
}

/** What decides whether a visit may be lacking its cookie only because of where it comes from. */
export interface Arriving {
  /** Path and query as they were asked for. */
  readonly target: string
  readonly fetchSite: string | undefined
  readonly host: string | undefined
  readonly isSecure: boolean
  readonly nowMs: number
}

/** JSON that says the same to everybody, and that caches may keep. */
export interface PublicJson {
  readonly json: string
  readonly maxAgeSeconds: number
}

/** A file that the build wrote, the same for everybody, in the content codings that it is kept in. */
export interface StaticFile {
  readonly media: string
  /** Of its contents; the entity tags of its codings derive from it. */
  readonly digest: string
  /** Whether its address changes with its contents, so that browsers keep it for a year. Others ask each time. */
  readonly isImmutable: boolean
  /** Its `Content-Security-Policy`, where it is a page. */
  readonly policy?: string
  readonly bytes: Readonly<Record<ContentCoding, Uint8Array>>
}

/** How the bytes of an answer are coded (RFC 9110 §8.4.1). */
export type ContentCoding = 'br' | 'gzip' | 'identity'

/** The answer of a page: a document (200 by default), a redirect (303), public JSON, or a file. */
export type PageAnswer = {
  readonly cookies?: readonly Cookie[]
} & (
  | { readonly document: PageDocument; readonly status?: number }
  | { readonly location: string }
  | { readonly file: StaticFile }
  | PublicJson
)

/** Everything below a path that another library serves by itself, from the first byte of the body to the last of the answer. */
export interface ForeignRoutes {
  /** Without a slash at its end. */
  readonly prefix: `/${string}`
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
}
