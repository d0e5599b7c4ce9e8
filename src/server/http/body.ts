import { z } from 'zod'
import { problem } from '../../shared/problems.ts'
import type { OperationPlan } from './operation-plan.ts'
import { asZod } from './parameters.ts'
import { schemaProblem } from './schema-failure.ts'
import { isStorableValue } from './unsafe-text.ts'

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

const UNSTORABLE = 'the body holds U+0000, a lone surrogate or a member named __proto__'

/** Media types that bodies may come in. */
export type BodyMedia = 'application/json' | 'application/x-www-form-urlencoded'

/**
 * Decodes a whole body that is within its cap; an empty body reads as an empty object, so that bodies whose members are
 * all optional may be left out.
 *
 * @throws Problem `invalid_body`, or the body's own code, for anything that is not an object of strict UTF-8 JSON (or a form) that can be stored.
 */
export function decodeBody({ bodyProblem, operation }: OperationPlan, bytes: Buffer, media: BodyMedia): unknown {
  if (bytes.length === 0) return {}
  try {
    const text = decodeText(bytes)
    return media === 'application/json' ? decodeJson(text) : decodeForm(text, operation.body)
  } catch (error) {
    throw problem(bodyProblem, {}, error)
  }
}

function decodeText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  // A replacement character is the only trace of bytes that are not UTF-8; then the strict decoder decides.
  return text.includes('\ufffd') ? strictUtf8.decode(bytes) : text
}

function decodeJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // Characters that cannot be stored can only be written in these two ways; most bodies have neither.
  if ((text.includes('\\u') || text.includes('__proto__')) && !isStorableValue(value)) throw new Error(UNSTORABLE)
  return value
}

function decodeForm(text: string, schema: unknown): unknown {
  const members: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in members) throw new Error('the form repeats a member')
    members[name] = DIGITS.test(value) && isNumber(schema, name) ? Number(value) : value
  }
  if (!isStorableValue(members)) throw new Error(UNSTORABLE)
  return { ...members }
}

/** A form has only texts; one that is written as no whole number stays one and is refused by the schema. */
const DIGITS = /^\d{1,10}$/

function isNumber(schema: unknown, name: string): boolean {
  if (!(schema instanceof z.ZodObject)) return false
  const member: unknown = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined
  return (member instanceof z.ZodOptional ? member.unwrap() : member) instanceof z.ZodNumber
}

/**
 * Parses a decoded body by the operation's schema; undefined where it has none, and then nothing but an empty object may
 * have been sent: a member that no schema knows is refused (S0 convention 10).
 *
 * @throws Problem with the code of the member that is wrong, or of a patch that names no member.
 */
export function parseBody({ operation }: OperationPlan, decoded: unknown): unknown {
  const { patch } = operation
  if (operation.body === undefined) return assertNoMembers(decoded)
  if (patch !== undefined && 'empty' in patch && isEmptyObject(decoded)) throw problem(patch.empty)
  const schema = asZod(operation.body)
  const parsed = schema.safeParse(decoded)
  if (!parsed.success) throw schemaProblem(schema, parsed.error, 'invalid_body')
  return parsed.data
}

function assertNoMembers(decoded: unknown): undefined {
  if (!isEmptyObject(decoded)) throw problem('invalid_body')
  return undefined
}

function isEmptyObject(decoded: unknown): boolean {
  const isObject = typeof decoded === 'object' && decoded !== null && !Array.isArray(decoded)
  return isObject && Object.keys(decoded).length === 0
}
