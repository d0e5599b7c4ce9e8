import type { LabelValue } from '../../shared/labels/schema-types.ts'
import type { Db } from '../ports/datastore.ts'
import { ofDomain, qualifiedKey } from './definition.ts'
import { findByKeys } from './definition-store.ts'
import { refusedLabel } from './label-value.ts'
import type { TextLabels } from './node-labels.ts'

// The label platform/relay names the bridge whose relay carries the edges to a node (decisions: Relays). Its value is looked
// at when somebody writes it. A label whose bridge was deleted later stays, and means nothing.

/** Asks about the caller of a request. */
interface Asker {
  holds(relation: string, object: string): Promise<boolean>
}

/** The key of the label. */
export const RELAY_LABEL = 'platform/relay'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * Lets only the id of a bridge of the Domain pass that the caller may observe. To be called before the transaction of the
 * change.
 * @throws Problem `aggregate_invariant`; it does not show whether another bridge exists.
 */
export async function assertRelayValue(
  asker: Asker,
  db: Db,
  { domainId, value }: { readonly domainId: string; readonly value: LabelValue },
): Promise<void> {
  const isNamed = typeof value === 'string' && UUID.test(value) && (await isBridgeOf(db, domainId, value))
  if (isNamed && (await asker.holds('observe', `resource:${value}`))) return
  throw refusedLabel(`${RELAY_LABEL}: the value is not the id of a bridge of the same Domain that you may observe.`)
}

async function isBridgeOf(db: Db, domainId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('resources')
    .select('id')
    .where('id', '=', id)
    .where('domain_id', '=', domainId)
    .where('kind', '=', 'bridge')
    .executeTakeFirst()
  return row !== undefined
}

/** The same for labels of nodes, as nodes and join tokens write them. A Domain may have a label of that very key, which is another one. */
export async function assertRelayLabels(
  asker: Asker,
  db: Db,
  { domainId, labels }: { readonly domainId: string; readonly labels: TextLabels },
): Promise<void> {
  const value = labels[RELAY_LABEL]
  if (value === undefined) return
  const own = await findByKeys(db, [qualifiedKey(ofDomain(domainId), RELAY_LABEL)])
  if (own.length === 0) await assertRelayValue(asker, db, { domainId, value })
}
