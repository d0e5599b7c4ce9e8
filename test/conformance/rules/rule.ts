import { expect } from 'vitest'
import type { Operation } from '../../../src/shared/contract/operation.ts'
import { sentenceOf } from '../../../src/shared/contract/problem-codes.ts'
import { PROBLEMS, problemType, type ProblemCode } from '../../../src/shared/problems.ts'
import type { Document } from '../document.ts'
import type { Placed } from '../placed.ts'
import type { ValidCall } from '../scenario.ts'
import { layOut, signed, type Exchange, type WireAnswer, type WireRequest } from '../wire.ts'

/** An audit row, as far as the rules look at it. */
export interface AuditedRow {
  readonly subject: string
  readonly relation: string
  readonly object: string
  readonly outcome: string
  readonly reason: string
}

/** Somebody who may not know of what the scenarios arrange. */
export interface Outsider {
  /** In words, for the message of a failure. */
  readonly who: string
  readonly credential: string
  /** Belongs to the Domain and may see some of it: only what is refused must be told alike. */
  readonly isInside?: true
}

/** What the rules need of a world beside what its scenarios need. */
export interface ConformanceWorld {
  /** Base URL of the server. */
  readonly url: string
  /** Token of a caller who may do everything, but whose scopes cover the surface `meta` alone. */
  readonly narrow: string
  /** Cookies of a session of a caller who may do everything. */
  readonly session: string
  /** How long a row may take to get there, ms; 5,000 by default. */
  readonly auditDeadlineMs?: number
  readonly outsiders: readonly Outsider[]
  /** Token of somebody else who may do everything. */
  readonly deputy: string
  /** Another Domain, with a token of an administrator of it alone. */
  readonly elsewhere?: { readonly keeper: string }
  /** Token of a caller who may do everything. */
  readonly root: string
  /** Digests by table of what is stored. Announcements are among it; audit rows and what the leader does meanwhile are not. */
  stored(): Promise<Readonly<Record<string, string>>>
  /** Audit rows of a request, in the chains of the platform, the world's own Domain, and `domainId`. */
  audited(correlationId: string, domainId: string | undefined): Promise<readonly AuditedRow[]>
}

/** One operation under test. */
export interface Subject extends Placed {
  readonly world: ConformanceWorld
  readonly document: Document
  readonly exchange: Exchange
  /** Every operation of the contract. */
  readonly contract: readonly Placed[]
  /** The OpenAPI document apart: what the manifest says of the operation. */
  readonly problems: readonly ProblemCode[]
  /** Arranges a call that may be made once. */
  arrange(): Promise<ValidCall>
  /** Arranges the same in another Domain; undefined where the world has none. */
  readonly arrangeElsewhere: (() => Promise<ValidCall>) | undefined
  /** A call arranged once, for requests that must be refused and so use nothing up. */
  refused(): Promise<ValidCall>
  /** The subject of another operation of the contract, on the same server. */
  of(other: Placed): Subject
}

/** Something that holds of every operation it applies to. */
export interface Rule {
  readonly title: string
  readonly applies: (operation: Operation, surface: string, contract: readonly Placed[]) => boolean
  readonly check: (subject: Subject) => Promise<void>
}

let sent = 0

/** A request with its answer, and the correlation id that pairs them with the audit log. */
export interface Sent {
  readonly answer: WireAnswer
  readonly correlationId: string
}

/** Sends the wire form of a call with a credential; its answer has what every answer of the operation has. */
export async function send(subject: Subject, wire: WireRequest, credential: string | undefined): Promise<Sent> {
  const sending = await sendUnrouted(subject, wire, credential)
  if (subject.operation.deprecated !== undefined)
    expect(String(sending.answer.headers['deprecation'])).toMatch(/^@\d+$/)
  return sending
}

/** Sends a request that reaches no operation; its answer has what every answer has. */
export async function sendUnrouted(subject: Subject, wire: WireRequest, credential: string | undefined): Promise<Sent> {
  sent += 1
  const correlationId = `conformance.${process.pid}.${sent}`
  const answer = await subject.exchange(subject.world.url, signed(wire, credential, correlationId))
  expect(answer.headers['x-correlation-id']).toBe(correlationId)
  expect(answer.headers['x-service-api-version']).toBe('current=v1, latest=v1')
  return { answer, correlationId }
}

/** The request of a valid call. */
export function wireOf({ operation }: Subject, { input, cookie }: ValidCall): WireRequest {
  const wire = layOut(operation, input)
  return cookie === undefined ? wire : { ...wire, headers: { ...wire.headers, cookie } }
}

/** Asserts a refusal by one of these codes: a whole problem document that the operation declares. */
export function expectProblem(subject: Subject, { answer, correlationId }: Sent, codes: readonly ProblemCode[]): void {
  const code = answer.json?.['code'] as ProblemCode
  expect({ code, status: answer.status }).toEqual({ code, status: PROBLEMS[code]?.status })
  expect(codes, answer.text).toContain(code)
  expect(answer.headers['content-type']).toBe('application/problem+json')
  expect(answer.json).toMatchObject({
    type: problemType(code),
    title: PROBLEMS[code].title,
    detail: sentenceOf(subject.operation, code),
    status: answer.status,
    correlation_id: correlationId,
  })
  expect(subject.document.problemMismatch(answer.json)).toBeUndefined()
  if (subject.operation.oauthErrors === true) expect(answer.json?.['error']).toMatch(/^[a-z_]+$/)
  expect(subject.document.codes(subject.id, answer.status)).toContain(code)
  expect(subject.problems).toContain(code)
}

/** Every 400 that the operation declares. */
export function badRequests(subject: Subject): readonly ProblemCode[] {
  return subject.problems.filter((code) => PROBLEMS[code].status === 400)
}
