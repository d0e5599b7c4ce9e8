import type { z } from 'zod'
import { jsonSchemaOf } from '../../../src/shared/contract/json-schema.ts'
import type { AnySchema, Operation } from '../../../src/shared/contract/operation.ts'
import { ZERO_UUID } from '../../../src/shared/ids.ts'
import { idPlaces, withId, type IdPlace } from '../ids-within.ts'
import { badRequests, expectProblem, send, wireOf, type Rule, type Subject } from './rule.ts'

const takesMembers = ({ params, query, body }: Operation): boolean =>
  params !== undefined || query !== undefined || body !== undefined

/** The zero UUID is no identifier (S0 convention 1). */
export const zeroIdRules: readonly Rule[] = [
  {
    title: 'refuses the zero UUID wherever it takes an id',
    applies: takesMembers,
    async check(subject) {
      const call = await subject.refused()
      for (const input of [call.input, ...(call.variants ?? [])]) {
        for (const zero of [...zerosIn(subject, input), ...zerosBeside(subject, input)]) {
          expectProblem(subject, await send(subject, wireOf(subject, { ...call, input: zero }), call.as), [
            ...badRequests(subject),
          ])
        }
      }
    },
  },
]

type Input = Readonly<Record<string, unknown>>

/** The input with each of its ids in turn made zero, those within references among them. */
function zerosIn({ operation: { query } }: Subject, input: Input): readonly Input[] {
  const isText = ([name = '']: IdPlace): boolean => {
    const { properties = {} } = query === undefined ? {} : jsonSchemaOf(query, 'input')
    return properties[name] !== undefined && properties[name].format !== 'uuid' && !String(input[name]).includes(':')
  }
  // What an identity provider hands out may look like an id.
  return idPlaces(input)
    .filter((place) => !isText(place))
    .map((place) => withId(input, place, ZERO_UUID))
}

/** The input with each id that it leaves out, in query and body, given as zero. */
function zerosBeside({ operation: { query, body } }: Subject, input: Input): readonly Input[] {
  const inBody = input['body'] as Input | undefined
  return [
    ...idMembers(query)
      .filter((name) => input[name] === undefined)
      .map((name) => ({ ...input, [name]: ZERO_UUID })),
    ...idMembers(body)
      .filter((name) => inBody?.[name] === undefined)
      .map((name) => ({ ...input, body: { ...inBody, [name]: ZERO_UUID } })),
  ]
}

function idMembers(schema: AnySchema | undefined): readonly string[] {
  const { properties = {} } = schema === undefined ? {} : jsonSchemaOf(schema, 'input')
  return Object.entries(properties).flatMap(([name, { format }]) => (format === 'uuid' ? [name] : []))
}

/** What ids may stand behind. */
const PREFIXES = ['', 'user:', 'service:', 'serviceaccount:', 'group:', 'domain:', 'project:', 'node:']
const SAMPLE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const NO_ID = 'x'.repeat(SAMPLE.length)

/** Whether a schema takes an id there and nothing else, and the zero UUID for one. */
export function takesZeroId(schema: z.ZodType): boolean {
  const takes = (text: string): boolean => {
    try {
      return schema.safeParse(text).success
    } catch {
      return false
    }
  }
  return PREFIXES.some((prefix) => takes(prefix + SAMPLE) && !takes(prefix + NO_ID) && takes(prefix + ZERO_UUID))
}
