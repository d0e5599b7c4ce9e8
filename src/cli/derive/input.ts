import { CliError, usageError } from '../errors/cli-error.ts'
import type { Given } from '../argv/command.ts'
import type { FlagValue } from '../argv/flags.ts'
import { createResolver, type Resolver } from '../session/references.ts'
import type { Resolved } from '../session/pick.ts'
import { SELECTION_EMPTY, SELECTOR, selected, selectorText } from '../argv/selector.ts'
import type { Session } from '../session/session.ts'
import { singular } from '../argv/tree.ts'
import { askFor } from './ask.ts'
import { copied, finished, put, rawOf, valueOf, type Filling } from './filling.ts'
import { isOnlyOne, isPlace, membersOf, type Member } from './members.ts'
import { placesOf } from './places.ts'
import type { Plan, Target } from './plan.ts'
import { selectableMember } from './selecting.ts'
import { bodyFromFile } from './values.ts'

const BOTH = [`name objects, or select them with --${SELECTOR}, not both`] as const

/**
 * Turns what was typed into the inputs of an operation: one, or one per reference where the last argument names several.
 * Places (Domain, Project) first, since names are looked up in them. Nothing but lists is asked of the server.
 */
export async function targetsOf(session: Session, plan: Plan, given: Given): Promise<readonly Target[]> {
  await assertReadable(createResolver(session), given)
  const members = membersOf(plan.operation)
  const several = members.find(({ position, noun }) => noun !== undefined && position === lastPosition(plan))
  const filling: Filling = {
    session,
    given,
    operation: plan.operation,
    resolver: createResolver(session, plan.lists),
    scope: {},
    input: { ...plan.operation.cli?.sends },
    body: await bodyStart(session, plan, given),
    labels: {},
    failures: plan.failures,
  }
  const typed = selectorOf(plan, given)
  const texts = several === undefined ? [] : await severalTexts(session, given.args.slice(lastPosition(plan)))
  await fillScope(filling)
  for (const member of placesFirst(members)) if (member !== several) await fill(filling, member)
  fillSame(filling, members)
  assertChange(filling, members)
  const selectable = typed === undefined ? undefined : selectableMember(plan.operation, session.manifest())
  if (selectable !== undefined && typed !== undefined) return selectedTargets(filling, selectable, typed)
  return several === undefined ? [finished(filling, undefined)] : targetsFor(filling, several, texts)
}

/** A selector that cannot be read is refused before names are looked up. */
async function assertReadable(resolver: Resolver, { flags }: Given): Promise<void> {
  const typed = flags[SELECTOR]
  if (Array.isArray(typed)) await selectorText(typed, resolver)
}

function lastPosition({ operation }: Plan): number {
  return (operation.cli?.args?.length ?? 0) - 1
}

function placesFirst(members: readonly Member[]): readonly Member[] {
  return members.toSorted((one, other) => Number(isPlace(other.noun)) - Number(isPlace(one.noun)))
}

async function bodyStart({ io }: Session, { operation, body }: Plan, given: Given): Promise<Record<string, unknown>> {
  if (body !== undefined) return { ...body }
  const path = given.flags['from-file']
  const isSecret = operation.body?.fields.some(({ writeOnly }) => writeOnly === true) ?? false
  return typeof path === 'string' ? { ...(await bodyFromFile(path, { io, isSecret })) } : {}
}

/** The selector that stands for references; undefined where none was given, or the operation itself takes it. */
function selectorOf({ operation }: Plan, { flags, args }: Given): FlagValue | undefined {
  const typed = flags[SELECTOR]
  if (operation.cli?.selector !== undefined || !Array.isArray(typed)) return undefined
  if (args.length > Math.max(lastPosition({ operation }), 0)) throw usageError(...BOTH)
  return typed
}

/** One target for each object that the selector matches, or one with all of them where the member is a list. */
async function selectedTargets(filling: Filling, member: Member, typed: FlagValue): Promise<readonly Target[]> {
  const { resolver, session, scope, given } = filling
  if (member.position === undefined && given.flags[member.word] !== undefined) throw usageError(...BOTH)
  const objects = await selected(resolver, session.manifest(), { noun: member.noun ?? '', typed, scope }).catch(
    async (error: unknown) => {
      await explainEmpty(filling, error, typed)
      throw error
    },
  )
  if (member.position === undefined) {
    put(filling, member, { plain: objects.map(({ id }) => id) })
    return [finished(filling, undefined)]
  }
  return objects.map((object) => {
    const own = copied(filling)
    put(own, member, { object })
    return finished(own, object)
  })
}

async function explainEmpty({ session, resolver, scope }: Filling, error: unknown, typed: FlagValue): Promise<void> {
  if (!(error instanceof CliError) || error.code !== SELECTION_EMPTY) return
  const { warnOfSelector } = await import('./empty-selection.ts')
  await warnOfSelector(session, await selectorText(typed, resolver), { domainId: scope['domains'] })
}

/** The references of the last argument; `-` means the lines of stdin, up to their first tab. */
export async function severalTexts({ io }: Session, texts: readonly string[]): Promise<readonly string[]> {
  if (!texts.includes('-')) return texts
  const lines = (await io.stdin.text()).split('\n').map((line) => line.split('\t')[0]?.trim() ?? '')
  const read = lines.filter((line) => line !== '')
  if (read.length === 0) throw usageError('stdin names nothing')
  return texts.flatMap((text) => (text === '-' ? read : [text]))
}

async function targetsFor(filling: Filling, several: Member, texts: readonly string[]): Promise<readonly Target[]> {
  if (texts.length === 0 && !several.field.required) return [finished(filling, undefined)]
  const asked = texts.length === 0 ? [await askFor(filling, several)] : texts
  const targets: Target[] = []
  for (const text of asked) {
    try {
      targets.push(await targetFor(filling, several, text))
    } catch (error) {
      if (asked.length === 1 || !((await filling.failures?.take(text, error)) ?? false)) throw error
    }
  }
  return targets
}

async function targetFor(filling: Filling, several: Member, text: string): Promise<Target> {
  const own = copied(filling)
  const value = await valueOf(own, several, text)
  put(own, several, value)
  return finished(own, 'object' in value ? value.object : undefined)
}

/** Looks up the objects of flags that only say where names are searched: Domain and Project, then others. */
async function fillScope({ session, resolver, scope, given, operation }: Filling): Promise<void> {
  for (const noun of new Set(['domains', 'projects', ...placesOf(operation, session.manifest())])) {
    const text = given.flags[singular(noun)]
    if (typeof text !== 'string' || membersOf(operation).some((member) => member.noun === noun)) continue
    scope[noun] = (await resolver.object(noun, text, scope)).id
  }
}

/** Fills a member with what was typed, else with its fallback, else by asking where it is required. */
async function fill(filling: Filling, member: Member): Promise<void> {
  const raw: FlagValue | undefined = rawOf(member, filling.given)
  if (raw !== undefined) return put(filling, member, await valueOf(filling, member, raw))
  if (member.place === 'body' && filling.body[member.field.name] !== undefined) return
  const fallback = await fallbackOf(filling, member)
  if (fallback) return put(filling, member, { object: fallback })
  if (member.field.required) put(filling, member, await valueOf(filling, member, await askFor(filling, member)))
}

/** Gives members that were not typed the value of another one, as the contract says. */
function fillSame({ body }: Filling, members: readonly Member[]): void {
  for (const { field, sameAs } of members)
    if (sameAs !== undefined && body[sameAs] !== undefined) body[field.name] ??= body[sameAs]
}

/** The Domain, Project or bridge that is meant when none is named; undefined where naming none means all. */
async function fallbackOf(filling: Filling, member: Member): Promise<Resolved | undefined> {
  const { session, resolver, scope } = filling
  const { noun, field, place } = member
  if (isOnlyOne(member)) return resolver.fallback(noun ?? '', scope)
  if (noun === undefined || !isPlace(noun)) return undefined
  if (field.required || isOwnDomain(filling, member)) return resolver.fallback(noun, scope)
  const settings = await session.settings()
  const chosen = noun === 'domains' ? settings.domain : settings.project
  return chosen.value !== undefined && place === 'query' ? resolver.fallback(noun, scope) : undefined
}

/** Whether the contract has the caller's own Domain stand in for a member that was left out. */
function isOwnDomain({ operation, given }: Filling, { field }: Member): boolean {
  const own = operation.cli?.ownDomain
  if (own?.member !== field.name) return false
  const others = membersOf(operation).filter((member) => own.unless.includes(member.field.name))
  return !others.some((member) => rawOf(member, given) !== undefined)
}

/** A patch that changes nothing is a mistake on the command line, and the flags that it could have are known here. */
function assertChange({ operation, body }: Filling, members: readonly Member[]): void {
  if (operation.method !== 'PATCH' || Object.keys(body).length > 0) return
  const flags = members.flatMap(({ place, word }) => (place === 'body' ? [`--${word}`] : []))
  throw usageError('there is nothing to change', `Give at least one of ${flags.join(', ')}`)
}
