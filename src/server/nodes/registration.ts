import { randomBytes } from 'node:crypto'
import type { nodes } from '../../shared/contract/nodes.ts'
import type { Input, Result } from '../../shared/contract/operation.ts'
import { problem } from '../../shared/problems.ts'
import type { Handlers } from '../http/request-context.ts'
import type { IdSource } from '../ports/clock.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { SecretStore } from '../ports/keyring.ts'
import type { Signer } from '../ports/signer.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { allocateAddress } from './address-store.ts'
import { announcePskAssigned, announceRegistered } from './announce.ts'
import { parseChecksum } from './checksum.ts'
import type { MintedKey, MintKey } from './mint-key.ts'
import { lockNode } from './node-store.ts'
import { nextPskIssuedAt } from './psk-epoch.ts'
import { parsePublicKey } from './public-key.ts'
import {
  countUse,
  insertNode,
  joinTerms,
  updateEnrolment,
  type Enrolment,
  type JoinTerms,
  type Placement,
} from './registration-store.ts'
import { addKey, revokeKeys } from './secret-key-store.ts'

type RegisterNode = (typeof nodes)['operations']['RegisterNode']
type Body = Input<RegisterNode>['body']
type SigningKey = Result<RegisterNode>['signing_keys'][number]

/** How often a node reports, in seconds. */
const HEARTBEAT_INTERVAL_SECONDS = 30

export interface RegistrationDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly secrets: SecretStore
  readonly signer: Signer
  readonly mintKey: MintKey
}

/** Serves the enrolment of nodes: a join token is the permission, and it says what the node becomes. */
export function createRegistration(deps: RegistrationDeps): Pick<Handlers<typeof nodes>, 'RegisterNode'> {
  return {
    async RegisterNode(ctx, { body }) {
      const signing_keys = signingKeys(deps.signer)
      const terms = await joinTerms(deps.datastore.pool('interactive'), ctx.caller.credential.id)
      if (terms === undefined) throw problem('invalid_join_token')
      const { enrolment, nsk } = await prepare(deps, { body, terms, nowMs: ctx.nowMs })
      const { nodeId, atMs } = enrolment
      const { meshAddress } = await ctx.change(async (change) => {
        await countUse(change.db, terms.tokenId, atMs)
        const placement =
          terms.nodeId === null
            ? await enrol(change, terms, { ...enrolment, name: body.name })
            : await enrolAgain(change, terms, enrolment)
        ctx.about(`node:${nodeId}`, terms.domainId)
        return placement
      })
      ctx.header('Location', `/v1/nodes/${nodeId}`)
      return {
        node_id: nodeId,
        domain_id: terms.domainId,
        mesh_address: meshAddress,
        nsk,
        signing_keys,
        heartbeat_interval_seconds: HEARTBEAT_INTERVAL_SECONDS,
      }
    },
  }
}

/** Checks what the node sent and makes its secrets, before any lock is taken. */
async function prepare(
  deps: RegistrationDeps,
  { body, terms, nowMs }: { body: Body; terms: JoinTerms; nowMs: number },
): Promise<{ enrolment: Enrolment; nsk: string }> {
  const publicKey = parsePublicKey(body.public_key)
  const binaryChecksum = body.binary_checksum === undefined ? null : parseChecksum(body.binary_checksum)
  const nodeId = terms.nodeId ?? deps.ids.next()
  const place = { table: 'nodes', column: 'psk_sealed', rowId: nodeId }
  const pskSealed = await deps.secrets.seal(place, randomBytes(32))
  const { nsk, key }: MintedKey = deps.mintKey(nodeId, nowMs)
  const enrolment = {
    nodeId,
    kind: body.kind,
    publicKey,
    pskSealed,
    pskIssuedAtNs: nextPskIssuedAt(nowMs, undefined),
    binaryVersion: body.binary_version ?? null,
    binaryChecksum,
    key,
    atMs: nowMs,
  }
  return { enrolment, nsk }
}

async function enrol(change: Change, terms: JoinTerms, node: Enrolment & { name: string }): Promise<Placement> {
  const meshAddress = await allocateAddress(change.db, { id: terms.domainId, meshCidr: terms.meshCidr }, node.atMs)
  const placement = { name: node.name, meshAddress }
  await insertNode(change.db, terms, { ...node, ...placement })
  const place = { domainId: terms.domainId, projectId: terms.projectId }
  const resource = `node:${node.nodeId}`
  await change.tuples.createStructural({ subject: `domain:${terms.domainId}`, relation: 'domain', resource }, place)
  if (terms.projectId !== null) {
    await change.tuples.createStructural(
      { subject: `project:${terms.projectId}`, relation: 'project', resource },
      place,
    )
  }
  announce(change, terms, { ...node, ...placement })
  return placement
}

/** Gives the node new keys under its id, name, address, Project and labels; its old secret keys are dead with the commit. */
async function enrolAgain(change: Change, terms: JoinTerms, node: Enrolment): Promise<Placement> {
  const stored = await lockNode(change.db, node.nodeId)
  if (stored === undefined) throw problem('invalid_join_token')
  const enrolment = { ...node, pskIssuedAtNs: nextPskIssuedAt(node.atMs, BigInt(stored.psk_issued_at)) }
  const placement = await updateEnrolment(change.db, enrolment)
  await revokeKeys(change.db, node.nodeId, node.atMs)
  await addKey(change.db, node.key)
  change.credentialChanged('nsk', node.nodeId)
  announce(change, terms, { ...enrolment, ...placement })
  return placement
}

function announce(change: Change, { domainId }: JoinTerms, node: Enrolment & Placement): void {
  const peer = { nodeId: node.nodeId, domainId }
  announceRegistered(change, peer, node)
  announcePskAssigned(change, peer, node.pskIssuedAtNs)
}

/** The keys that verify event envelopes; without one the node could trust no event (`signing_unavailable`). */
function signingKeys(signer: Signer): SigningKey[] {
  const keys = signer.keys()
  if (keys.length === 0) throw problem('signing_unavailable')
  return keys.map(({ kid, publicKey, notBefore, notAfter }) => ({
    kid,
    kty: 'OKP',
    crv: 'Ed25519',
    x: publicKey.toString('base64url'),
    not_before: notBefore.toISOString(),
    not_after: notAfter?.toISOString() ?? null,
  }))
}
