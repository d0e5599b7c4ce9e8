import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  isMedia,
  legsOf,
  ownerOf,
  rowLegsOf,
  type AnySchema,
  type Gate,
  type GateLeg,
  type Operation,
} from '../../src/shared/contract/operation.ts'
import { asZod } from '../../src/shared/contract/json-schema.ts'
import { problemCodesOf } from '../../src/shared/contract/problem-codes.ts'
import { schemasWithin } from '../../src/shared/contract/schemas-within.ts'
import { PROBLEMS } from '../../src/shared/problems.ts'
import { takesZeroId } from './rules/zero-ids.ts'

/** Something without which no operation ships. */
export interface Guard {
  readonly title: string
  /** What is missing, in words; undefined when nothing is. */
  missing(operation: Operation): string | undefined
}

/** More is no bound. */
const CAP_MAX = 1024 * 1024

/** What every operation of a contract has, whatever it is. */
export const GUARDS: readonly Guard[] = [
  { title: 'a gate', missing: (operation) => gateMissing(operation) ?? holeMissing(operation) },
  {
    title: 'a credential',
    missing: ({ credentials, gate }) =>
      credentials.length === 0 && gate.open === undefined ? 'it takes none and is not declared open' : undefined,
  },
  {
    title: 'an audit relation',
    missing({ audit }) {
      if ('none' in audit) return audit.none.trim() === '' ? 'no audit row, and no clause that says why' : undefined
      return /^[a-z][a-z_.]*$/.test(audit.relation) ? undefined : `the relation is ${JSON.stringify(audit.relation)}`
    },
  },
  {
    title: 'a body cap',
    missing({ body, bodyBytesMax }) {
      if (body === undefined) return bodyBytesMax === undefined ? undefined : 'it has a cap and no body'
      if (bodyBytesMax === undefined) return 'it has a body and no cap'
      return bodyBytesMax > 0 && bodyBytesMax <= CAP_MAX ? undefined : `the cap is ${bodyBytesMax}`
    },
  },
  { title: 'its problem codes', missing: problemMissing },
  {
    title: 'ids other than zero',
    missing({ params, query, body }) {
      const schemas = [params, query, body].flatMap((schema) => (schema ? schemasWithin(asZod(schema)) : []))
      const wrong = schemas.find((schema) => takesZeroId(asZod(schema)))
      return wrong && `a member takes the zero UUID: ${JSON.stringify(z.globalRegistry.get(wrong))}`
    },
  },
  {
    title: 'a success answer',
    missing({ responses, requestHeaders = {} }) {
      const statuses = Object.keys(responses).map(Number)
      // A browser may be sent on with 303 (S0 Authentication surface); whoever asks for what is new may be told that nothing is.
      const others = 'If-None-Match' in requestHeaders ? [303, 304] : [303]
      return statuses.length > 0 &&
        statuses.every((status) => (status >= 200 && status < 300) || others.includes(status))
        ? undefined
        : `the statuses are ${statuses.join(', ') || 'none'}`
    },
  },
  { title: 'examples that fit its schemas, where it has any', missing: exampleMissing },
  {
    title: 'words for a stranger',
    missing: ({ summary }) => (/^[A-Z].*[^.]$/.test(summary) ? undefined : `the summary is ${JSON.stringify(summary)}`),
  },
]

function gateMissing({ gate }: Operation): string | undefined {
  const legs = legsOf(gate)
  if (gate.open !== undefined && legs.length > 0) return 'it is open and has legs'
  if (gate.anyOf !== undefined && gate.allOf !== undefined) return 'it needs one of its legs and all of them'
  if (gate.open !== undefined) return gate.open.trim() === '' ? 'it is open, and no clause says why' : undefined
  return legs.length === 0 && ownerOf(gate) === undefined ? 'it is neither open nor has legs' : undefined
}

/** A hole over a member that the operation does not have is never filled: the leg would be passed over. */
function holeMissing({ gate, params, query, body, audit }: Operation): string | undefined {
  const legs = everyLegOf(gate)
  const objects = [
    ...legs.flatMap(({ relation, object }) => [relation, object]),
    gate.own ?? '',
    'object' in audit ? (audit.object ?? '') : '',
  ]
  const known = { path: membersOf(params), query: membersOf(query), body: membersOf(body) }
  const unknown = legs.find(({ when }) => when !== undefined && !known.body.includes(when.member))
  if (unknown?.when !== undefined) return `nothing fills the member ${unknown.when.member} that selects a leg`
  if (gate.after === 'body' && body === undefined) return 'it is asked after a body that the operation does not have'
  for (const [hole, source = '', member = ''] of objects.join(' ').matchAll(/\{(path|query|body)\.(\w+)\}/g)) {
    if (!known[source as keyof typeof known].includes(member)) return `nothing fills ${hole}`
  }
  return undefined
}

/** Every leg that is asked or named. */
function everyLegOf(gate: Gate): readonly GateLeg[] {
  const single = [gate.denial, gate.foldFor].flatMap((leg) => leg ?? [])
  return [
    ...legsOf(gate),
    ...rowLegsOf(gate),
    ...(gate.foldUnless ?? []),
    ...Object.values(gate.probes ?? {}),
    ...single,
  ]
}

function problemMissing(operation: Operation): string | undefined {
  const holes = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const members = membersOf(operation.params)
  const unparsed = holes.find((hole) => !members.includes(hole))
  if (unparsed !== undefined) return `nothing parses ${unparsed}`
  const stranger = problemCodesOf(operation).find((code) => !Object.hasOwn(PROBLEMS, code))
  if (stranger !== undefined) return `${stranger} is not in the catalogue`
  return limitMissing(operation) ?? sentenceMissing(operation) ?? repeated(operation)
}

function exampleMissing({ body, bodyMedia = [], responses, examples = {} }: Operation): string | undefined {
  const { body: sent, answers = {} } = examples
  if (sent !== undefined && (body === undefined || !asZod(body).safeParse(sent).success))
    return 'its body is not one that the operation takes'
  if (sent !== undefined && bodyMedia.length > 0) return 'its body is in one of several media types'
  for (const [status, answer] of Object.entries(answers)) {
    const shape = responses[Number(status)]
    if (shape === undefined || shape === null || isMedia(shape)) return `${status} is not answered with JSON`
    const { data } = asZod(shape).safeParse(answer)
    // A member that the schema does not know is dropped by it.
    if (!isDeepStrictEqual(data, answer)) return `the answer ${status} is not one of the operation`
  }
  return undefined
}

/** A limit out of range is refused by `invalid_limit`, or clamped, and then nothing answers that code. */
function limitMissing(operation: Operation): string | undefined {
  if (operation.paging === undefined) return undefined
  const isRefused = problemCodesOf(operation).includes('invalid_limit')
  if (isRefused === (operation.paging.limit === 'rejected')) return undefined
  return isRefused ? 'its limit is clamped, and may be invalid_limit' : 'its limit is rejected without invalid_limit'
}

function sentenceMissing(operation: Operation): string | undefined {
  const { sentences = {} } = operation
  for (const [code, sentence] of Object.entries(sentences)) {
    if (!problemCodesOf(operation).some((known) => known === code))
      return `it has a sentence for ${code}, which it never answers`
    if (!/^[A-Z].*\.$/.test(sentence)) return `the sentence of ${code} is ${JSON.stringify(sentence)}`
  }
  return undefined
}

function repeated({ problems }: Operation): string | undefined {
  const twice = problems.find((code, index) => problems.indexOf(code) !== index)
  return twice === undefined ? undefined : `${twice} is declared twice`
}

/** Members of an object; of alternatives, of all of them. */
function membersOf(schema: AnySchema | undefined): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape)
  // Alternatives of the contract are objects.
  if (schema instanceof z.ZodUnion) return (schema.def.options as readonly AnySchema[]).flatMap(membersOf)
  return []
}
