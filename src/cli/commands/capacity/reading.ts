import { refusalOf, type CallOptions } from '../../../client/client.ts'
import { ProblemAnswer } from '../../../client/failures.ts'
import type { ArgumentSpec } from '../../argv/flags.ts'
import { severalTexts } from '../../derive/input.ts'
import type { ExitCode } from '../../errors/exit-code.ts'
import { handleOf, idOf } from '../../output/members.ts'
import { harmless } from '../../output/style.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { inLanes, LANES } from '../nodes/in-lanes.ts'
import type { DomainCapacity } from './answers.ts'

/** The argument of commands that may be asked about several Domains. */
export const OPTIONAL_DOMAINS: readonly ArgumentSpec[] = [
  { name: 'domain', describe: 'Domain', noun: 'domains', many: true, required: false },
]

/** A Domain to ask about. */
export interface Place {
  readonly id: string
  readonly name: string
}

/** The Domains that are meant. */
export interface Places {
  readonly places: readonly Place[]
  /** None was named: those that may not be read are left out. */
  readonly isListed: boolean
}

/** The Domains that are named, else that of the context, else all. */
export async function placesOf(session: Session, texts: readonly string[]): Promise<Places> {
  const resolver = createResolver(session)
  const named: Place[] = []
  for (const text of await severalTexts(session, texts)) named.push(placeOf(await resolver.object('domains', text, {})))
  if (named.length > 0) return { places: named, isListed: false }
  const chosen = await resolver.chosen('domains', {})
  if (chosen !== undefined) return { places: [placeOf(chosen)], isListed: false }
  const rows = await resolver.list('domains', {})
  const places = rows.flatMap((row) => {
    const id = idOf(row)
    return id === undefined ? [] : [{ id, name: handleOf(row) ?? id }]
  })
  return { places, isListed: true }
}

function placeOf({ id, label }: { readonly id: string; readonly label: string }): Place {
  return { id, name: label }
}

/** The sample of a Domain. */
export interface Sampled {
  readonly name: string
  readonly capacity: DomainCapacity
}

/** A Domain that could not be read. */
export interface Unread {
  readonly name: string
  readonly error: unknown
}

export interface Samples {
  readonly sampled: readonly Sampled[]
  /** What is to be said of the others. */
  readonly unread: readonly Unread[]
}

/**
 * Reads the samples of Domains, several at once. Where one of several cannot be read, the others can be.
 *
 * @throws the failure where it concerns all, or where no Domain can be read.
 */
export async function readSamples(session: Session, { places, isListed }: Places): Promise<Samples> {
  const outcomes = await readAll(session, places)
  const sampled = outcomes.filter((one): one is Sampled => 'capacity' in one)
  const unread = outcomes.flatMap((one) => ('error' in one ? [one] : []))
  const general = unread.find(({ error }) => !isOfOne(error)) ?? (sampled.length === 0 ? unread[0] : undefined)
  if (general !== undefined) throw general.error
  return { sampled, unread: unread.filter(({ error }) => !(isListed && isHidden(error))) }
}

/** Says in a line each what could not be read. Answers the exit code of the first; undefined where there is none. */
export async function reportUnread(
  session: Session,
  { unread }: Samples,
  words: string,
): Promise<ExitCode | undefined> {
  const { reportLine } = await import('../../errors/failure.ts')
  let code: ExitCode | undefined
  for (const { name, error } of unread) {
    const own = await reportLine(error, session, { words, label: name })
    code ??= own
  }
  return code
}

async function readAll(session: Session, places: readonly Place[]): Promise<readonly (Sampled | Unread)[]> {
  const outcomes: (Sampled | Unread)[] = []
  const caller = await session.caller()
  const operation = session.operation('GetDomainCapacity')
  const options = waitingNotes(session)
  await inLanes([...places.entries()], { lanes: LANES, signal: session.io.interrupted }, async ([at, { id, name }]) => {
    try {
      const { value } = await caller.call(operation, { domain_id: id }, options(name))
      outcomes[at] = { name, capacity: value as DomainCapacity } // What the contract says of 200.
    } catch (error) {
      outcomes[at] = { name, error }
    }
  })
  return outcomes.filter((one) => one !== undefined)
}

/** Notes once why a call takes long: before the first sample the server says when to ask again. */
function waitingNotes(session: Session): (name: string) => CallOptions {
  let isNoted = false
  return (name) => ({
    beforeRetry(answer, pauseMs) {
      if (isNoted || answer === undefined || codeOf(refusalOf(answer)) !== NOT_SAMPLED) return
      isNoted = true
      session.note(`Domain ${harmless(name)} has no sample yet; asking again in ${Math.ceil(pauseMs / 1000)} s.`)
    },
  })
}

const NOT_SAMPLED = 'capacity_not_sampled'

/** Whether other Domains may well be read. */
function isOfOne(error: unknown): boolean {
  return codeOf(error) === NOT_SAMPLED || isHidden(error)
}

function isHidden(error: unknown): boolean {
  return error instanceof ProblemAnswer && (error.status === 403 || error.status === 404)
}

function codeOf(error: unknown): string | undefined {
  return error instanceof ProblemAnswer ? error.code : undefined
}
