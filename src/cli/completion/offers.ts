import { idOf, memberOf, nameOf, references } from '../output/members.ts'
import { BRIDGE } from '../session/only-bridge.ts'
import { createResolver, type Resolver, type Scope } from '../session/references.ts'
import type { Session } from '../session/session.ts'
import type { Offer } from './offer.ts'
import { definitionOffers, isOfLabels } from './label-offers.ts'
import type { Wanted } from './wanted.ts'

/** Hears of offers as they are found. */
export type Hear = (offers: readonly Offer[]) => void

/** Objects that are looked at; a list of more completes nothing that a person would read. */
const ROWS_MAX = 2_000

/** Digits of an id after which ids are worth offering. */
const ID_DIGITS_MIN = 4

/** Finds what a noun has: contexts on this machine, everything else on the server. */
export async function findOffers(
  session: Session,
  { noun, flags }: Pick<Wanted, 'noun' | 'flags'>,
  hear: Hear,
): Promise<void> {
  const resolver = createResolver(session)
  if (noun === 'contexts') return hear(await contexts(session))
  if (isOfLabels(noun)) return hear(await definitionOffers(session))
  if (noun === 'owners') return owners(resolver, hear)
  if (noun === 'subjects') {
    hear([{ value: 'me', hint: 'you' }])
    await owners(resolver, hear)
    return visit(resolver, { noun: 'groups' }, (rows) => hear(typed('group', rows)))
  }
  if (noun === 'objects') return objects(resolver, hear)
  return visit(resolver, { noun, scope: await scopeOf(resolver, flags) }, (rows) => hear(named(rows)))
}

/** The objects that people name most; objects in a Project have several types, which the rows name. */
async function objects(resolver: Resolver, hear: Hear): Promise<void> {
  hear([{ value: 'platform', hint: 'the installation' }])
  for (const type of ['domain', 'project', 'node', 'group']) {
    // What the caller may not list has no offers; the others do.
    await visit(resolver, { noun: `${type}s` }, (rows) => hear(typed(type, rows))).catch(() => undefined)
  }
}

async function contexts(session: Session): Promise<readonly Offer[]> {
  const { contexts: known } = await session.contexts.read()
  return Object.entries(known).map(([value, { url }]) => ({ value, hint: url }))
}

/** Anyone who may own a token: `user:…` and `service:…`. */
function owners(resolver: Resolver, hear: Hear): Promise<void> {
  return visit(resolver, { noun: 'identities' }, (rows) => {
    const isUser = (row: unknown): boolean => memberOf(row, 'kind') === 'user'
    hear([
      ...typed('user', rows.filter(isUser)),
      ...typed(
        'service',
        rows.filter((row) => !isUser(row)),
      ),
    ])
  })
}

/** Parts of a bridge are looked for in the one that the line names. Domain and Project are in the settings. */
async function scopeOf(resolver: Resolver, { bridge }: Wanted['flags']): Promise<Scope> {
  return typeof bridge === 'string' ? { [BRIDGE]: (await resolver.object(BRIDGE, bridge, {})).id } : {}
}

interface Visited {
  readonly noun: string
  readonly scope?: Scope
}

async function visit(
  resolver: Resolver,
  { noun, scope = {} }: Visited,
  see: (rows: readonly unknown[]) => void,
): Promise<void> {
  const rows: unknown[] = []
  await resolver.visit(noun, scope, (row) => rows.push(row) < ROWS_MAX)
  see(rows)
}

function typed(type: string, rows: readonly unknown[]): readonly Offer[] {
  return named(rows).map((offer) => ({ ...offer, value: `${type}:${offer.value}` }))
}

/** Every row under its name where that is the only one of it, and under its id. */
function named(rows: readonly unknown[]): readonly Offer[] {
  const byName = references(rows)
  const names = rows.map((row, index) => ({ value: byName[index] ?? '', hint: hintOf(row) }))
  const ids = rows.flatMap((row) => {
    const id = idOf(row)
    return id !== undefined && !byName.includes(id) ? [{ value: id, hint: nameOf(row) ?? '', isId: true as const }] : []
  })
  return [...names.filter(({ value }) => value !== ''), ...ids]
}

function hintOf(row: unknown): string {
  for (const member of ['reachability', 'kind', 'relation', 'display_name', 'action', 'created_at']) {
    const value = memberOf(row, member)
    if (typeof value === 'string' && value !== '') return value
  }
  return ''
}

/** Offers that go on from what is begun; ids of named objects only once an id is begun. */
export function fitting(offers: readonly Offer[], begun: string): readonly Offer[] {
  const digits = begun.replace(/^[a-z]+:/, '')
  const wantsIds = digits.length >= ID_DIGITS_MIN && /^[0-9a-f-]+$/.test(digits)
  const fits = ({ value, isId }: Offer): boolean => value.startsWith(begun) && (wantsIds || isId !== true)
  return offers.filter((offer) => fits(offer) && isTypeable(offer.value))
}

/** One line that no terminal acts on. */
export function isTypeable(value: string): boolean {
  return !/[\p{Cc}\p{Cf}]/u.test(value)
}
