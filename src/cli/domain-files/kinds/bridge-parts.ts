import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { isRow, type Row } from '../../output/members.ts'
import type { LiveObject } from '../document.ts'
import type { Member, World, Writing } from '../kind.ts'
import { bodySchema, type ValueSchema } from '../schema/value-schema.ts'
import { unlessGone } from '../unless-gone.ts'
import { entriesOf, picked, text } from './member-sets.ts'

/** A list of parts of a bridge, with the operations that read and write them. */
interface Part {
  readonly member: string
  /** Members of a part, in the order of a file; `target_node_id` is written as `target_node`. */
  readonly fields: readonly string[]
  readonly list: string
  readonly create: string
  readonly update: string
  readonly remove: string
}

/** The lists of parts that a bridge has beside its relay. */
export const PARTS: readonly Part[] = [
  {
    member: 'ingress',
    fields: ['slug', 'sni_host', 'target_port', 'acme_account_ref'],
    list: 'ListBridgeIngressRules',
    create: 'CreateBridgeIngressRule',
    update: 'UpdateBridgeIngressRule',
    remove: 'DeleteBridgeIngressRule',
  },
  {
    member: 'site_to_site',
    fields: ['slug', 'kind', 'remote_host', 'remote_port', 'auth_secret_ref', 'allowed_subnets', 'routing_policy'],
    list: 'ListBridgeSiteToSiteTunnels',
    create: 'CreateBridgeSiteToSiteTunnel',
    update: 'UpdateBridgeSiteToSiteTunnel',
    remove: 'DeleteBridgeSiteToSiteTunnel',
  },
  {
    member: 'user_access',
    fields: [
      'slug',
      'kind',
      'interface_name',
      'listen_port',
      'max_peers',
      'auth_secret_ref',
      'routing_policy',
      'peer_subnet',
    ],
    list: 'ListBridgeUserAccessProviders',
    create: 'CreateBridgeUserAccessProvider',
    update: 'UpdateBridgeUserAccessProvider',
    remove: 'DeleteBridgeUserAccessProvider',
  },
]

const TARGET: ValueSchema = { type: 'string', description: 'Name of the node that serves it' }

/** The relay, and the lists of parts, each complete in the file. */
export function partMembers(manifest: Manifest): readonly Member[] {
  const relay: Member = { name: 'relay', rule: 'value', schema: bodySchema(manifest, 'ConfigureBridgeRelay') }
  const lists = PARTS.map(({ member, create }): Member => {
    const schema = bodySchema(manifest, create, ['target_node_id'])
    const items = member === 'ingress' ? withTarget(schema) : schema
    return { name: member, rule: 'whole', schema: { type: 'array', items } }
  })
  return [relay, ...lists]
}

function withTarget(schema: ValueSchema): ValueSchema {
  const properties = { ...schema.properties, target_node: TARGET }
  return { ...schema, properties, required: [...(schema.required ?? []), 'target_node'] }
}

/** Reads the relay and the parts of a bridge, by names. */
export async function readParts(world: World, bridge: Row): Promise<Row> {
  const place = placeOf(bridge)
  const relay = await orNone(() => world.api.call('GetBridgeRelay', place))
  const filled: (readonly [string, readonly Row[]])[] = []
  // One after another: several bridges are read at a time already.
  for (const { member, fields, list } of PARTS) {
    const rows = (await world.api.all(list, place)).map((row) => shown(world, row, fields))
    filled.push([member, rows.toSorted((one, other) => (text(one, 'slug') < text(other, 'slug') ? -1 : 1))])
  }
  return {
    ...(relay !== undefined && { relay: picked(relay, ['enabled', 'listen_port']) }),
    ...Object.fromEntries(filled.filter(([, rows]) => rows.length > 0)),
  }
}

async function orNone(read: () => Promise<Row>): Promise<Row | undefined> {
  const { ProblemAnswer } = await import('../../../client/failures.ts')
  try {
    return await read()
  } catch (error) {
    if (error instanceof ProblemAnswer && error.status === 404) return undefined
    throw error
  }
}

function shown({ names }: World, row: Row, members: readonly string[]): Row {
  const target = row['target_node_id']
  return {
    ...Object.fromEntries(Object.entries(picked(row, members)).filter(([, value]) => value !== null)),
    ...(typeof target === 'string' && { target_node: names.nameOf('node', target) ?? target }),
  }
}

/** Writes the relay and the parts that change. */
export async function writeParts(world: World, writing: Writing & { readonly live: LiveObject }): Promise<void> {
  const place = placeOf(writing.live.row)
  const relay = writing.changes.find(({ member }) => member === 'relay')
  if (relay?.to !== undefined) await world.api.call('ConfigureBridgeRelay', { ...place, body: relay.to })
  for (const part of PARTS) {
    const entries = entriesOf(writing, part.member)
    // What is removed first cannot collide with what is created.
    for (const { name } of entries.filter((entry) => entry.to === undefined))
      await unlessGone(() => world.api.call(part.remove, { ...place, slug: name }))
    for (const { name, from, to } of entries.filter((entry) => entry.to !== undefined)) {
      const body = sent(world, to)
      if (from === undefined) await world.api.call(part.create, { ...place, body })
      else await world.api.call(part.update, { ...place, slug: name, body: withoutSlug(body) })
    }
  }
}

function sent({ names }: World, part: unknown): Row {
  if (!isRow(part)) return {}
  const { target_node: target, ...body } = part
  return typeof target === 'string' ? { ...body, target_node_id: names.idOf('node', target) } : body
}

function withoutSlug({ slug: _own, ...body }: Row): Row {
  return body
}

function placeOf(bridge: Row): Row {
  return { project_id: bridge['project_id'], resource_id: bridge['id'] }
}
