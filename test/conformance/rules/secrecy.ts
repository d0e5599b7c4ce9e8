import { expect } from 'vitest'
import type { CredentialKind, Operation } from '../../../src/shared/contract/operation.ts'
import { idAt, idPlaces, unknownLike, withId, type IdPlace } from '../ids-within.ts'
import type { ValidCall } from '../scenario.ts'
import { sendUnrouted, wireOf, type Rule, type Subject } from './rule.ts'

/** Where answers to callers whom the gate refuses may differ for an unknown id. */
interface Exception {
  /** The member by which the row is found; all others are held to the rule. */
  readonly member: string
  readonly clause: string
  /** Administrators of another Domain are held to the rule all the same. */
  readonly insidersOnly?: true
}

const TUPLES = 'decisions 3: tuple PATCH and DELETE read the row before the gate'
const TOKENS = 'S0 Authentication surface: the token is looked up before the gate'

/** Every exception by the name of its operation, with the clause that says so. */
const ROW_FIRST: Readonly<Record<string, Exception>> = {
  PatchRelationTuple: { member: 'id', clause: TUPLES },
  DeleteRelationTuple: { member: 'id', clause: TUPLES },
  PostAuthzImpact: { member: 'tuple_id', clause: 'decisions 2: gated as the writes that it tries are' },
  DeleteAdminTokenByID: { member: 'id', clause: TOKENS, insidersOnly: true },
  PostAdminTokenRotate: { member: 'id', clause: TOKENS, insidersOnly: true },
  DeleteThing: { member: 'id', clause: 'a fixture: the row is read before the gate' },
}

/** What callers learn of things that they may not see. */
export const secrecyRules: readonly Rule[] = [
  {
    title: 'answers those who may not see a thing as if it did not exist',
    applies: ({ credentials }) => credentials.length > 0,
    async check(subject) {
      let exceptions = 0
      for (const outsider of subject.world.outsiders) {
        if (!takes(subject.operation, outsider.credential)) continue
        const call = { ...(await subject.arrange()), as: outsider.credential }
        const places = inputsOf(call).flatMap((input) => idPlaces(input).map((place) => ({ input, place })))
        for (const { input, place } of places) {
          if (await isExcepted(subject, { ...outsider, call: { ...call, input } }, place)) exceptions += 1
        }
      }
      if (ROW_FIRST[subject.id] !== undefined) expect(exceptions, 'it needs no exception any more').toBeGreaterThan(0)
    },
  },
  {
    title: 'answers an administrator who names a thing of another Domain as if it did not exist',
    applies: ({ credentials }) => credentials.length > 0,
    async check(subject) {
      const { arrangeElsewhere, world } = subject
      if (arrangeElsewhere === undefined) return
      const [own, foreign] = [await arrangeElsewhere(), await subject.arrange()]
      const who = 'an administrator of another Domain'
      const as = own.as === world.root ? world.elsewhere?.keeper : own.as
      const others = inputsOf(foreign)
      for (const [index, input] of inputsOf(own).entries()) {
        const call = { ...own, ...(as !== undefined && { as }), input }
        for (const place of idPlaces(input)) {
          const known = idAt(others[index] ?? {}, place)
          if (known === undefined || known === idAt(input, place)) continue
          await isExcepted(subject, { who, call: { ...call, input: withId(input, place, known) } }, place)
        }
      }
    },
  },
]

const KINDS: readonly (readonly [string, CredentialKind])[] = [
  ['psk_', 'api-token'],
  ['nsk_', 'nsk'],
  ['service_session=', 'session'],
]

function takes({ credentials }: Operation, credential: string): boolean {
  return KINDS.some(([prefix, kind]) => credential.startsWith(prefix) && credentials.includes(kind))
}

/** The call's input, and those that name other things. */
function inputsOf({ input, variants = [] }: ValidCall): readonly Readonly<Record<string, unknown>>[] {
  return [input, ...variants]
}

/** A call by somebody who may not see what it names. */
interface Asked {
  readonly who: string
  readonly isInside?: true
  readonly call: ValidCall
}

/**
 * Asks for what is there, and then for an id that nothing has; the answers must be the same to the byte. True where a
 * clause lets them differ, and they do.
 */
async function isExcepted(subject: Subject, { who, isInside, call }: Asked, place: IdPlace): Promise<boolean> {
  const known = idAt(call.input, place) ?? ''
  const unknown = unknownLike(known)
  const ids = [known, unknown]
  const there = await ask(subject, call, ids)
  if (there.status < 400 && isInside === true) return false
  if (isInside === true && holdsFirstLeg(subject, there.text)) return false
  const nowhere = await ask(subject, { ...call, input: withId(call.input, place, unknown) }, ids)
  const exception = ROW_FIRST[subject.id]
  const mayDiffer = exception?.member === place.at(-1) && (isInside === true || exception?.insidersOnly !== true)
  if (mayDiffer && there.status !== nowhere.status) {
    expect([there.status, nowhere.status], exception?.clause).toEqual([403, 404])
    return true
  }
  expect(nowhere, `${who} learns from ${place.join('/')} whether it exists`).toEqual(there)
  return false
}

/** Of a gate that needs all of its legs: whoever holds the first, and is refused by a later one, may know of the thing. */
function holdsFirstLeg({ operation: { gate } }: Subject, text: string): boolean {
  const [first] = gate.allOf ?? []
  return first !== undefined && !text.includes(`"relation":"${first.relation}"`)
}

/** The answer, with the ids that were asked for and the correlation id taken out; its length varies with the latter. */
async function ask(subject: Subject, call: ValidCall, ids: readonly string[]) {
  const { answer, correlationId } = await sendUnrouted(subject, wireOf(subject, call), call.as)
  const { date: _date, 'x-correlation-id': _id, 'content-length': _length, ...headers } = answer.headers
  const text = answer.text.replaceAll(correlationId, '<correlation>')
  return {
    status: answer.status,
    text: withoutPages(
      subject,
      ids.reduce((of, id) => of.replaceAll(id, '<id>'), text),
    ),
    headers,
  }
}

/** A list that filters rows says with its cursor that rows follow, whoever may see them (S0 convention 5). */
function withoutPages({ operation: { gate, paging } }: Subject, text: string): string {
  return paging !== undefined && gate.rows !== undefined
    ? text.replace(/"next_cursor":"[^"]*"/, '"next_cursor":null')
    : text
}
