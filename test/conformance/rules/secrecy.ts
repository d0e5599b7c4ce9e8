import { expect } from 'vitest'
import type { CredentialKind, Operation } from '../../../src/shared/contract/operation.ts'
import { idAt, idPlaces, unknownLike, withId, type IdPlace } from '../ids-within.ts'
import type { ValidCall } from '../scenario.ts'
import { sendUnrouted, wireOf, type Rule, type Sent, type Subject } from './rule.ts'

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
  RevokeCredentialAssignment: { member: 'id', clause: 'S1 Credential assignments: the row is read before the gate' },
  DeleteThing: { member: 'id', clause: 'a fixture: the row is read before the gate' },
}

/** Where callers act on a thing that they may not see, so that they learn whether it exists. */
const BLIND: Readonly<Record<string, Exception>> = {
  RequestCloudAssignment: {
    member: 'cloud_id',
    clause: 'decisions 12: whoever may deploy requests a Cloud by its id before the Project may see it',
  },
}

/** What callers learn of things that they may not see. */
export const secrecyRules: readonly Rule[] = [
  {
    title: 'answers those who may not see a thing as if it did not exist',
    applies: ({ credentials }) => credentials.length > 0,
    async check(subject) {
      const findings: Finding[] = []
      let call: ValidCall | undefined
      for (const outsider of subject.world.outsiders) {
        if (!takes(subject.operation, outsider.credential)) continue
        call ??= await subject.arrange()
        const found = await findingsOf(subject, { ...outsider, call: { ...call, as: outsider.credential } })
        // An admitted call may have used up what was arranged; a refused one has not.
        if (found.includes('admitted')) call = undefined
        findings.push(...found)
      }
      if (ROW_FIRST[subject.id] !== undefined) expect(findings, 'it needs no exception any more').toContain('excepted')
    },
  },
  {
    title: 'answers an administrator who names a thing of another Domain as if it did not exist',
    applies: ({ credentials }) => credentials.length > 0,
    async check(subject) {
      const { arrangeElsewhere, world } = subject
      if (arrangeElsewhere === undefined) return
      const [own, foreign] = [await arrangeElsewhere(), await subject.refused()]
      const who = 'an administrator of another Domain'
      const as = own.as === world.root ? world.elsewhere?.keeper : own.as
      const others = inputsOf(foreign)
      const findings: Finding[] = []
      for (const [index, input] of inputsOf(own).entries()) {
        const call = { ...own, ...(as !== undefined && { as }), input }
        for (const place of idPlaces(input)) {
          const known = idAt(others[index] ?? {}, place)
          if (known === undefined || known === idAt(input, place)) continue
          const named = { ...call, input: withId(input, place, known) }
          findings.push(await compare(subject, { who, call: named, there: await ask(subject, named) }, place))
        }
      }
      if (BLIND[subject.id] !== undefined) expect(findings, 'it needs no exception any more').toContain('excepted')
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

/** Whether a call was admitted or refused, or answered differently for an unknown id as a clause allows. */
type Finding = 'admitted' | 'refused' | 'excepted'

/** Compares the answers for each id in the input of the call and in those that name other things. */
async function findingsOf(subject: Subject, { call, ...asked }: Asked): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const input of inputsOf(call)) {
    const places = idPlaces(input)
    if (places.length === 0) continue
    const known = { ...call, input }
    const there = await ask(subject, known)
    for (const place of places) findings.push(await compare(subject, { ...asked, call: known, there }, place))
  }
  return findings
}

/**
 * Compares the answer about what is there with that for an id that nothing has; they must be the same to the byte, unless
 * a clause lets them differ.
 */
async function compare(
  subject: Subject,
  { who, isInside, call, there }: Asked & { readonly there: Sent },
  place: IdPlace,
): Promise<Finding> {
  const { status, text } = there.answer
  if (status < 400 && isInside === true) return 'admitted'
  if (isInside === true && (holdsFirstLeg(subject, text) || mayOnlySee(subject, there))) return 'refused'
  const known = idAt(call.input, place) ?? ''
  const unknown = unknownLike(known)
  const nowhere = await ask(subject, { ...call, input: withId(call.input, place, unknown) })
  if (BLIND[subject.id]?.member === place.at(-1) && status < 400) {
    expect(nowhere.answer.status, BLIND[subject.id]?.clause).toBe(404)
    return 'excepted'
  }
  const exception = ROW_FIRST[subject.id]
  const mayDiffer = exception?.member === place.at(-1) && (isInside === true || exception?.insidersOnly !== true)
  if (mayDiffer && status !== nowhere.answer.status) {
    expect([status, nowhere.answer.status], exception?.clause).toEqual([403, 404])
    return 'excepted'
  }
  const ids = [known, unknown]
  const what = `${who} learns from ${place.join('/')} whether it exists`
  expect(comparable(subject, nowhere, ids), what).toEqual(comparable(subject, there, ids))
  return status < 400 ? 'admitted' : 'refused'
}

/** Of a gate that needs all of its legs: whoever holds the first, and is refused by a later one, may know of the thing. */
function holdsFirstLeg({ operation: { gate } }: Subject, text: string): boolean {
  const [first] = gate.allOf ?? []
  return first !== undefined && !text.includes(`"relation":"${first.relation}"`)
}

/** Whoever may see an object that they may not change is refused openly (decisions: Objects addressed by id alone). */
function mayOnlySee({ operation: { gate } }: Subject, { answer }: Sent): boolean {
  return gate.foldUnless !== undefined && answer.json?.['code'] === 'permission_denied'
}

function ask(subject: Subject, call: ValidCall): Promise<Sent> {
  return sendUnrouted(subject, wireOf(subject, call), call.as)
}

/** When the server admitted the request. */
const ADMITTED = /"accepted_at":"[^"]*"/

/** The answer, with the ids that were asked for, its instant and the correlation id taken out; its length varies with the latter. */
function comparable(subject: Subject, { answer, correlationId }: Sent, ids: readonly string[]) {
  const { date: _date, 'x-correlation-id': _id, 'content-length': _length, ...headers } = answer.headers
  const text = answer.text.replaceAll(correlationId, '<correlation>').replace(ADMITTED, '"accepted_at":"<instant>"')
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
