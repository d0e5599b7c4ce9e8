import { statSync } from 'node:fs'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { connect, errors, type Authenticator, type NatsConnection } from '@nats-io/transport-node'
import { BootError } from '../../ports/boot-error.ts'
import { authenticatorOf } from './credentials.ts'

/** The addresses of NATS and how to connect. */
export interface NatsAddress {
  /** `host:port`, one at least. */
  readonly servers: readonly string[]
  readonly credentialsFile: string | undefined
  /** `caPath`: certificates in PEM that vouch for it; the roots of the runtime where absent. */
  readonly security: { readonly kind: 'plaintext' | 'tls'; readonly caPath: string | undefined }
}

export interface NatsConnected {
  readonly connection: NatsConnection
  readonly manager: JetStreamManager
}

/** Deadline for an answer of JetStream; the caller retries. */
export const REQUEST_MS = 4_000
const CONNECT_MS = 5_000
const RECONNECT_EVERY_MS = 250
/** A dead connection is closed after ten seconds. */
const PING_EVERY_MS = 5_000
const PINGS_UNANSWERED_MAX = 1
const FLOOR = [2, 9] as const

/**
 * Connects, and again whenever the connection is lost, forever.
 * @throws BootError in one sentence.
 */
export async function connectNats(address: NatsAddress, warn: (message: string) => void): Promise<NatsConnected> {
  const authenticator = authenticate(address.credentialsFile, warn)
  const connection = await dial(address, authenticator)
  try {
    refuseOld(connection)
    return { connection, manager: await openManager(connection) }
  } catch (error) {
    await connection.close()
    throw error
  }
}

function authenticate(path: string | undefined, warn: (message: string) => void): Authenticator | undefined {
  if (path === undefined) return undefined
  try {
    if ((statSync(path).mode & 0o077) !== 0)
      warn(`others may read the file ${path} of --nats-credentials-file: chmod 600 it`)
    return authenticatorOf(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new BootError(
      1,
      `The file ${path} of --nats-credentials-file cannot be read (${code}); check the path and its mode.`,
      error,
    )
  }
}

async function dial({ servers, security }: NatsAddress, authenticator?: Authenticator): Promise<NatsConnection> {
  const { kind, caPath } = security
  try {
    return await connect({
      name: 'ctl',
      servers: [...servers],
      ...(authenticator && { authenticator }),
      ...(kind === 'tls' && { tls: tlsOf(servers, caPath) }),
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      reconnectTimeWait: RECONNECT_EVERY_MS,
      pingInterval: PING_EVERY_MS,
      maxPingOut: PINGS_UNANSWERED_MAX,
      noAsyncTraces: true,
    })
  } catch (error) {
    throw dialFailure(error)
  }
}

/**
 * The certificate must be for one of the servers that were named. The client looks for `localhost` in it where a server is
 * named by its address, and announces members of a cluster by theirs.
 */
function tlsOf(servers: readonly string[], caPath: string | undefined): object {
  const hosts = servers.map((server) => server.replace(/:\d+$/, '').replaceAll(/^\[|\]$/g, ''))
  return {
    ...(caPath !== undefined && { caFile: caPath }),
    checkServerIdentity: (host: string, certificate: PeerCertificate) =>
      hosts.some((each) => checkServerIdentity(each, certificate) === undefined)
        ? undefined
        : checkServerIdentity(host, certificate),
  }
}

function dialFailure(error: unknown): BootError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
  const text = `${error instanceof Error ? error.message : String(error)} ${cause}`
  if (error instanceof errors.AuthorizationError || /authorization violation|authentication|nkey|jwt/i.test(text))
    return new BootError(1, 'NATS refuses the credentials; see what --nats-credentials-file holds.', error)
  if (/certificate|self.signed|issuer|altname|tls|ssl/i.test(text))
    return new BootError(
      1,
      'NATS cannot be reached by TLS: its certificate is not vouched for, or it has none; see --nats-ca and --nats-url.',
      error,
    )
  return new BootError(8, 'NATS does not answer at --nats-url: start it, or see whether the address fits.', error)
}

function refuseOld({ info }: NatsConnection): void {
  const [major = 0, minor = 0] = (info?.version ?? '').split('.').map(Number)
  const [floorMajor, floorMinor] = FLOOR
  if (major > floorMajor || (major === floorMajor && minor >= floorMinor)) return
  throw new BootError(1, `NATS ${info?.version} is too old: use ${FLOOR.join('.')} or newer.`)
}

async function openManager(connection: NatsConnection): Promise<JetStreamManager> {
  const without = 'NATS has no JetStream here: switch it on in the server (jetstream {}), and for the account.'
  if (connection.info?.jetstream !== true) throw new BootError(1, without)
  try {
    return await jetstreamManager(connection, { timeout: REQUEST_MS })
  } catch (error) {
    if (error instanceof Error && error.name === 'JetStreamNotEnabled') throw new BootError(1, without, error)
    throw new BootError(8, 'JetStream does not answer at --nats-url: see the log of the NATS server.', error)
  }
}
