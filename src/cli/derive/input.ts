import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { CliError, usageError } from '../cli-error.ts'
import type { Given } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import type { FlagValue } from '../flags.ts'
import type { Row } from '../output/members.ts'
import { memberOf, nameOf } from '../output/members.ts'
import { createResolver, type OtherLists, type Resolved, type Resolver } from '../references.ts'
import type { Session } from '../session.ts'
import { singular } from '../tree.ts'
import { isPlace, membersOf, type Member } from './members.ts'
import { apiValue, bodyFromFile } from './values.ts'

/** An operation to perform, with lists that its references are looked up in instead of the usual ones. */
export interface Plan {
  readonly operation: ManifestOperation
  readonly lists?: OtherLists
}

/** One call to make. */
export interface Target {
  readonly input: Readonly<Record<string, unknown>>
  /** What was asked for, by member, as a person calls it. */
  readonly labels: Readonly<Record<string, string>>
  /** The object that the last argument named. */
  readonly object: Resolved | undefined
}

interface Filling {
  readonly session: Session
  readonly given: Given
  readonly operation: ManifestOperation
  readonly resolver: Resolver
  readonly scope: Record<string, string | undefined>
  readonly input: Record<string, unknown>
  readonly body: Record<string, unknown>
  readonly labels: Record<string, string>
}

/**
 * Turns what was typed into the inputs of an operation: one, or one per reference where the last argument names several.
 * Places (Domain, Project) first, since names are looked up in them. Nothing but lists is asked of the server.
 */
export async function targetsOf(session: Session, plan: Plan, given: Given): Promise<readonly Target[]> {
  const { operation } = plan
  const members = membersOf(operation)
  const filling: Filling = {
    session,
    given,
    operation,
    resolver: createResolver(session, plan.lists),
    scope: {},
    input: {},
    body: await bodyStart(session, given),
    labels: {},
  }
  const several = members.find(({ position, noun }) => noun !== undefined && position === lastPosition(operation))
  const texts = await severalTexts({ session, operation, given, several })
  await fillScope(filling, given, members)
  const inOrder = members.toSorted((one, other) => Number(isPlace(other.noun)) - Number(isPlace(one.noun)))
  for (const member of inOrder) if (member !== several) await fill(filling, member, rawOf(member, given))
  assertChange(operation, filling.body)
  if (several === undefined) return [finished(filling, undefined)]
  if (texts.length === 0)
    return several.field.required ? [await asked(filling, several)] : [finished(filling, undefined)]
  const targets: Target[] = []
  for (const text of texts) targets.push(await withReference(filling, several, text))
  return targets
}

function lastPosition({ cli }: ManifestOperation): number {
  return (cli?.args?.length ?? 0) - 1
}

async function bodyStart(session: Session, given: Given): Promise<Record<string, unknown>> {
  const path = given.flags['from-file']
  return typeof path === 'string' ? { ...(await bodyFromFile(path, session.io)) } : {}
}

interface Several {
  readonly session: Session
  readonly operation: ManifestOperation
  readonly given: Given
  readonly several: Member | undefined
}

/** The references of the last argument; `-` stands for the lines of stdin. */
async function severalTexts({ session, operation, given, several }: Several): Promise<readonly string[]> {
  if (several === undefined) return []
  const texts = given.args.slice(lastPosition(operation))
  if (!texts.includes('-')) return texts
  const lines = (await session.io.stdin.text()).split('\n').map((line) => line.split('\t')[0]?.trim() ?? '')
  const read = lines.filter((line) => line !== '')
  if (read.length === 0) throw usageError('stdin names nothing')
  return texts.flatMap((text) => (text === '-' ? read : [text]))
}

function rawOf({ position, word }: Member, { args, flags }: Given): FlagValue | undefined {
  return position === undefined ? flags[word] : args[position]
}

/** Looks up Domain and Project flags that only say where names are searched. */
async function fillScope({ resolver, scope }: Filling, { flags }: Given, members: readonly Member[]): Promise<void> {
  for (const noun of ['domains', 'projects']) {
    const text = flags[singular(noun)]
    if (typeof text !== 'string' || members.some((member) => member.noun === noun)) continue
    scope[noun] = (await resolver.object(noun, text, scope)).id
  }
}

async function fill(filling: Filling, member: Member, raw: FlagValue | undefined): Promise<void> {
  const { body, operation, resolver, scope, session } = filling
  if (raw !== undefined) return put(filling, member, await valueOf(filling, member, raw))
  if (member.place === 'body' && body[member.field.name] !== undefined) return
  const settings = isPlace(member.noun) ? await session.settings() : undefined
  const chosen = member.noun === 'domains' ? settings?.domain.value : settings?.project.value
  const isMeant =
    member.field.required || (chosen !== undefined && member.place === 'query') || isOwnDomain(filling, member)
  if (!isMeant) return
  const fallback = isPlace(member.noun) ? await resolver.fallback(member.noun ?? '', scope) : undefined
  if (fallback) return put(filling, member, fallback)
  if (!member.field.required) return
  const text = await askFor(filling, member, operation)
  put(filling, member, await valueOf(filling, member, text))
}

/** Whether the contract has the caller's own Domain stand in for a member that was left out. */
function isOwnDomain({ operation, given }: Filling, { field }: Member): boolean {
  const own = operation.cli?.ownDomain
  if (own?.member !== field.name) return false
  const others = membersOf(operation).filter((member) => own.unless.includes(member.field.name))
  return !others.some((member) => rawOf(member, given) !== undefined)
}

async function valueOf(filling: Filling, member: Member, raw: FlagValue): Promise<unknown> {
  const { resolver, scope, session } = filling
  const { noun } = member
  if (noun === undefined) return apiValue(member, raw, session.io.nowMs())
  if (noun === 'subjects') return resolver.subject(String(raw), scope)
  if (typeof raw === 'string') return resolver.object(noun, raw, scope)
  const ids: string[] = []
  for (const text of Array.isArray(raw) ? raw : []) ids.push((await resolver.object(noun, String(text), scope)).id)
  return ids
}

function put({ input, body, labels, scope }: Filling, { field, place, noun }: Member, value: unknown): void {
  const resolved = noun !== undefined && isResolved(value) ? value : undefined
  const plain = resolved ? resolved.id : value
  if (resolved) labels[field.name] = resolved.label
  if (noun !== undefined && resolved) scope[noun] ??= resolved.id
  if (place === 'body') body[field.name] = plain
  else input[field.name] = plain
}

function isResolved(value: unknown): value is Resolved {
  return typeof memberOf(value, 'id') === 'string' && typeof memberOf(value, 'label') === 'string'
}

function finished({ operation, input, body, labels }: Filling, object: Resolved | undefined): Target {
  const hasBody = operation.body !== undefined && (operation.body.required || Object.keys(body).length > 0)
  return { input: hasBody ? { ...input, body: { ...body } } : { ...input }, labels: { ...labels }, object }
}

async function withReference(filling: Filling, member: Member, text: string): Promise<Target> {
  const value = await valueOf(filling, member, text)
  const own: Filling = {
    ...filling,
    input: { ...filling.input },
    body: { ...filling.body },
    labels: { ...filling.labels },
  }
  put(own, member, value)
  return finished(own, isResolved(value) ? value : undefined)
}

async function asked(filling: Filling, member: Member): Promise<Target> {
  return withReference(filling, member, await askFor(filling, member, filling.operation))
}

/** A patch that changes nothing is a mistake on the command line, and the flags that it could have are known here. */
function assertChange(operation: ManifestOperation, body: Row): void {
  if (operation.method !== 'PATCH' || Object.keys(body).length > 0) return
  const flags = membersOf(operation).flatMap(({ place, word }) => (place === 'body' ? [`--${word}`] : []))
  throw usageError('there is nothing to change', `Give at least one of ${flags.join(', ')}`)
}

/** Asks for a value that is needed, or says which is missing when nobody can be asked. */
async function askFor(
  { session, resolver, scope }: Filling,
  member: Member,
  operation: ManifestOperation,
): Promise<string> {
  const { word, noun, field, position } = member
  if (!session.canAsk) throw missing(member, operation)
  const prompter = await session.io.prompter()
  const question = `${position === undefined ? `--${word}` : word}: ${field.description ?? word}`
  const words = field.enum?.map(String).map((value) => ({ value, name: value }))
  const choices =
    words ?? (noun === undefined || noun === 'subjects' ? undefined : rowChoices(await resolver.list(noun, scope)))
  const answer =
    choices && choices.length > 0 ? await prompter.choose(question, choices) : await prompter.input(question)
  if (answer !== undefined) return answer
  throw new CliError('nothing was done', { exitCode: EXIT.interrupted, code: 'interrupted' })
}

function rowChoices(rows: readonly unknown[]): { value: string; name: string }[] {
  return rows.flatMap((row) => {
    const id = memberOf(row, 'id')
    return typeof id === 'string' ? [{ value: id, name: `${nameOf(row) ?? ''} (${id})` }] : []
  })
}

function missing({ word, position, noun }: Member, operation: ManifestOperation): CliError {
  const help = `See: ctl ${operation.cli?.command ?? ''} --help`
  if (position !== undefined) return usageError(`<${word}> is missing`, help)
  const other = noun === 'projects' ? ` or set CTL_PROJECT` : ''
  return usageError(`--${word} is missing`, `Add --${word}${other}`, help)
}
