import type { nodes } from '../../../shared/contract/nodes.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { publishedKey } from '../../http/auth/published-key.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Sealing } from '../../ports/keyring.ts'
import type { Signer } from '../../ports/signer.ts'
import { parseChecksum } from './checksum.ts'
import type { MintKey } from './mint-key.ts'
import { sealFreshPsk } from '../../sql/node-psk.ts'
import { formatPskIssuedAt } from '../../../shared/mesh/psk-instant.ts'
import { nextPskIssuedAt } from '../../sql/psk-epoch.ts'
import { parsePublicKey } from '../../sql/public-key.ts'
import { createRegistrar, type Prepared, type RegistrarDeps } from './registrar.ts'

type RegisterNode = (typeof nodes)['operations']['RegisterNode']
type Body = Input<RegisterNode>['body']

/** How often a node reports, in seconds. */
const HEARTBEAT_INTERVAL_SECONDS = 30

export interface RegistrationDeps extends RegistrarDeps {
  readonly sealing: Sealing
  readonly signer: Signer
  readonly mintKey: MintKey
}

/** A node's own facts. */
type Application = Pick<Prepared, 'name' | 'kind' | 'publicKey' | 'binaryVersion' | 'binaryChecksum' | 'atMs'>

/**
 * Serves the enrolment of nodes: a join token is the permission and sets the node's properties. Nearly every token
 * is for new nodes, so that the secrets of one are made before the token's row is locked.
 */
export function createRegistration(deps: RegistrationDeps): Pick<Handlers<typeof nodes>, 'RegisterNode'> {
  const register = createRegistrar(deps)
  return {
    async RegisterNode(ctx, { body }) {
      const signing_keys = deps.signer.keys().map(publishedKey)
      const application = applicationOf(body, ctx.nowMs)
      const { nsk, terms, node } = await register({
        domainId: ctx.caller.domainId,
        tokenId: ctx.caller.credential.id,
        correlationId: ctx.correlationId,
        asNew: await prepare(deps, application, deps.ids.next()),
        asKnown: (nodeId) => prepare(deps, application, nodeId),
        audit(nodeId, domainId) {
          ctx.about(`node:${nodeId}`, domainId)
          return ctx.carryAudit()
        },
      })
      ctx.header('Location', `/v1/nodes/${node.nodeId}`)
      return {
        node_id: node.nodeId,
        domain_id: terms.domainId,
        mesh_address: node.meshAddress,
        mesh_cidr: terms.meshCidr,
        psk_issued_at: formatPskIssuedAt(node.pskIssuedAtNs),
        nsk,
        signing_keys,
        heartbeat_interval_seconds: HEARTBEAT_INTERVAL_SECONDS,
      }
    },
  }
}

/** @throws Problem `invalid_public_key`, `invalid_checksum`. */
function applicationOf(body: Body, atMs: number): Application {
  return {
    name: body.name,
    kind: body.kind,
    publicKey: parsePublicKey(body.public_key),
    binaryVersion: body.binary_version ?? null,
    binaryChecksum: body.binary_checksum === undefined ? null : parseChecksum(body.binary_checksum),
    atMs,
  }
}

/** Creates a node's secrets: its preshared key, which never leaves the server, and its secret key, which only the node gets. */
async function prepare(deps: RegistrationDeps, application: Application, nodeId: string): Promise<Prepared> {
  const pskSealed = await sealFreshPsk(deps.sealing, nodeId)
  const pskIssuedAtNs = nextPskIssuedAt(application.atMs, undefined)
  return { ...application, nodeId, pskSealed, pskIssuedAtNs, ...deps.mintKey(nodeId, application.atMs) }
}
