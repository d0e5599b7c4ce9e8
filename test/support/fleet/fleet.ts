import { generateKeyPairSync } from 'node:crypto'
import { mounted } from '../../../src/server/http/request-context.ts'
import type { OnBack } from '../../../src/server/slices/nodes/heartbeat-store.ts'
import { createNodes, type NodesService } from '../../../src/server/slices/nodes/service.ts'
import { nodes } from '../../../src/shared/contract/nodes.ts'
import { madeOver, type Answer, type Making } from '../server/control-plane.ts'
import { startTenancy, type Tenancy } from '../server/tenancy.ts'
import type { TestStore } from '../datastores/stores.ts'

/** The answer of a registration. */
export interface Enrolled {
  readonly node_id: string
  readonly domain_id: string
  readonly mesh_address: string
  readonly nsk: string
}

/** A control plane with tenancy, join tokens, signing keys and nodes, and words to fill it with nodes. */
export interface Fleet extends Tenancy {
  /** Reads how far the peers of Domains have changed, as a server does by itself. */
  readMarks(): Promise<void>
  /** Who hears of nodes that are back; the sweeper finds them while that is nobody. */
  readonly back: { hear: OnBack }
  /** Creates a join token through the API. */
  token(domainId: string, members?: Readonly<Record<string, unknown>>): Promise<{ id: string; token: string }>
  /** Registers with a join token, under a fresh name and key unless given. */
  register(token: string, members?: Readonly<Record<string, unknown>>): Promise<Answer>
  /** Registers a node of the Domain with a token of its own; `terms` are the token's. */
  enrol(
    domainId: string,
    members?: Readonly<Record<string, unknown>>,
    terms?: Readonly<Record<string, unknown>>,
  ): Promise<Enrolled>
  /** Sends a heartbeat with that key. */
  beat(
    node: { readonly node_id: string; readonly nsk: string },
    members?: Readonly<Record<string, unknown>>,
  ): Promise<Answer>
  /** Moves the time on. */
  wait(ms: number): void
}

export const CHECKSUM = 'ab'.repeat(32)

/** A fresh Curve25519 public key in padded base64. */
export function freshPublicKey(): string {
  const spki = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' })
  return spki.subarray(12).toString('base64')
}

/** `more` adds surfaces, and what they need of the test. */
export async function startFleet(store: TestStore, more: Making = { surfaces: [] }): Promise<Fleet> {
  let service: NodesService | undefined
  const back: Fleet['back'] = { hear: () => undefined }
  const onBack: OnBack = (nodeIds) => back.hear(nodeIds)
  const tenancy = await startTenancy(store, (backend) => {
    const made = madeOver(backend, more)
    service = createNodes({ ...backend, env: 'test', onBack })
    return { ...made, surfaces: [mounted(nodes, service.handlers), 'signingKeys', 'joinTokens', ...made.surfaces] }
  })
  const { root, clock, call } = tenancy
  let names = 0

  const token: Fleet['token'] = async (domainId, members = {}) => {
    const answer = await call(root, `POST /v1/domains/${domainId}/join-tokens`, members)
    if (answer.status !== 201) throw new Error(`no join token: ${JSON.stringify(answer.body)}`)
    return { id: String(answer.body['id']), token: String(answer.body['token']) }
  }

  const register: Fleet['register'] = (joinToken, members = {}) => {
    names += 1
    const body = { name: `node-${names}`, kind: 'worker', public_key: freshPublicKey(), ...members }
    return call(joinToken, 'POST /v1/nodes/register', body)
  }

  return {
    ...tenancy,
    back,
    readMarks: async () => service?.start(),
    token,
    register,
    async enrol(domainId, members, terms) {
      const answer = await register((await token(domainId, terms)).token, members)
      if (answer.status !== 201) throw new Error(`not enrolled: ${JSON.stringify(answer.body)}`)
      const { node_id, domain_id, mesh_address, nsk } = answer.body
      return {
        node_id: String(node_id),
        domain_id: String(domain_id),
        mesh_address: String(mesh_address),
        nsk: String(nsk),
      }
    },
    beat: (node, members = {}) =>
      call(node.nsk, `POST /v1/nodes/${node.node_id}/heartbeat`, {
        client_now: new Date(clock.nowMs).toISOString(),
        binary_checksum: CHECKSUM,
        binary_version: '1.0.0',
        ...members,
      }),
    wait(ms) {
      clock.nowMs += ms
    },
  }
}
