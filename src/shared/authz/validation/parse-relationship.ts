import { scanObjectRelation, scanSubject, type ObjectRelation, type SubjectReference } from './references.ts'
import { createScanner, excerpt, type Scanner } from './scanner.ts'
import { TextFault } from './text-fault.ts'

/** A relationship in SpiceDB's notation, with the offsets of its parts. */
export interface Relationship {
  readonly resource: ObjectRelation
  readonly subject: SubjectReference
  /** Empty for none. */
  readonly caveat: string
  readonly context: Readonly<Record<string, unknown>> | undefined
  /** In milliseconds since 1970. */
  readonly expiresAtMs: number | undefined
  readonly offsets: { readonly relation: number; readonly subject: number; readonly caveat: number }
}

const AT = /@/y
const CAVEAT = /\[(?!expiration:(?!\{))/y
const CAVEAT_NAME = /(?:[a-z][a-z0-9_]{1,61}[a-z0-9]\/)*[a-z][a-z0-9_]{1,62}[a-z0-9](?![a-z0-9_/])/y
const CLOSE = /\]/y
const EXPIRATION = /\[expiration:/y
const INSTANT = /[\d.:TZ-]+/y
/** The context ends at the last `}]` before the end or the expiration, as in SpiceDB. It is never empty. */
const CONTEXT = /:\{.+\}(?=\](?:\[expiration:[\d.:TZ-]*\])?$)/y

/**
 * Parses `document:plan#viewer@user:anne`, `…@group:eng#member`, `…[caveat]`, `…[caveat:{"limit": 1}]` and
 * `…[expiration:2030-01-01T00:00:00Z]`, without surrounding whitespace.
 * @throws TextFault
 */
export function parseRelationship(text: string): Relationship {
  const scanner = createScanner(text)
  const resource = scanObjectRelation(scanner)
  scanner.expect(AT, '"@" and a subject')
  const subjectOffset = scanner.offset()
  const subject = scanSubject(scanner)
  const caveatOffset = scanner.offset()
  const { caveat, context } = scanCaveat(scanner)
  const expiresAtMs = scanExpiration(scanner)
  if (!scanner.isAtEnd()) scanner.fail('the end of the relationship')
  const relation = resource.type.length + resource.id.length + 2
  const offsets = { relation, subject: subjectOffset, caveat: caveatOffset }
  return { resource, subject, caveat, context, expiresAtMs, offsets }
}

function scanCaveat(scanner: Scanner): Pick<Relationship, 'caveat' | 'context'> {
  if (scanner.take(CAVEAT) === undefined) return { caveat: '', context: undefined }
  const caveat = scanner.expect(CAVEAT_NAME, 'the name of a caveat')
  const begin = scanner.offset() + 1
  const json = scanner.take(CONTEXT)
  const context = json === undefined ? undefined : parseContext(json.slice(1), begin)
  scanner.expect(CLOSE, json === undefined ? '"]" or ":" and a JSON object with values' : '"]"')
  return { caveat, context }
}

/** @throws TextFault unless the text is a JSON object. */
export function parseContext(text: string, offset: number): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new TextFault(offset, `expected a JSON object, found ${excerpt(text)}`)
  }
  if (isObject(value)) return value
  throw new TextFault(offset, `expected a JSON object, found ${excerpt(text)}`)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function scanExpiration(scanner: Scanner): number | undefined {
  if (scanner.take(EXPIRATION) === undefined) return undefined
  const offset = scanner.offset()
  const text = scanner.take(INSTANT) ?? ''
  const instant = parseInstant(text)
  if (instant === undefined) {
    throw new TextFault(offset, `expected an instant such as 2030-01-01T00:00:00Z, found ${excerpt(text)}`)
  }
  scanner.expect(CLOSE, '"]"')
  return instant
}

const RFC_3339 = /^(\d{4}-\d\d-(\d\d))T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|-\d\d:\d\d)$/

/** RFC 3339 without a positive offset, which SpiceDB's notation cannot express. Undefined for dates that do not exist. */
function parseInstant(text: string): number | undefined {
  const [, date, day] = RFC_3339.exec(text) ?? []
  if (date === undefined || new Date(`${date}T00:00:00Z`).getUTCDate() !== Number(day)) return undefined
  const instant = Date.parse(text)
  return Number.isNaN(instant) ? undefined : instant
}
