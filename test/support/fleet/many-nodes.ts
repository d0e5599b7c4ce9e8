import { createKeyMint } from '../../../src/server/slices/nodes/mint-key.ts'
import type { Enrolled, Fleet } from './fleet.ts'

/** Nodes in one statement: parameters are bounded. */
const ROWS_MAX = 250

let added = 0

/**
 * Adds nodes to a Domain by their rows alone, each with a key that works: for tests that need hundreds of them, and not
 * what a registration does beside it.
 */
export async function addNodes(fleet: Fleet, domainId: string, count: number): Promise<Enrolled[]> {
  const mintKey = createKeyMint({ env: 'test', keyring: fleet.keyring })
  const nodes: Enrolled[] = []
  while (nodes.length < count) {
    const batch = Array.from({ length: Math.min(ROWS_MAX, count - nodes.length) }, () => {
      added += 1
      const id = fleet.ids.next()
      return { id, ...mintKey(id, fleet.clock.nowMs), place: added, address: addressOf(added) }
    })
    const at = new Date(fleet.clock.nowMs)
    await fleet.db
      .insertInto('nodes')
      .values(
        batch.map(({ id, place, address }) => ({
          id,
          domain_id: domainId,
          project_id: null,
          name: `many-${place}`,
          kind: 'worker',
          public_key: Buffer.from(id.replaceAll('-', '').padEnd(64, '0'), 'hex'),
          mesh_address: address,
          psk_sealed: Buffer.alloc(60),
          psk_issued_at: '0',
          labels: '{}',
          ephemeral: false,
          created_at: at,
          updated_at: at,
        })),
      )
      .execute()
    await fleet.db
      .insertInto('node_heartbeats')
      .values(batch.map(({ id }) => ({ node_id: id, created_at: at, binary_version: null, binary_checksum: null })))
      .execute()
    await fleet.db
      .insertInto('node_secret_keys')
      .values(
        batch.map(({ key }) => ({
          node_id: key.nodeId,
          kid: key.kid,
          fingerprint: key.fingerprint,
          fingerprint_key_id: key.fingerprintKeyId,
          created_at: at,
        })),
      )
      .execute()
    nodes.push(
      ...batch.map(({ id, nsk, address }) => ({ node_id: id, domain_id: domainId, mesh_address: address, nsk })),
    )
  }
  return nodes
}

/** Far from those that registrations take, which are the lowest. */
function addressOf(place: number): string {
  return `100.100.${Math.floor(place / 256)}.${place % 256}`
}
