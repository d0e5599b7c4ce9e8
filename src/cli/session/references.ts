import type { CallInput } from '../../client/client.ts'
import { rows as pagedRows } from '../../client/pages.ts'
import type { Page } from '../../client/pages.ts'
import type { Manifest, ManifestField, ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { isNonZeroUuid, parseReference } from '../../shared/ids.ts'
import { CliError, usageError } from '../errors/cli-error.ts'
import { isOfNoun, listOf, nounOfType } from './noun-lists.ts'
import { handleOf, idOf, memberOf, nameOf, rowsOf } from '../output/members.ts'
import { BRIDGE, onlyBridge } from './only-bridge.ts'
import { NOT_FOUND, notFound, only, pick, pickByHandle, type Resolved } from './pick.ts'
import type { Session } from './session.ts'
import { singular } from '../argv/tree.ts'

/** Ids that lists are looked up under, by noun: `domains`, `projects`. */
export type Scope = Readonly<Record<string, string | undefined>>

export interface Resolver {
  /** Finds an object of a noun by name, id, or beginning or end of its id. */
  object(noun: string, text: string, scope: Scope): Promise<Resolved>
  /** Finds the object that was created under a handle; undefined where none is seen. Ids and display names are no handles. */
  withHandle(noun: string, handle: string, scope: Scope): Promise<Resolved | undefined>
  /**
   * The Domain, Project, Cloud or bridge that is meant when none is named; undefined for other nouns. Throws where a Project has no
   * bridge, or several.
   */
  fallback(noun: string, scope: Scope): Promise<Resolved | undefined>
  /** `user:alice`, `group:ops`, `me` as the API writes them. */
  subject(text: string, scope: Scope): Promise<string>
  /** `project:web`, `platform` as the API writes them. */
  resource(text: string, scope: Scope): Promise<string>
  /** The noun whose list has the objects of a type; undefined where their ids are typed. */
  nounOf(type: string): string | undefined
  /** All rows of a noun, for choices. */
  list(noun: string, scope: Scope): Promise<readonly unknown[]>
  /** The Domain or Project that a flag, the environment or the context names; undefined where none does. */
  chosen(noun: 'domains' | 'projects', scope: Scope): Promise<Resolved | undefined>
  /** The rows of a noun that its list gives when it is asked for these only. */
  filtered(noun: string, scope: Scope, filter: CallInput): Promise<readonly unknown[]>
  /** Hands over the rows of a noun until one is answered with false. */
  visit(noun: string, scope: Scope, see: (row: unknown) => boolean): Promise<void>
}

/** A list to search in place of the usual one of its noun. */
export interface OtherList {
  readonly operation: ManifestOperation
  readonly input: CallInput
}
export type OtherLists = Readonly<Record<string, OtherList>>

/** Rows that are searched for a name before a whole id is asked for instead. */
const SEARCH_MAX = 20_000

interface Where {
  readonly scope: Scope
  readonly filter: CallInput
}

/** Makes a resolver; what it has listed once it remembers. */
export function createResolver(session: Session, otherLists: OtherLists = {}): Resolver {
  const listed = new Map<string, Promise<readonly unknown[]>>()
  const noteChoice = choiceNotes(session)

  function list(noun: string, scope: Scope): Promise<readonly unknown[]> {
    const key = JSON.stringify([noun, scope])
    const rows = listed.get(key) ?? filtered(noun, scope, {})
    listed.set(key, rows)
    return rows
  }

  async function filtered(noun: string, scope: Scope, filter: CallInput): Promise<readonly unknown[]> {
    const found: unknown[] = []
    const see = (row: unknown): boolean => {
      if (found.length >= SEARCH_MAX) throw usageError(`there are too many ${noun} to search; give the whole id`)
      return found.push(row) > 0
    }
    await read(noun, { scope, filter }, see)
    return found
  }

  async function read(noun: string, { scope, filter }: Where, hear: (row: unknown) => boolean): Promise<void> {
    const see = (row: unknown): boolean => !isOfNoun(noun, row) || hear(row)
    const operation = otherLists[noun]?.operation ?? listOf(session.manifest(), noun)
    if (!operation) throw usageError(`a ${singular(noun)} must be given by its whole id here`)
    const caller = await session.caller()
    const input = { ...(otherLists[noun]?.input ?? (await scopeInput(operation, scope))), ...filter }
    if (!operation.paging) {
      ;(rowsOf((await caller.call(operation, input)).value) ?? []).every(see)
      return
    }
    const page = async (query: CallInput): Promise<Page<unknown>> =>
      (await caller.call(operation, query)).value as Page<unknown>
    for await (const row of pagedRows(page, { ...input, limit: '200' })) if (!see(row)) return
  }

  /** Fills the members of a list operation that say where it lists. */
  async function scopeInput(operation: ManifestOperation, scope: Scope): Promise<CallInput> {
    const input: Record<string, unknown> = { ...operation.cli?.sends }
    for (const field of [...operation.params, ...operation.query]) {
      const noun = operation.cli?.refs?.[field.name]
      if (noun === undefined) continue
      const standIn = async () => (standsIn(operation, field) ? fallback(noun, scope) : undefined)
      const id = scope[noun] ?? (await parentId(noun, field, standIn))
      if (id !== undefined) input[field.name] = id
    }
    return input
  }

  async function fallback(noun: string, scope: Scope): Promise<Resolved | undefined> {
    if (noun === 'clouds') return onlyOf(await list(noun, scope))
    if (noun === BRIDGE) return onlyBridge(await list(noun, scope))
    if (noun !== 'domains' && noun !== 'projects') return undefined
    const named = await chosen(noun, scope)
    if (named !== undefined) return named
    return noun === 'domains' ? ownDomain(session) : onlyOf(await list(noun, scope))
  }

  async function chosen(noun: 'domains' | 'projects', scope: Scope): Promise<Resolved | undefined> {
    const { domain, project } = await session.settings()
    const { value } = noun === 'domains' ? domain : project
    return value === undefined ? undefined : object(noun, value, scope)
  }

  async function object(noun: string, typed: string, scope: Scope): Promise<Resolved> {
    if (typed === 'me' && isIdentities(noun)) return ownIdentity(session, noun)
    const [kind, text] = splitKind(session.manifest(), noun, typed)
    if (isNonZeroUuid(text)) return { id: text.toLowerCase(), label: typed }
    const found = (await byHandleFilter(kind, text, scope)) ?? (await fromList(kind, text, scope))
    noteChoice(noun, text, found)
    return found
  }

  async function fromList(noun: string, text: string, scope: Scope): Promise<Resolved> {
    const rows = await list(noun, scope)
    try {
      return pick(noun, text, rows)
    } catch (error) {
      if (!(error instanceof CliError) || error.code !== NOT_FOUND) throw error
      const id = searchedDomain(session, noun, scope)
      const domains = id === undefined ? [] : await list('domains', {}).catch(() => [])
      const place = nameOf(domains.find((row) => idOf(row) === id)) ?? id
      throw notFound(noun, text, { rows, place, of: listArguments(session, noun, scope) })
    }
  }

  /** Asks a list that can look a handle up, which saves reading all of it. */
  async function byHandleFilter(noun: string, text: string, scope: Scope): Promise<Resolved | undefined> {
    const lookup = handleLookup(session.manifest(), noun, text)
    if (lookup === undefined) return undefined
    const { operation, member } = lookup
    const caller = await session.caller()
    const { value } = await caller.call(operation, { ...(await scopeInput(operation, scope)), [member]: text })
    const rows = rowsOf(value) ?? []
    if (rows.length === 0) return undefined
    return operation.cli?.byHandle === undefined ? pick(noun, text, rows) : { ...only(noun, text, rows), label: text }
  }

  async function reference(text: string, scope: Scope): Promise<string> {
    const parsed = parseReference(text)
    if (!parsed) return text
    const type = typeOf(parsed.type)
    const noun = nounOfType(session.manifest(), type)
    // The subject of a workload may have a `#` of its own.
    const isSet = noun !== undefined && !isIdentities(noun)
    const [name = '', relation] = isSet ? parsed.id.split('#') : [parsed.id]
    if (noun === undefined || isNonZeroUuid(name) || name === '*') return `${type}:${parsed.id}`
    const { id } = await object(noun, name, scope)
    return `${type}:${id}${relation === undefined ? '' : `#${relation}`}`
  }

  return {
    object,
    async withHandle(noun: string, handle: string, scope: Scope): Promise<Resolved | undefined> {
      const looked = await byHandleFilter(noun, handle, scope)
      if (looked !== undefined) return looked.byDisplayName === true ? undefined : looked
      return pickByHandle(noun, handle, await list(noun, scope))
    },
    fallback,
    chosen,
    nounOf: (type) => nounOfType(session.manifest(), type),
    list,
    filtered,
    visit: (noun, scope, see) => read(noun, { scope, filter: {} }, see),
    async resource(text, scope) {
      if (text === 'platform') return 'platform:main'
      assertKind(text, ['domain', 'project', 'node'])
      return reference(text, scope)
    },
    async subject(text, scope) {
      if (text === 'me') return String((await session.whoami())['subject'])
      assertKind(text, ['user', 'service', 'group'])
      const full = await reference(text, scope)
      return full.startsWith('group:') && !full.includes('#') ? `${full}#member` : full
    },
  }
}

/** The object that has no other beside it. */
function onlyOf([row, ...others]: readonly unknown[]): Resolved | undefined {
  const id = memberOf(row, 'id')
  return others.length === 0 && typeof id === 'string' ? { id, label: nameOf(row) ?? id, row } : undefined
}

async function ownDomain(session: Session): Promise<Resolved | undefined> {
  const me = await session.whoami()
  return typeof me['domain_id'] === 'string' ? { id: me['domain_id'], label: 'your own Domain' } : undefined
}

/** The id of the object that a list is asked in. Throws a usage error where the list needs one and none is meant. */
async function parentId(
  noun: string,
  { required }: ManifestField,
  standIn: () => Promise<Resolved | undefined>,
): Promise<string | undefined> {
  const meant = await standIn()
  if (meant === undefined && required) throw placeMissing(noun)
  return meant?.id
}

/** The command line does not say where names are looked up. */
function placeMissing(noun: string): CliError {
  const one = singular(noun)
  return usageError(
    `--${one} is missing`,
    `Add --${one} ${one.toUpperCase()}, where the name is looked up, or give the whole id in place of the name`,
  )
}

/** The Domain that was searched, where it was chosen for the look-up; undefined for the caller's own. */
function searchedDomain(session: Session, noun: string, { domains: id }: Scope): string | undefined {
  const refs = listOf(session.manifest(), noun)?.cli?.refs ?? {}
  return Object.values(refs).includes('domains') ? id : undefined
}

/** The ids that the command of a list needs as arguments. */
function listArguments(session: Session, noun: string, scope: Scope): readonly string[] {
  const { args = [], refs = {} } = listOf(session.manifest(), noun)?.cli ?? {}
  return args.flatMap((member) => scope[refs[member] ?? ''] ?? [])
}

async function ownIdentity(session: Session, noun: string): Promise<Resolved> {
  const subject = String((await session.whoami())['subject'])
  const { type = '', id = '' } = parseReference(subject) ?? {}
  if (!nounsOf(session.manifest(), type).includes(noun)) throw notFound(noun, 'me', { rows: [] })
  return { id, label: 'me' }
}

/** Several objects may have one display name: notes which object was taken, once for each. */
function choiceNotes(session: Session): (noun: string, text: string, found: Resolved) => void {
  const noted = new Set<string>()
  return (noun: string, text: string, { id, row, byDisplayName, alsoNamed }: Resolved) => {
    const key = `${noun} ${text}`
    if ((byDisplayName !== true && alsoNamed === undefined) || noted.has(key)) return
    noted.add(key)
    const one = `${singular(noun)} ${withId(row, id)}`
    if (alsoNamed === undefined) return session.note(`"${text}" is a display name: took ${one}.`)
    const other = withId(alsoNamed, idOf(alsoNamed) ?? '')
    session.note(`"${text}" is the display name of ${other} too: took ${one}, since handles come first.`)
  }
}

/** `service` is how people write `serviceaccount`. */
function typeOf(typed: string): string {
  return typed === 'service' ? 'serviceaccount' : typed
}

/** The nouns whose lists have objects of a type. */
function nounsOf(manifest: Manifest, type: string): readonly (string | undefined)[] {
  const noun = nounOfType(manifest, type)
  return isIdentities(noun) ? [noun, 'identities'] : [noun]
}

function isIdentities(noun: string | undefined): boolean {
  return noun === 'users' || noun === 'service-identities' || noun === 'identities'
}

/** `service:build` where service identities or identities are meant: the noun to search, and the name. */
function splitKind(manifest: Manifest, noun: string, text: string): readonly [noun: string, text: string] {
  const parsed = parseReference(text)
  const type = typeOf(parsed?.type ?? '')
  if (parsed === undefined || !nounsOf(manifest, type).includes(noun)) return [noun, text]
  return [nounOfType(manifest, type) ?? noun, parsed.id]
}

/** A name alone could be of several kinds. @throws CliError with the ways to write it. */
function assertKind(text: string, kinds: readonly string[]): void {
  if (text.includes(':')) return
  const ways = kinds.map((kind) => `${kind}:${text}`)
  throw usageError(
    `"${text}" does not say of what kind it is`,
    `Did you mean ${ways.join(', ').replace(/, ([^,]*)$/, ' or $1')}?`,
  )
}

function withId(row: unknown, id: string): string {
  const handle = handleOf(row)
  return handle === undefined ? id : `${handle} (${id})`
}

/** Whether the usual Domain or Project is meant where a member is left out. */
function standsIn({ cli }: ManifestOperation, { required, name }: ManifestField): boolean {
  return required || name === cli?.ownDomain?.member
}

/** The list of a noun that can look a handle up, with the query member for it; undefined where there is none. */
function handleLookup(
  manifest: Manifest,
  noun: string,
  text: string,
): { readonly operation: ManifestOperation; readonly member: string } | undefined {
  const operation = listOf(manifest, noun)
  if (operation === undefined) return undefined
  const member = operation.cli?.byHandle ?? 'name'
  const filter = operation.query.find(({ name }) => name === member)
  return filter !== undefined && fits(filter, text) ? { operation, member } : undefined
}

function fits({ pattern, maxLength }: ManifestField, text: string): boolean {
  if (text === '' || (maxLength !== undefined && text.length > maxLength)) return false
  return pattern === undefined || new RegExp(pattern).test(text)
}
