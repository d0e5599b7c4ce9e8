import type { Subject } from '../rules/rule.ts'
import type { WireAnswer, WireRequest } from '../wire.ts'

/** An edge that is wrong in one way: what it makes of a request, given a sound edge to ask. */
export type BrokenEdge = (wire: WireRequest, ask: (wire: WireRequest) => Promise<WireAnswer>) => Promise<WireAnswer>

/** Something wrong with a server, and the rule of the loop that must say so. */
export interface Fault {
  /** What is wrong. */
  readonly fault: string
  readonly operation: string
  /** Title of the rule. */
  readonly rule: string
  /** Part of what the rule says. */
  readonly says: string
  readonly edge?: BrokenEdge
  /** Wrong beside the wire: the audit log, the document. */
  readonly change?: (subject: Subject) => Partial<Subject>
}

/** A header of the request, as text; empty when it has none. */
export const headerOf = ({ headers = {} }: WireRequest, name: string): string => String(headers[name] ?? '')

/** Asks the sound edge something else than was asked. */
export const asking =
  (change: (wire: WireRequest) => WireRequest): BrokenEdge =>
  (wire, ask) =>
    ask(change(wire))

/** Answers something else than the sound edge did. */
export const answering =
  (change: (answer: WireAnswer, wire: WireRequest) => WireAnswer): BrokenEdge =>
  async (wire, ask) =>
    change(await ask(wire), wire)

/** Whatever the request's own credential, this one is looked at. */
export const asIf = (credential: string): BrokenEdge =>
  asking((wire) => ({ ...wire, headers: { ...wire.headers, authorization: `Bearer ${credential}` } }))

/** What should have been refused is answered as if it had gone well. */
export const lenient = (isMeant: (wire: WireRequest) => boolean): BrokenEdge =>
  answering((answer, wire) => (isMeant(wire) && answer.status >= 400 ? { ...answer, status: 200, json: {} } : answer))

/** A query member that is not looked at. */
export const withoutMember = (name: string): BrokenEdge =>
  asking((wire) => {
    const [path = '', search = ''] = wire.path.split('?')
    const kept = search.split('&').filter((part) => !part.startsWith(`${name}=`))
    return { ...wire, path: kept.length === 0 ? path : `${path}?${kept.join('&')}` }
  })

/** Headers of every answer replaced, or left out where undefined. */
export const withHeaders = (change: Readonly<Record<string, string | undefined>>): BrokenEdge =>
  answering((answer) => ({
    ...answer,
    headers: Object.fromEntries(Object.entries({ ...answer.headers, ...change }).filter(([, v]) => v !== undefined)),
  }))

/** Other JSON than the answer had, whatever its status. */
export const withJson = (change: (json: Readonly<Record<string, unknown>>) => object): BrokenEdge =>
  answering((answer) => {
    const json = { ...change(answer.json ?? {}) }
    return { ...answer, json, text: JSON.stringify(json) }
  })

/** The edge reads another body than was sent. */
export const withBody = (change: (body: string) => string, isMeant: (wire: WireRequest) => boolean): BrokenEdge =>
  asking((wire) => (isMeant(wire) ? { ...wire, body: change(text(wire)), chunked: false } : wire))

/** The request's body as it would be read. */
export const text = ({ body = '' }: WireRequest): string => Buffer.from(body).toString('utf8')

export const always = (): boolean => true
/** A body without the blanks that fill it up. */
export const trimmed = (body: string): string => JSON.stringify(JSON.parse(body))

/** The operation of the fixture whose body says which object it is about. */
export const TRANSFER = { operation: 'PostTransfer' } as const
const KNOWN = { project_id: '01935b5e-8f3a-7c61-9d0a-000000000011', reason: 'because' }
/** A valid body of it. */
export const knownTransfer = (): string => JSON.stringify(KNOWN)

type Audited = Awaited<ReturnType<Subject['world']['audited']>>

/** The audit log shows these rows in the place of its own. */
export const auditing =
  (change: (rows: Audited) => Audited) =>
  (subject: Subject): Partial<Subject> => ({
    world: {
      ...subject.world,
      auditDeadlineMs: 2_000,
      audited: async (...asked) => change(await subject.world.audited(...asked)),
    },
  })
