import { problem } from '../../../shared/problems.ts'
import type { secrets } from '../../../shared/contract/secrets.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { SecretUser, SecretUsers } from '../../ports/secret-users.ts'
import type { SecretWrites, WrittenSecret } from '../../ports/secret-writes.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { holdProject } from '../../sql/hold-project.ts'
import { byName } from '../../sql/keyset.ts'
import { projectSecretPath } from '../../sql/project-secrets.ts'
import { assertRoom, deprivedOf, newestOf, ownerOf, toAnswer, type WholeSecret } from './secret.ts'
import * as store from './store.ts'

export interface SecretsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly secretWrites: SecretWrites
  /** Every slice that stores references to secrets. */
  readonly secretUsers: readonly SecretUsers[]
}

/** Serves the secrets of Projects, by name. None of its answers has a value. */
export function createSecrets(deps: SecretsDeps): Handlers<typeof secrets> {
  const { datastore, ids, secretWrites, secretUsers } = deps
  const db = () => datastore.pool('interactive')

  /** Adds versions and users to secrets of one Project. */
  async function whole(at: Db, projectId: string, found: readonly store.SecretRecord[]): Promise<WholeSecret[]> {
    const versions = await store.listVersions(
      at,
      found.map(({ id }) => id),
    )
    const names = found.map(({ name }) => name)
    const users: SecretUser[] = []
    for (const one of secretUsers) users.push(...(await one.find(at, { projectId, names })))
    return found.map((secret) => ({
      secret,
      versions: versions.filter(({ secret_id: id }) => id === secret.id),
      users: users.filter(({ name }) => name === secret.name),
    }))
  }

  /** The secret as it is, which must exist. */
  async function wholeOf(at: Db, secret: store.SecretRecord | undefined): Promise<WholeSecret> {
    if (secret === undefined) throw problem('secret_not_found')
    const [one] = await whole(at, secret.project_id, [secret])
    if (one === undefined) throw problem('secret_not_found')
    return one
  }

  /** Writes the row of a version that is in the store. */
  async function own(ctx: RequestContext, given: Given, written: WrittenSecret): Promise<WholeSecret> {
    const { id, name, project_id: projectId } = given.secret
    return ctx.change(async (change) => {
      const domainId = await holdProject(change.db, projectId)
      if (domainId === undefined) throw problem('project_not_found')
      await written.claim(change)
      await keepSecret(change, given)
      const version = { secret_id: id, version: written.version, created_at: new Date(ctx.nowMs) }
      await store.insertVersion(change.db, { ...version, created_by: ctx.caller.subject })
      const payload = { secret_id: id, project_id: projectId, name, version: written.version }
      change.emit({ event: 'SecretVersionCreated', domainId, aggregate: `secret:${id}`, payload })
      ctx.about(`secret:${id}`, domainId)
      ctx.note({ version: written.version })
      return wholeOf(change.db, given.secret)
    })
  }

  return {
    async PutSecret(ctx, { id: projectId, name, body: { value } }) {
      const found = await store.findSecret(db(), { projectId, name })
      const at = new Date(ctx.nowMs)
      const secret = { id: ids.next(), project_id: projectId, name, created_at: at, ...found, updated_at: at }
      const given = { secret, isNew: found === undefined }
      const request = {
        owner: ownerOf({ projectId, name }),
        path: projectSecretPath(secret.id),
        bytes: Buffer.from(value, 'utf8'),
        base: async (tx: Db) => baseOf(tx, given),
      }
      return toAnswer(await secretWrites.write(request, (written) => own(ctx, given, written)))
    },

    ListSecrets: (ctx, { id: projectId }) =>
      listPage(ctx, async (range) => whole(db(), projectId, await store.listSecrets(db(), projectId, range)), {
        positionOf: ({ secret }) => byName.positionOf(secret),
        toAnswer,
      }),

    async GetSecret(ctx, { id: projectId, name }) {
      const found = await wholeOf(db(), await store.findSecret(db(), { projectId, name }))
      ctx.about(`secret:${found.secret.id}`)
      return toAnswer(found)
    },

    async DeleteSecret(ctx, { id: projectId, name, version }) {
      await ctx.change(async (change) => {
        const domainId = await holdProject(change.db, projectId)
        const found = await wholeOf(change.db, await store.lockSecret(change.db, { projectId, name }))
        const { id } = found.secret
        ctx.about(`secret:${id}`, domainId ?? null)
        const deleted = deletedOf(found, version)
        const users = deprivedOf(found, deleted).map(({ object }) => object)
        if (users.length > 0) throw problem('secret_in_use', { users: [...new Set(users)].toSorted() })
        if (deleted === undefined) await store.deleteSecret(change.db, id)
        else await store.deleteVersion(change.db, id, deleted)
        const owner = ownerOf({ projectId, name })
        await secretWrites.destroyBehind(change, { owner, path: projectSecretPath(id), version: deleted })
        const payload = { secret_id: id, project_id: projectId, name, version: deleted ?? null }
        change.emit({ event: 'SecretDeleted', domainId: domainId ?? null, aggregate: `secret:${id}`, payload })
      })
    },
  }
}

/** What a deletion takes: a version, or with the only version the secret, which is undefined. */
function deletedOf({ versions }: WholeSecret, version: number | undefined): number | undefined {
  if (version === undefined) return undefined
  if (versions.every((one) => one.version !== version)) throw problem('secret_not_found')
  return versions.length === 1 ? undefined : version
}

/** The secret that a write was prepared for, with the time of the write. */
interface Given {
  readonly secret: store.SecretRecord
  readonly isNew: boolean
}

/** Asserts that no other write and no deletion came first: the version would be at the path of another secret, or of none. */
function assertStill({ secret, isNew }: Given, now: store.SecretRecord | undefined): void {
  const isStill = isNew ? now === undefined : now?.id === secret.id
  if (!isStill) throw problem('secret_write_in_progress')
}

/** The newest version of the secret that the write was prepared for. */
async function baseOf(tx: Db, given: Given): Promise<number> {
  const { id, name, project_id: projectId } = given.secret
  assertStill(given, await store.findSecret(tx, { projectId, name }))
  const versions = await store.listVersions(tx, [id])
  assertRoom(versions)
  return newestOf(versions)
}

/** Keeps the secret as it is stored, or adds it. */
async function keepSecret(change: Change, given: Given): Promise<void> {
  const { secret, isNew } = given
  assertStill(given, await store.lockSecret(change.db, { projectId: secret.project_id, name: secret.name }))
  if (isNew) await store.insertSecret(change.db, secret)
  else await store.touchSecret(change.db, secret.id, secret.updated_at)
}
