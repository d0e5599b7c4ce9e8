import { payloadIn } from '../../../src/shared/events/envelope.ts'
import { createHash, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto'
import { sql } from 'kysely'
import type { RelayCounters } from '../../../src/server/event-relay/counters.ts'
import { createEventRelay, EVENT_RELAY } from '../../../src/server/event-relay/consumer.ts'
import { createHints } from '../../../src/server/event-relay/hints.ts'
import type { Failure } from '../../../src/server/event-relay/outgoing-store.ts'
import { createPublishing } from '../../../src/server/event-relay/publishing.ts'
import { createSigning } from '../../../src/server/event-relay/signing.ts'
import { createConsumption } from '../../../src/server/outbox/consumption.ts'
import { createNumbering } from '../../../src/server/outbox/numbering.ts'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import type { EventBus } from '../../../src/server/ports/event-bus.ts'
import type { LeaderJob, Leading } from '../../../src/server/ports/leadership.ts'
import { OUTBOX_EVENTS } from '../../../src/server/composition/outbox-events.ts'
import type { OutboxEvent, OutboxLiteral } from '../../../src/server/ports/outbox-events.ts'
import type { NumberedEvent } from '../../../src/server/ports/outbox.ts'
import type { Signer, VerificationKey } from '../../../src/server/ports/signer.ts'
import type { Envelope } from '../../../src/shared/events/envelope.ts'
import type { LeaderParts } from '../datastores/leading.ts'
import { memoryBus, type MemoryBus } from './memory-bus.ts'

export const HOME = '018f0000-0000-7000-8000-0000000000d1'
export const AWAY = '018f0000-0000-7000-8000-0000000000d2'

/** The id of the node, resource, policy … of that number. */
export function idOf(number: number): string {
  return `018f0000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
}

/** A signer that can fail, and whose key can change during a signature. */
export interface TestSigner extends Signer {
  isDead: boolean
  /** Number of signatures so far. */
  signatures: number
  /** Makes the next signature with another key than `keys` lists. */
  changeKey(): void
  publicKey(kid: string): KeyObject
}

export function testSigner(): TestSigner {
  const pairs = new Map([['k1', generateKeyPairSync('ed25519')]])
  let current = 'k1'
  let listed = current
  const pairOf = (kid: string) => pairs.get(kid) ?? generateKeyPairSync('ed25519')
  const fail = (): never => {
    throw new Error('not here')
  }
  const signer: TestSigner = {
    isDead: false,
    signatures: 0,
    keepSeconds: 300,
    async sign(bytes) {
      const { kid, signatures } = await signer.signMany([bytes])
      return { kid, signature: signatures[0] ?? Buffer.alloc(0) }
    },
    async signMany(batch) {
      if (signer.isDead) throw new Error('the signer is dead')
      signer.signatures += batch.length
      listed = current
      return { kid: current, signatures: batch.map((bytes) => sign(null, bytes, pairOf(current).privateKey)) }
    },
    keys: () => [{ kid: listed } as VerificationKey],
    expired: async () => [],
    prepareRotation: fail,
    refresh: async () => undefined,
    changeKey() {
      current = `k${pairs.size + 1}`
      pairs.set(current, generateKeyPairSync('ed25519'))
    },
    publicKey: (kid) => pairOf(kid).publicKey,
  }
  return signer
}

/** Parses a signed envelope and verifies its signature. */
export function openWire(
  wire: string,
  signer: Pick<TestSigner, 'publicKey'>,
): Envelope & { readonly isSigned: boolean } {
  const [, canonical, signature] = /^(.*),"signature":"([^"]*)"\}$/s.exec(wire) ?? []
  if (canonical === undefined || signature === undefined) throw new Error(`not a signed envelope: ${wire}`)
  const envelope = JSON.parse(`${canonical}}`) as Envelope
  const isSigned = verify(
    null,
    Buffer.from(`${canonical}}`),
    signer.publicKey(envelope.kid),
    Buffer.from(signature, 'base64url'),
  )
  return { ...envelope, isSigned }
}

/** The relay's stages on a real datastore. Tests run each pass. */
export interface RelayWorld {
  readonly bus: MemoryBus
  readonly signer: TestSigner
  readonly failures: Failure[]
  readonly poison: { readonly seq: bigint; readonly error: unknown }[]
  readonly counts: { readonly published: Record<string, number>; signing: number; publishing: number; merged: number }
  readonly jobs: RelayJobs
  /** Runs numbering and the relay until they have nothing to do. */
  relay(): Promise<void>
  /** Runs every stage until it has nothing to do. */
  settle(): Promise<void>
  /** Commits one change with those outbox rows. The payloads are not checked, so they can be those of another version. */
  emit(...events: readonly (readonly [OutboxLiteral, Readonly<Record<string, unknown>>, string?])[]): Promise<void>
  /** Types and payloads of the node's published events, oldest first. */
  received(nodeId: string): [string, unknown][]
}

export interface RelayJobs {
  readonly numbering: LeaderJob
  readonly relay: LeaderJob
  readonly hints: LeaderJob
  readonly signing: LeaderJob
  readonly publishing: LeaderJob
}

export interface RelayPlace {
  readonly parts: LeaderParts
  readonly leading: Leading
  readonly bus?: MemoryBus
  /** Receives the events instead of `bus`. */
  readonly stream?: EventBus
  readonly signer?: TestSigner
  /** The datastore of the jobs, if it is not that of the test. */
  readonly datastore?: Datastore
  readonly hintsPerSecond?: number
}

export function relayWorld(place: RelayPlace): RelayWorld {
  const { parts, leading, bus = memoryBus(), signer = testSigner(), datastore = parts.datastore } = place
  const { hintsPerSecond = 2_000 } = place
  const stream = place.stream ?? bus
  const failures: Failure[] = []
  const poison: RelayWorld['poison'] = []
  const counts: RelayWorld['counts'] = { published: {}, signing: 0, publishing: 0, merged: 0 }
  const counters: RelayCounters = {
    published: (type, count) => void (counts.published[type] = (counts.published[type] ?? 0) + count),
    merged: (hints) => void (counts.merged += hints),
    signingFailed: () => void (counts.signing += 1),
    publishFailed: () => void (counts.publishing += 1),
  }
  const nothing = (): void => undefined
  const { clock, ids } = parts
  const onFailures = (failed: readonly Failure[]): void => void failures.push(...failed)
  const consumer = createEventRelay({ ids, declarations: OUTBOX_EVENTS, onTaken: nothing })
  const onPoison = (_: string, { seq }: NumberedEvent, error: unknown): void => void poison.push({ seq, error })
  const jobs: RelayJobs = {
    numbering: createNumbering({ datastore, onNumbered: nothing }),
    relay: createConsumption({ datastore, ids, consumer, onPoison }),
    hints: createHints({ datastore, clock, ids, counters, hintsPerSecond, onHinted: nothing }),
    signing: createSigning({ datastore, clock, signer, bus: stream, counters, onSigned: nothing, onFailures }),
    publishing: createPublishing({ clock, bus: stream, counters, onFailures }),
  }
  const untilQuiet = async (job: LeaderJob): Promise<void> => {
    while (await job.run(leading));
  }
  const relay = async (): Promise<void> => {
    await untilQuiet(jobs.numbering)
    await untilQuiet(jobs.relay)
  }
  return {
    bus,
    signer,
    failures,
    poison,
    counts,
    jobs,
    relay,
    async settle() {
      await relay()
      for (const job of [jobs.hints, jobs.signing, jobs.publishing]) await untilQuiet(job)
    },
    emit: (...events) =>
      parts.unitOfWork.run({ pool: 'interactive', correlationId: 'x' }, async (change) => {
        for (const [event, payload, domainId = HOME] of events)
          change.emit({ event, domainId, aggregate: 'thing:1', payload } as OutboxEvent)
      }),
    received: (nodeId) =>
      bus.stored
        .filter((event) => event.nodeId === nodeId)
        .map(({ type, wire }) => [type, JSON.parse(payloadIn(wire))]),
  }
}

/** Outgoing events, oldest first: the last digit of the node id, the number, the failure, whether it is signed. */
export async function listOutgoing(datastore: Datastore): Promise<[string, number, string | null, boolean][]> {
  const rows = await datastore.pool('interactive').selectFrom('outgoing_events').selectAll().orderBy('id').execute()
  return rows.map(({ node_id, node_seq, failure, wire }) => [
    node_id.slice(-1),
    Number(node_seq),
    failure,
    wire !== null,
  ])
}

/** Inserts Domains, and nodes that have a lane. */
export async function seedNodes(
  datastore: Datastore,
  nodes: readonly { readonly id: string; readonly domainId?: string; readonly labels?: Record<string, string> }[],
): Promise<void> {
  const db = datastore.pool('interactive')
  await sql`
    insert into domains values
      (${HOME}, 'home', 'Home', '100.64.0.0/10', 300, '[]', null, '[]', now(), now()),
      (${AWAY}, 'away', 'Away', '100.64.0.0/10', 300, '[]', null, '[]', now(), now())
    on conflict do nothing`.execute(db)
  await sql`
    insert into nodes (id, domain_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels, ephemeral, created_at, updated_at)
    select id, domain_id, 'n-' || id, 'vm', decode(md5(id::text) || md5(id::text), 'hex'),
      '100.64.0.0'::inet + (place + (select count(*) from nodes)), '\\x00', 1, labels, false, now(), now()
    from unnest(
      ${nodes.map(({ id }) => id)}::uuid[],
      ${nodes.map(({ domainId }) => domainId ?? HOME)}::uuid[],
      ${nodes.map(({ labels }) => JSON.stringify(labels ?? {}))}::jsonb[]
    ) with ordinality as node (id, domain_id, labels, place)`.execute(db)
  await sql`
    insert into node_lanes (node_id, domain_id, hinted_seq, hinted_at)
    select id, domain_id, (select seq from outbox_head), to_timestamp(0) from nodes on conflict do nothing`.execute(db)
  await sql`insert into outbox_consumers values (${EVENT_RELAY}, (select seq from outbox_head)) on conflict do nothing`.execute(
    db,
  )
}

/** SHA-256 in padded base64, as fingerprints are. */
export function fingerprintOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/** Stores a policy whose revision of that number is in force and matches the nodes, in place of what it matched. */
export async function storeRevision(
  datastore: Datastore,
  revision: {
    readonly id: string
    readonly policyId: string
    readonly number: number
    readonly rules: string
    readonly nodeIds: readonly string[]
  },
): Promise<void> {
  const db = datastore.pool('interactive')
  const { id, policyId, nodeIds } = revision
  const at = new Date(0)
  const inForce = { revision_id: id, applied_revision_id: id, updated_at: at }
  await db
    .insertInto('policies')
    .values({ id: policyId, domain_id: HOME, slug: policyId, created_at: at, ...inForce })
    .onConflict((oc) => oc.column('id').doUpdateSet(inForce))
    .execute()
  await db
    .insertInto('policy_revisions')
    .values({
      id,
      policy_id: policyId,
      domain_id: HOME,
      number: revision.number,
      display_name: 'P',
      selector: '*',
      document: JSON.stringify({ selector: '*', rules: [], tests: [] }),
      rules: revision.rules,
      fingerprint: fingerprintOf(revision.rules),
      created_by: 'user:somebody',
      created_at: at,
    })
    .execute()
  await db.deleteFrom('policy_matches').where('policy_id', '=', policyId).execute()
  await sql`
    insert into policy_matches select ${policyId}, id from unnest(${nodeIds}::uuid[]) as id`.execute(db)
}

/** Stores a bridge resource with its configuration and hosts. */
export async function storeBridge(
  datastore: Datastore,
  bridge: { readonly resourceId: string; readonly config: string; readonly hosts: readonly string[] },
): Promise<void> {
  const db = datastore.pool('interactive')
  const { resourceId, config, hosts } = bridge
  await sql`
    insert into projects values (${idOf(0xabc)}, ${HOME}, 'p', 'P', now(), now()) on conflict do nothing`.execute(db)
  await sql`
    insert into resources values
      (${resourceId}, ${HOME}, ${idOf(0xabc)}, 'bridge', ${resourceId}, 'B', now(), now())
    on conflict do nothing`.execute(db)
  await sql`delete from resource_hosts where resource_id = ${resourceId}`.execute(db)
  await sql`
    insert into resource_hosts select ${resourceId}, host from unnest(${hosts}::uuid[]) as host`.execute(db)
  await sql`
    insert into bridge_configs values (${resourceId}, ${HOME}, ${config}, now())
    on conflict (resource_id) do update set effective_config = ${config}`.execute(db)
}
