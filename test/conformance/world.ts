import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { openBackend, type Backend } from '../../src/server/backend.ts'
import { parseConfig } from '../../src/server/config.ts'
import { createMemoryHandover } from '../../src/server/first-run/memory-handover.ts'
import { createPasswordHashing } from '../../src/server/local-accounts/password-hash.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import { serve } from '../../src/server/serve.ts'
import { contract } from '../../src/shared/contract/index.ts'
import type { Operation } from '../../src/shared/contract/operation.ts'
import { HIGH_RATE_LIMITS } from '../support/high-rate-limits.mjs'
import type { EngineKind } from '../support/authz-engines.ts'
import { startPostgresCluster } from '../support/postgres-cluster.ts'
import { startSpicedb, type SpicedbServer } from '../support/spicedb-server.ts'
import { startTestIssuer, type TestIssuer } from '../support/test-issuer.ts'
import type { DatastoreKind } from '../support/datastores.ts'
import type { Running } from './loop.ts'
import type { AuditedRow, ConformanceWorld } from './rules/rule.ts'
import { addUser, createSessionOpener, enrolApp } from './signed-in.ts'
import { exchange, layOut, signed } from './wire.ts'

type Input = Readonly<Record<string, unknown>>

/** Members of answers that arrangements go on with; each is there where its operation answers it. */
export interface Made {
  readonly id: string
  readonly token: string
  readonly subject: string
  readonly domain_id: string
  readonly user_id: string
  readonly execution_id: string
  readonly session_id: string
  readonly items: readonly AuditedRow[]
}

/** What every scenario may rely on: one server with one Domain, made once for all of them. */
export interface World extends ConformanceWorld {
  /** Token of a platform administrator who is also platform auditor. */
  readonly root: string
  /** Token of a service identity of the Domain that holds no relation. */
  readonly nobody: string
  /** The Domain in which everything is arranged. */
  readonly domainId: string
  /** A Project of it. */
  readonly projectId: string
  /** The service identity behind `nobody`. */
  readonly identityId: string
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
  /** Mints a join token of the Domain for one node. */
  joinToken(): Promise<string>
  /** Registers a node of the Domain. */
  node(): Promise<{ readonly id: string; readonly nsk: string }>
}

/** A public key that no other node has: the last 32 bytes of its DER form (RFC 8410 §4). */
export function freshPublicKey(): string {
  const { publicKey } = generateKeyPairSync('x25519')
  return publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')
}

/** A world, and the datastore that its server keeps everything in. */
export interface RunningWorld extends Running<World> {
  readonly datastore: Datastore
}

/** Starts the whole server on a datastore of its own, and a SpiceDB of its own if asked, and makes a world in it. */
export async function startWorld(kind: DatastoreKind, engine: EngineKind = 'embedded'): Promise<RunningWorld> {
  const scratch = mkdtempSync(join(tmpdir(), 'ctl-conformance-'))
  const cluster = kind === 'postgres' ? await startPostgresCluster() : undefined
  const argv = ['--listen', '127.0.0.1:0', '--env', 'test', '--log-level', 'silent', '--data-dir', scratch]
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
    // What makes guessing dear would make the loop slow.
    passwordHashing: createPasswordHashing({ log2N: 10, r: 8, p: 1 }),
    onBroken,
    async openBackend(...asked) {
      const backend = await openBackend(...asked)
      opened.push(backend)
      return backend
    },
  })
  const [backend] = opened
  if (backend === undefined) throw new Error('the server opened nothing')
  const issuer = await startTestIssuer()
  const world = await makeWorld(server.url, { root: handover.token(), backend, issuer })
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

function spicedbArguments({ endpoint, token }: SpicedbServer, directory: string): readonly string[] {
  const tokenFile = join(directory, 'spicedb-token')
  writeFileSync(tokenFile, token, { mode: 0o600 })
  return ['--spicedb-endpoint', endpoint, '--spicedb-token-file', tokenFile]
}

const OPERATIONS = new Map<string, Operation>(
  Object.values(contract).flatMap(({ operations }) => Object.entries<Operation>(operations)),
)

interface Ground {
  readonly root: string
  readonly backend: Backend
  readonly issuer: TestIssuer
}

async function makeWorld(url: string, { root, backend, issuer }: Ground): Promise<World> {
  const name = (): string => `x${randomUUID()}`

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
  const domain = await make('CreateDomain', { body: { slug: name(), display_name: 'Conformance' } })
  const project = await make('CreateProject', { id: domain.id, body: { slug: name(), display_name: 'Conformance' } })
  const identity = await make('CreateServiceIdentity', {
    id: domain.id,
    body: { display_name: 'Nobody', subject: name() },
  })
  const own = { identity_ref: `service:${identity.id}`, name: 'conformance' }
  const nobody = await make('PostAdminTokens', { body: own })
  const narrow = await make('PostAuthTokens', { body: { name: 'narrow', scopes: ['meta:read'] } })

  const openSession = createSessionOpener(backend)
  const admin = await addUser(backend, domain.id)
  await make('CreatePlatformGrant', { body: { subject: `user:${admin}`, relation: 'admin' } })
  await make('CreatePlatformGrant', { body: { subject: `user:${admin}`, relation: 'auditor' } })
  const adminSession = await openSession({ id: admin, domainId: domain.id })

  const joinToken = async (): Promise<string> => (await make('CreateJoinToken', { id: domain.id, body: {} })).token

  return {
    url,
    root,
    make,
    makeAs,
    name,
    joinToken,
    nobody: nobody.token,
    narrow: narrow.token,
    session: adminSession,
    issuer,
    async signedIn() {
      return openSession({ id: await addUser(backend, domain.id), domainId: domain.id })
    },
    async signedInWithFactor() {
      const body = { login: name(), display_name: 'A person', domain_id: domain.id }
      const account = await make('PostAdminUsers', { body })
      await enrolApp(backend, account.id)
      return openSession({ id: account.user_id, domainId: domain.id })
    },
    domainId: domain.id,
    projectId: project.id,
    identityId: identity.id,
    async node() {
      const body = { name: name(), kind: 'vm', public_key: freshPublicKey() }
      const wire = { method: 'POST', path: '/v1/nodes/register', headers: { 'content-type': 'application/json' } }
      const answer = await exchange(url, signed({ ...wire, body: JSON.stringify(body) }, await joinToken()))
      if (answer.status !== 201) throw new Error(`the node was refused: ${answer.text}`)
      return { id: String(answer.json?.['node_id']), nsk: String(answer.json?.['nsk']) }
    },
    async audited(correlationId, domainId) {
      const domains = new Set([domain.id, me.domain_id, domainId ?? domain.id])
      const chains = [{ scope: 'platform' }, ...[...domains].map((id) => ({ domain_id: id }))]
      const pages = await Promise.all(
        chains.map((chain) => make('GetAudit', { ...chain, correlation_id: correlationId })),
      )
      return pages.flatMap(({ items }) => items)
    },
  }
}
