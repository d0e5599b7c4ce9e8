import { PROBLEMS, type InvalidCode, type ProblemCode } from '../problems.ts'
import { asZod } from './json-schema.ts'
import { hasGate, legsOf, type AnySchema, type Operation } from './operation.ts'
import { schemasWithin } from './schemas-within.ts'
import { z } from 'zod'

/**
 * Every code that an operation may answer with: those it declares, and those that its other members imply, such as the
 * 401 of its credentials, the 403 of its gate and the 413 of its cap. Sorted.
 */
export function problemCodesOf(operation: Operation): readonly ProblemCode[] {
  const codes = new Set<ProblemCode>(['internal', 'overloaded', 'shutting_down', ...operation.problems])
  for (const implied of [ofCredentials, ofGate, ofParameters, ofBody, ofDualControl, ofPaging]) {
    for (const code of implied(operation)) codes.add(code)
  }
  if (operation.notProvisioned !== undefined) codes.add(operation.notProvisioned)
  return [...codes].toSorted()
}

/** The sentence that a problem of an operation has: its own, else that of the catalogue. */
export function sentenceOf({ sentences, ingest }: Pick<Operation, 'sentences' | 'ingest'>, code: ProblemCode): string {
  if (ingest === 'refused' && code === 'capacity_exceeded') return INGEST_EXCEEDED
  return sentences?.[code] ?? PROBLEMS[code].detail
}

const INGEST_EXCEEDED =
  'The nodes of the Domain report more bytes a second than its target allows; retry after the time in Retry-After.'

/** The 400 of a body that is invalid as a whole: the code that its schema declares, else `invalid_body`. */
export function bodyProblemOf({ body }: Operation): InvalidCode {
  return (body && z.globalRegistry.get(asZod(body))?.problem) ?? 'invalid_body'
}

/** Size of a body, in bytes, above which it counts against its caller's budget; smaller ones arrive in one read. */
export const COUNTED_BODY_BYTES = 8 * 1024

type Codes = readonly ProblemCode[]

function ofCredentials(operation: Operation): Codes {
  const { credentials, unauthenticated, method, perAddress, doubleSubmit } = operation
  if (credentials.length === 0) return perAddress === true ? ['rate_limited'] : []
  return [
    unauthenticated ?? 'unauthenticated',
    'datastore_unavailable',
    'rate_limited',
    ...ofScopes(operation),
    ...(credentials.includes('nsk')
      ? (['nsk_revoked', 'per_node_rate_limited', 'per_domain_rate_limited'] as const)
      : []),
    ...(credentials.includes('join-token') ? (['invalid_join_token', 'permission_denied'] as const) : []),
    ...(credentials.includes('session') && method !== 'GET' ? (['origin_not_allowed'] as const) : []),
    ...(doubleSubmit === true ? (['csrf_failed'] as const) : []),
  ]
}

function ofScopes({ credentials, anyScope }: Operation): Codes {
  return credentials.includes('api-token') && anyScope !== true ? ['permission_denied'] : []
}

function ofGate({ gate }: Operation): Codes {
  const asks = legsOf(gate).length > 0 || gate.rows !== undefined || gate.foldUnless !== undefined
  return [
    ...(hasGate(gate) ? (['permission_denied'] as const) : []),
    ...(asks ? (['authz_unavailable'] as const) : []),
    ...(gate.stepUp !== undefined ? (['step_up_required'] as const) : []),
    ...(gate.fold ? [gate.fold] : []),
    ...(gate.missingRow ? [gate.missingRow] : []),
    ...(gate.ownNode ? [gate.ownNode.mismatch] : []),
  ]
}

function ofParameters({ params, query }: Operation): Codes {
  const inPath = params ? (['invalid_path', ...codesWithin(params)] as const) : []
  return ['invalid_query', ...inPath, ...(query ? codesWithin(query) : [])]
}

/** A client may send a body where none is expected: only an empty object is accepted. */
function ofBody(operation: Operation): Codes {
  const { body, bodyBytesMax = 0, overCap, method, patch, ingest } = operation
  if (body === undefined && method === 'GET') return []
  const codes = body === undefined ? [] : codesWithin(body)
  return [
    bodyProblemOf(operation),
    overCap ?? 'request_body_too_large',
    'unsupported_media_type',
    ...(patch !== undefined && 'empty' in patch ? [patch.empty] : []),
    ...(bodyBytesMax > COUNTED_BODY_BYTES ? (['too_many_bodies'] as const) : []),
    ...(ingest === 'refused' ? (['capacity_exceeded'] as const) : []),
    ...codes,
  ]
}

function ofDualControl({ dualControl }: Operation): Codes {
  if (dualControl === undefined) return []
  return dualControl.runs === 'server'
    ? ['approval_pending', 'approval_stale']
    : ['approval_pending', 'approval_not_found', 'approval_stale']
}

function ofPaging({ paging }: Operation): Codes {
  if (paging === undefined) return []
  return paging.cursor === 'caller' ? ['invalid_cursor', 'cursor_binding_mismatch'] : ['invalid_cursor']
}

/** The 400 codes that a schema and its members declare. */
export function codesWithin(schema: AnySchema): Codes {
  return schemasWithin(asZod(schema)).flatMap((at) => z.globalRegistry.get(at)?.problem ?? [])
}
