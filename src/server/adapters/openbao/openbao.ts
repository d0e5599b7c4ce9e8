import { z } from 'zod'
import { secretStoreUnavailable, SecretVersionConflict, type SecretStore } from '../../ports/secret-store.ts'
import { assertDone, bodyOf, errorsOf, unusable } from './answers.ts'
import { BaoError } from './bao-error.ts'
import { createBaoConnection, type BaoAddress, type BaoAnswer } from './connection.ts'
import type { BaoLogin } from './logins.ts'
import { createBaoSession } from './session.ts'

export interface OpenBaoOptions {
  readonly address: BaoAddress
  /** Path of a KV engine of version 2. */
  readonly mount: string
  readonly login: BaoLogin
  /** Called at each renewal of the token and login that fails. */
  readonly onFailure: (error: unknown) => void
}

/** A store with connections and a token. */
export interface OpenedSecretStore extends SecretStore {
  close(): Promise<void>
}

/**
 * Versions that the engine keeps of a path. Its own default is 10: it would delete older ones without notice, although a
 * caller may still name them.
 */
const KEPT_VERSIONS = 1_000
const CAS_MISMATCH = 'check-and-set parameter did not match the current version'

const Written = z.object({ data: z.object({ version: z.number().int().positive() }) })
const Read = z.object({ data: z.object({ data: z.object({ value: z.base64() }) }) })
const Metadata = z.object({ data: z.object({ current_version: z.number().int().nonnegative() }) })
const Destroyed = z.object({ data: z.object({ data: z.null(), metadata: z.object({ version: z.number() }) }) })

/**
 * The secret store in OpenBao or Vault, by the HTTP API of KV version 2. A version is `{"value": <base64>}`.
 * Opens no connection yet.
 */
export function createOpenBao({ address, mount, login, onFailure }: OpenBaoOptions): OpenedSecretStore {
  const connection = createBaoConnection(address)
  const session = createBaoSession({ connection, login, onFailure: (error) => onFailure(asUnavailable(error)) })
  const at = (part: 'data' | 'metadata' | 'destroy', path: string): string =>
    `${encoded(mount)}/${part}/${encoded(path)}`

  /** Makes the path before its first version, so that no version is written under the default of the mount. */
  async function prepare(path: string): Promise<void> {
    const body = { max_versions: KEPT_VERSIONS, cas_required: true }
    assertDone(await session.send({ method: 'POST', path: at('metadata', path), body }))
  }

  return translated({
    kind: 'openbao',

    async put(path, bytes, cas) {
      if (cas === 0) await prepare(path)
      const body = { options: { cas }, data: { value: Buffer.from(bytes).toString('base64') } }
      const answer = await session.send({ method: 'POST', path: at('data', path), body })
      if (isCasMismatch(answer)) throw new SecretVersionConflict(`the newest version of ${path} is not ${cas}`)
      return bodyOf(answer, Written).data.version
    },

    async get(path, version) {
      const query = version === undefined ? '' : `?version=${version}`
      const answer = await session.send({ method: 'GET', path: at('data', path) + query })
      if (isAbsent(answer)) return undefined
      return Buffer.from(bodyOf(answer, Read).data.data.value, 'base64')
    },

    async newest(path) {
      const answer = await session.send({ method: 'GET', path: at('metadata', path) })
      return isAbsent(answer) ? 0 : bodyOf(answer, Metadata).data.current_version
    },

    async destroy(path, version) {
      assertDone(
        version === undefined
          ? await session.send({ method: 'DELETE', path: at('metadata', path) })
          : await session.send({ method: 'POST', path: at('destroy', path), body: { versions: [version] } }),
      )
    },

    async ping() {
      // A standby that forwards counts as active: 429 would otherwise be its answer.
      const health = await connection.send({ method: 'GET', path: 'sys/health?standbyok=true&perfstandbyok=true' })
      if (health.status === 503) throw new BaoError('sealed', 'the server is sealed (HTTP 503)')
      if (health.status !== 200) throw unusable(health)
      await session.assertValid()
    },

    async close() {
      session.close()
      await connection.close()
    },
  })
}

/** The store with the errors of its port. */
function translated(store: OpenedSecretStore): OpenedSecretStore {
  return {
    ...store,
    put: (path, bytes, cas) => inTermsOfPort(store.put(path, bytes, cas)),
    get: (path, version) => inTermsOfPort(store.get(path, version)),
    newest: (path) => inTermsOfPort(store.newest(path)),
    destroy: (path, version) => inTermsOfPort(store.destroy(path, version)),
    ping: () => inTermsOfPort(store.ping()),
  }
}

function inTermsOfPort<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw asUnavailable(error)
  })
}

function asUnavailable(error: unknown): unknown {
  return error instanceof BaoError ? secretStoreUnavailable(error.fault, error.message, error.cause) : error
}

function isCasMismatch(answer: BaoAnswer): boolean {
  return answer.status === 400 && errorsOf(answer)?.some((said) => said.includes(CAS_MISMATCH)) === true
}

/**
 * Whether the engine says that there is nothing. A 404 of a missing mount has a sentence in `errors`, and that of a proxy
 * is no JSON of the engine: neither may pass for a secret that does not exist.
 */
function isAbsent(answer: BaoAnswer): boolean {
  if (answer.status !== 404) return false
  return errorsOf(answer)?.length === 0 || Destroyed.safeParse(answer.body).success
}

/** Segments of a path, each encoded. */
function encoded(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
