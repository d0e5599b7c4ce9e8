import { blankDatabase } from '../../../scripts/lib/blank-database.mjs'
import { openPglite } from '../../../src/server/adapters/pglite/database.ts'
import { openPostgres } from '../../../src/server/adapters/postgres/database.ts'
import { migrate } from '../../../src/server/adapters/postgres/migrate.ts'
import { issueToken } from '../../../src/server/slices/tokens/change-tokens.ts'
import { createMint } from '../../../src/server/slices/tokens/mint.ts'
import { lifetimeFrom } from '../../../src/server/slices/tokens/token.ts'
import { exceptNotDurable } from '../datastores/migrated-cluster.ts'
import type { OpenedStore } from '../datastores/stores.ts'
import { startLending, type LendingPlane } from './lending.ts'

/** Where the datastore of a server process is: a data directory, or a PostgreSQL. */
export type DatastorePlace = { readonly dataDir: string } | { readonly url: string }

/** Objects and API tokens, made before the server process is started. */
export interface LendingGround {
  readonly domainId: string
  readonly projectId: string
  /** Lent to the Project. */
  readonly cloudId: string
  /** Manages the Domain and deploys into the Project; requests. */
  readonly requester: string
  /** Manages the platform, and has made the token for itself; decides. */
  readonly decider: string
  /** People of the Domain that hold nothing, as subjects. */
  readonly people: readonly string[]
}

/** Opens the datastore while no process has it. */
export async function openPlace(place: DatastorePlace): Promise<OpenedStore> {
  if ('url' in place)
    return { ...(await openPostgres({ url: place.url, warn: exceptNotDurable(refuse) })), cluster: undefined }
  const image = await blankDatabase({ openPglite, migrate })
  return { ...(await openPglite({ dataDir: place.dataDir, engine: { image }, warn: refuse })), cluster: undefined }
}

function refuse(message: string, cause?: unknown): never {
  throw new Error(message, { cause })
}

/** Writes the ground for so many held grants, with a policy that lets one other person decide on who manages the Domain. */
export async function prepareLending(place: DatastorePlace, people: number): Promise<LendingGround> {
  const kind = 'url' in place ? 'postgres' : 'embedded'
  const plane = await startLending({ name: kind, missing: false, open: () => openPlace(place) })
  try {
    return await groundOf(plane, people)
  } finally {
    await plane.stop()
  }
}

async function groundOf(plane: LendingPlane, people: number): Promise<LendingGround> {
  plane.clock.nowMs = Date.now()
  const { domainId, root } = plane
  const project = await plane.projectWithDeployer()
  const cloudId = await plane.cloud()
  await plane.lendCloud(project, cloudId)
  const { deployer: subject } = project
  const place = { domainId, projectId: null }
  await plane.change(async ({ tuples }) => {
    await tuples.create({ subject, relation: 'admin', resource: `domain:${domainId}` }, place)
  })
  const actions = { 'access.admin': { required_approvals: 1 } }
  const { status, body } = await plane.call(root, `PUT /v1/domains/${domainId}/approval-policy`, { actions })
  if (status !== 200) throw new Error(JSON.stringify(body))
  const others: string[] = []
  while (others.length < people) others.push(await plane.principal(domainId))
  return {
    domainId,
    projectId: project.id,
    cloudId,
    requester: await ownToken(plane, subject),
    decider: await ownToken(plane, root),
    people: others,
  }
}

/** A token that the user made for itself. */
async function ownToken(plane: LendingPlane, subject: string): Promise<string> {
  const mint = createMint({ ids: plane.ids, keyring: plane.keyring, env: 'test' })
  const issued = await plane.change((change) =>
    issueToken(change, mint, {
      owner: { kind: 'user', id: subject.replace('user:', '') },
      name: 'own',
      scopes: ['*'],
      lifetime: lifetimeFrom(plane.clock.nowMs, undefined),
      createdAt: new Date(plane.clock.nowMs),
      isSelfIssued: true,
    }),
  )
  if (issued === undefined) throw new Error(`${subject} is gone`)
  return issued.token
}
