import type { IncomingHttpHeaders } from 'node:http'
import type { TraceMarks, TraceParent } from '../ports/tracing.ts'

/** W3C Trace Context §3.2: version (not ff), trace id and parent id (not all 0), flags; what follows is of later versions. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** W3C Trace Context §3.3.1.3: keys with or without the `@` of a tenant, values of printable characters but `,` and `=`. */
const MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

const STATE_CHARACTERS_MAX = 512
const STATE_MEMBERS_MAX = 32

/**
 * The caller's trace. A `traceparent` that is malformed or repeated counts as absent; so does
 * a `tracestate`, without its `traceparent` (W3C Trace Context §3.2 and §3.3).
 */
export function traceParentOf(headers: IncomingHttpHeaders): TraceParent | undefined {
  const { traceparent } = headers
  if (typeof traceparent !== 'string') return undefined
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(traceparent) ?? []
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (version === '00' && rest !== undefined) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16), state: stateOf(headers['tracestate']) }
}

/** Several headers arrive as one list. */
function stateOf(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string' || header.length > STATE_CHARACTERS_MAX) return undefined
  const members = header.split(',').map((member) => member.replaceAll(/^[ \t]+|(?<![ \t])[ \t]+$/g, ''))
  const said = members.filter((member) => member !== '')
  if (said.length === 0 || said.length > STATE_MEMBERS_MAX || !said.every((member) => MEMBER.test(member)))
    return undefined
  const keys = new Set(said.map((member) => member.slice(0, member.indexOf('='))))
  return keys.size === said.length ? said.join(',') : undefined
}

/** Members of each log record of a request. */
export function logMarks(of: {
  readonly correlationId: string
  readonly trace?: TraceMarks | undefined
}): { readonly correlation_id: string } & Partial<TraceMarks> {
  return { correlation_id: of.correlationId, ...of.trace }
}

/** Trace members of log records that come from the caller's trace, where this server has no span of its own. */
export function marksOf(parent: TraceParent | undefined): TraceMarks | undefined {
  return parent && { trace_id: parent.traceId, span_id: parent.spanId }
}
