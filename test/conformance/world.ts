import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { openBackend, type Backend } from '../../src/server/composition/backend.ts'
import { parseConfig } from '../../src/server/config/config.ts'
import { createMemoryHandover } from '../../src/server/first-run/memory-handover.ts'
import type { ApprovalKind } from '../../src/server/ports/approval-kind.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import { serve } from '../../src/server/composition/serve.ts'
import { contract } from '../../src/shared/contract/index.ts'
import type { Operation } from '../../src/shared/contract/operation.ts'
import { hashing } from '../support/server/hashing.ts'
import { HIGH_RATE_LIMITS } from '../support/server/high-rate-limits.mjs'
import type { EngineKind } from '../support/authz/engines.ts'
import { startMigratedCluster } from '../support/datastores/migrated-cluster.ts'
import type { TestStore } from '../support/datastores/stores.ts'
import { spicedbArguments, startSpicedb } from '../support/authz/spicedb-server.ts'
import { addRelease } from '../support/releases/add-release.ts'
import { standInVerifier } from '../support/releases/stand-in-verifier.ts'
import { startTestIssuer, type TestIssuer } from '../support/sign-in/test-issuer.ts'
import type { Running } from './loop.ts'
import { createRowDigests } from './row-digests.ts'
import type { AuditedRow, ConformanceWorld } from './rules/rule.ts'
import { addApproval } from './approvals.ts'
import { addUser, createSessionOpener, enrolApp } from './signed-in.ts'
import { exchange, layOut, signed } from './wire.ts'

type Input = Readonly<Record<string, unknown>>

/** Members of answers that arrangements go on with; each is there where its operation answers it. */
export interface Made {
  readonly id: string
  readonly slug: string
  readonly token: string
  readonly subject: string
  readonly domain_id: string
  readonly user_id: string
  readonly execution_id: string
  readonly session_id: string
  readonly approval_id: string
  readonly revision_id: string
  readonly items: readonly AuditedRow[]
}

/** What every scenario may rely on: one server with one Domain, made once for all of them. */
export interface World extends ConformanceWorld {
  /** Token of a platform administrator who is also platform auditor. */
  readonly root: string
  /** The same server as scenarios see it that arrange things in another Domain. */
  readonly elsewhere: DomainWorld
  /** Token of a service identity of the Domain that holds no relation. */
  readonly nobody: string
  /** The Domain in which everything is arranged. */
  readonly domainId: string
  /** A Project of it. */
  readonly projectId: string
  /** The service identity behind `nobody`. */
  readonly identityId: string
  /** Token of a service identity that administrates the Domain. */
  readonly keeper: string
  /** A slug or name that nothing has yet. */
  name(): string
  /** Calls an operation as root; anything but success throws. Resolves with the JSON answer. */
  make(operationId: string, input: Input): Promise<Made>
  /** The same with another credential. */
  makeAs(credential: string, operationId: string, input: Input): Promise<Made>
  /** An identity provider from another hand, which says what a scenario tells it to. */
  readonly issuer: TestIssuer
  /** Signs a new user of the Domain in, who holds no relation; resolves with the cookies of the browser. */
  signedIn(): Promise<string>
  /** Signs in whoever has a new local account with an authenticator app. */
  signedInWithFactor(): Promise<string>
  /** Cookies of an administrator of the platform, who decides on what root requests. */
  readonly approver: string
  /** Adds a pending approval that is decided by `manage` on the Domain, requested by a new user unless somebody is named. */
  approval(requestedBy?: string): Promise<{ readonly id: string }>
  /** Mints a join token of the Domain for one node. */
  joinToken(): Promise<string>
  /** Registers a node of the Domain. */
  node(): Promise<{ readonly id: string; readonly nsk: string }>
  /** Adds a verified release; resolves with its version, which no other has. */
  release(): Promise<string>
}

/** Approvals of the scenarios: what they approve changes nothing. */
const CONFORMANCE_KIND: ApprovalKind = {
  kind: 'conformance',
  approve: async () => undefined,
  end: async () => undefined,
}

/** What a world has of its Domain, and of the server. */
export type DomainWorld = Omit<World, 'elsewhere' | 'outsiders' | 'deputy'>

/** A public key that no other node has: the last 32 bytes of its DER form (RFC 8410 §4). */
export function freshPublicKey(): string {
  const { publicKey } = generateKeyPairSync('x25519')
  return publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')
}

/** A world, and the datastore that its server keeps everything in. */
export interface RunningWorld extends Running<World> {
  readonly datastore: Datastore
}

/**
 * Starts the whole server on a datastore of its own, and a SpiceDB of its own if asked, and makes a world in it.
 *
 * @param nextName mints a slug or name that nothing has yet; by default in no order, so that lists by name have another
 *   order than lists by age.
 */
export async function startWorld(
  store: TestStore,
  engine: EngineKind = 'embedded',
  nextName: () => string = randomName,
): Promise<RunningWorld> {
  const scratch = mkdtempSync(join(tmpdir(), 'ctl-conformance-'))
  const cluster = store.name === 'postgres' ? await startMigratedCluster() : undefined
  const fixed = ['--env', 'test', '--log-level', 'silent', '--capacity-sample-interval', '1s']
  const argv = ['--listen', '127.0.0.1:0', '--data-dir', scratch, ...fixed]
  const storage = cluster === undefined ? [] : ['--database-url', cluster.url]
  const spicedb = engine === 'spicedb' ? await startSpicedb() : undefined
  const handover = createMemoryHandover()
  const decides = spicedb === undefined ? [] : spicedbArguments(spicedb, scratch)
  const config = parseConfig({ argv: [...argv, ...storage, ...decides], env: HIGH_RATE_LIMITS })
  const log = pino({ level: 'silent' })
  const onBroken = (error: Error): never => {
    throw error
  }
  const opened: Backend[] = []
  const server = await serve({
    config,
    log,
    handover,
    passwordHashing: hashing,
    approvalKinds: [CONFORMANCE_KIND],
    onBroken,
    async openBackend(...asked) {
      const backend = { ...(await openBackend(...asked)), releaseVerifier: standInVerifier() }
      opened.push(backend)
      return backend
    },
  })
  const [backend] = opened
  if (backend === undefined) throw new Error('the server opened nothing')
  const issuer = await startTestIssuer()
  const world = await makeWorld(server.url, { root: handover.token(), backend, issuer, name: nextName })
  const { text } = await exchange(server.url, signed({ method: 'GET', path: '/v1/openapi.json' }, world.root))
  return {
    world,
    openapi: JSON.parse(text),
    datastore: backend.datastore,
    async stop() {
      await server.close()
      await issuer.stop()
      await Promise.all([cluster?.stop(), spicedb?.close()])
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

const OPERATIONS = new Map<string, Operation>(
  Object.values(contract).flatMap(({ operations }) => Object.entries<Operation>(operations)),
)

interface Ground {
  readonly root: string
  readonly backend: Backend
  readonly issuer: TestIssuer
  readonly name: () => string
}

function randomName(): string {
  return `x${randomUUID()}`
}

async function makeWorld(url: string, { root, backend, issuer, name }: Ground): Promise<World> {
  const make = (operationId: string, input: Input): Promise<Made> => makeAs(root, operationId, input)

  async function makeAs(credential: string, operationId: string, input: Input): Promise<Made> {
    const operation = OPERATIONS.get(operationId)
    if (operation === undefined) throw new Error(`there is no operation ${operationId}`)
    const answer = await exchange(url, signed(layOut(operation, input), credential))
    if (answer.status >= 300) throw new Error(`${operationId} answered ${answer.status} ${answer.text}`)
    // What each operation answers is for the loop to check; an arrangement takes it at its word.
    return answer.json as unknown as Made
  }

  const me = await make('GetAuthWhoami', {})
  await make('CreatePlatformGrant', { body: { subject: me.subject, relation: 'auditor' } })
  const narrow = await make('PostAuthTokens', { body: { name: 'narrow', scopes: ['meta:read'] } })
  const approver = await makeApprover({ make, backend, domainId: me.domain_id })
  const base = {
    url,
    root,
    approver,
    make,
    makeAs,
    name,
    narrow: narrow.token,
    issuer,
    ownDomainId: me.domain_id,
    backend,
    stored: createRowDigests(backend.datastore),
  }
  const home = await makePlace(base)
  const elsewhere = await makePlace(base)
  for (const relation of ['admin', 'auditor']) {
    for (const subject of home.keepers) await make('CreatePlatformGrant', { body: { subject, relation } })
    for (const subject of elsewhere.keepers) {
      await make('CreateDomainGrant', { id: elsewhere.domainId, body: { subject, relation } })
    }
  }
  const viewer = await tokenIn(base, home.domainId)
  await make('CreateDomainGrant', {
    id: home.domainId,
    body: { subject: `serviceaccount:${viewer.id}`, relation: 'viewer' },
  })
  return {
    ...worldIn(home, base),
    deputy: home.keeper,
    elsewhere: worldIn(elsewhere, base),
    outsiders: [
      { who: 'nobody', credential: home.nobody, isInside: true },
      { who: 'a viewer', credential: viewer.token, isInside: true },
      { who: 'an administrator of another Domain', credential: elsewhere.keeper },
      { who: 'an administrator of another Domain in a browser', credential: elsewhere.session },
      { who: 'a node of another Domain', credential: (await registerNode(base, elsewhere)).nsk },
    ],
  }
}

/** What the worlds of all Domains have in common. */
interface Base extends Pick<
  World,
  'url' | 'root' | 'approver' | 'make' | 'makeAs' | 'name' | 'narrow' | 'issuer' | 'stored'
> {
  /** The Domain that root belongs to. */
  readonly ownDomainId: string
  readonly backend: Backend
}

/** A Domain with somebody in it. */
interface Place {
  readonly domainId: string
  readonly projectId: string
  readonly identityId: string
  readonly nobody: string
  /** A service identity and a user who administrate the platform where the Domain is the world's own, else the Domain alone. */
  readonly keepers: readonly string[]
  /** Token of that service identity. */
  readonly keeper: string
  /** Cookies of a session of that user. */
  readonly session: string
  /** A join token of the Domain for any number of nodes. */
  readonly nodesToken: string
}

/** Adds a service identity that holds no relation to a Domain, and issues a token for it. */
async function tokenIn(
  { make, name }: Base,
  domainId: string,
): Promise<{ readonly id: string; readonly token: string }> {
  const { id } = await make('CreateServiceIdentity', { id: domainId, body: { display_name: 'One', subject: name() } })
  const own = { identity_ref: `service:${id}`, name: 'conformance' }
  return { id, token: (await make('PostAdminTokens', { body: own })).token }
}

async function makePlace(base: Base): Promise<Place> {
  const { make, name, backend } = base
  const { id: domainId } = await make('CreateDomain', { body: { slug: name(), display_name: 'Conformance' } })
  const project = await make('CreateProject', { id: domainId, body: { slug: name(), display_name: 'Conformance' } })
  const nobody = await tokenIn(base, domainId)
  const keeper = await tokenIn(base, domainId)
  const admin = await addUser(backend, domainId)
  return {
    domainId,
    projectId: project.id,
    identityId: nobody.id,
    nobody: nobody.token,
    keepers: [`serviceaccount:${keeper.id}`, `user:${admin}`],
    keeper: keeper.token,
    session: await createSessionOpener(backend)({ id: admin, domainId }),
    nodesToken: (await make('CreateJoinToken', { id: domainId, body: { max_uses: 1_000_000 } })).token,
  }
}

/** Signs a new administrator of the platform in. */
async function makeApprover({
  make,
  backend,
  domainId,
}: Pick<Base, 'make' | 'backend'> & { readonly domainId: string }): Promise<string> {
  const id = await addUser(backend, domainId)
  await make('CreatePlatformGrant', { body: { subject: `user:${id}`, relation: 'admin' } })
  return createSessionOpener(backend)({ id, domainId })
}

/** Whether any chain has a row of that request: the API is not asked for all of them before. */
async function hasAuditRow({ datastore }: Backend, correlationId: string): Promise<boolean> {
  const rows = datastore
    .pool('interactive')
    .selectFrom('audit')
    .select('id')
    .where('correlation_id', '=', correlationId)
  return (await rows.limit(1).executeTakeFirst()) !== undefined
}

async function addNextRelease({ backend, name }: Base): Promise<string> {
  const version = `1.0.0-${name()}`
  await addRelease(backend.datastore.pool('interactive'), version)
  return version
}

async function mintJoinToken({ make }: Base, domainId: string): Promise<string> {
  return (await make('CreateJoinToken', { id: domainId, body: {} })).token
}

async function registerNode(
  { url, name }: Base,
  { nodesToken }: Place,
): Promise<{ readonly id: string; readonly nsk: string }> {
  const body = { name: name(), kind: 'vm', public_key: freshPublicKey() }
  const wire = { method: 'POST', path: '/v1/nodes/register', headers: { 'content-type': 'application/json' } }
  const answer = await exchange(url, signed({ ...wire, body: JSON.stringify(body) }, nodesToken))
  if (answer.status !== 201) throw new Error(`the node was refused: ${answer.text}`)
  return { id: String(answer.json?.['node_id']), nsk: String(answer.json?.['nsk']) }
}

/** The world as a scenario sees it that arranges things in that Domain. */
function worldIn(place: Place, base: Base): DomainWorld {
  const { url, root, approver, make, makeAs, name, narrow, issuer, backend, ownDomainId, stored } = base
  const { domainId, projectId, identityId, nobody, keeper, session } = place
  const openSession = createSessionOpener(backend)
  return {
    url,
    root,
    approver,
    make,
    makeAs,
    name,
    narrow,
    issuer,
    session,
    nobody,
    keeper,
    domainId,
    projectId,
    identityId,
    joinToken: () => mintJoinToken(base, domainId),
    node: () => registerNode(base, place),
    release: () => addNextRelease(base),
    approval: (requestedBy) => addApproval(backend, domainId, requestedBy),
    async signedIn() {
      return openSession({ id: await addUser(backend, domainId), domainId })
    },
    async signedInWithFactor() {
      const body = { login: name(), display_name: 'A person', domain_id: domainId }
      const account = await make('PostAdminUsers', { body })
      await enrolApp(backend, account.id)
      return openSession({ id: account.user_id, domainId })
    },
    stored,
    async audited(correlationId, otherDomainId) {
      if (!(await hasAuditRow(backend, correlationId))) return []
      const domains = new Set([domainId, ownDomainId, otherDomainId ?? domainId])
      const chains = [{ scope: 'platform' }, ...[...domains].map((id) => ({ domain_id: id }))]
      const pages = await Promise.all(
        chains.map((chain) => make('GetAudit', { ...chain, correlation_id: correlationId })),
      )
      return pages.flatMap(({ items }) => items)
    },
  }
}
