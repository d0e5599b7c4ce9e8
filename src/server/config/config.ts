import { backupScheduleOf, backupScratchOf, type BackupSchedule } from './backup.ts'
import type { ReleaseSigner } from '../ports/release-verifier.ts'
import { refuseHalfReleases, type ReleasesSource } from './releases.ts'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Rates } from '../ports/rates.ts'
import type { StaleAnswersOptions } from '../ports/stale-answers.ts'
import type { MasterKeySource } from '../ports/master-key-source.ts'
import { defaultDataDirectory } from '../../shared/data-directory.ts'
import { ConfigError } from './config-error.ts'
import { envOf, optionOf, OPTION_NAMES, type OptionName, type OptionValue } from './options.ts'
import { fromArgv, fromEnv, fromFile, type Said, type Sayings } from './sources.ts'
import { refuseHalfSecretStore, secretStoreOf, type SecretStoreSettings } from './secret-store.ts'
import { refuseHalfSigner, signerOf, type SignerSettings } from './signer.ts'
import { tracingOf, type TracingSettings } from './tracing.ts'
import { isLoopback, type Address, type LogLevel, type NatsServers } from './values.ts'
import type { SizedPool } from '../ports/datastore.ts'

/** Bounds of one pool's connections. */
export interface PoolSize {
  readonly min: number
  readonly max: number
}

/** The datastore. */
export type Storage =
  | { readonly kind: 'memory' }
  | { readonly kind: 'embedded'; readonly directory: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** The SpiceDB that decides, and how to connect to it. */
export interface SpicedbSettings {
  /** `host:port`, the host in brackets where it is an IPv6 address. */
  readonly endpoint: string
  readonly tokenFile: string
  /** `caPath`: certificate authorities to trust instead of the well-known ones. */
  readonly security: { readonly kind: 'plaintext' | 'tls'; readonly caPath: string | undefined }
}

/** The NATS that stores the event stream, and how to connect to it. */
export interface NatsSettings {
  /** `host:port`, the host in brackets where it is an IPv6 address; one at least. */
  readonly servers: readonly string[]
  readonly credentialsFile: string | undefined
  /** `caPath`: certificate authorities to trust instead of the well-known ones. */
  readonly security: { readonly kind: 'plaintext' | 'tls'; readonly caPath: string | undefined }
  /** 1 to 5. */
  readonly replicas: number
  /** Undefined: only the server's bound applies. */
  readonly bytesMax: number | undefined
}

/** Files with a certificate and its key. */
export interface TlsFiles {
  readonly kind: 'files'
  readonly certPath: string
  readonly keyPath: string
}

/** Where the TLS certificate comes from. `directory`: of the server's own certificate authority. */
type TlsSource = TlsFiles | { readonly kind: 'self-signed'; readonly directory: string }

/** The server's configuration, parsed once and frozen. */
export interface Config {
  readonly listen: Address
  readonly opsListen: Address | undefined
  /** Undefined: the address that the server listens on. */
  readonly baseUrl: string | undefined
  readonly dataDir: string
  readonly storage: Storage
  readonly pools: Readonly<Record<SizedPool, PoolSize>>
  /** Undefined: the embedded authorization engine. */
  readonly spicedb: SpicedbSettings | undefined
  /** Undefined: a log of events in the datastore. */
  readonly nats: NatsSettings | undefined
  /** Undefined: secrets are kept in the datastore. */
  readonly secretStore: SecretStoreSettings | undefined
  readonly signer: SignerSettings
  /** Undefined: plain HTTP. */
  readonly tls: TlsSource | undefined
  /** CIDR networks. */
  readonly trustedProxies: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** `host` or `host:port`: ACME directories that may be in a private network. */
  readonly acmeAllowHosts: readonly string[]
  /** `host` or `host:port`: endpoints of webhooks that may be in a private network. */
  readonly webhookAllowHosts: readonly string[]
  /** None: there are no releases and no rollouts. */
  readonly releaseSigners: readonly ReleaseSigner[]
  readonly releasesSource: ReleasesSource | undefined
  /** `host` or `host:port`: sources of releases that may be in a private network. */
  readonly releasesAllowHosts: readonly string[]
  /** File with the trusted root of Sigstore; undefined: the packaged one. */
  readonly sigstoreTrustedRoot: string | undefined
  /** The `acr` values that an acknowledgement needs where the Domain does not say; none: no step-up. */
  readonly stepUpAcr: readonly string[]
  readonly bootstrapTokenFile: string
  /** File to which the first start writes the administrator's one-time password when there is no terminal. */
  readonly initialPasswordFile: string
  /** Whether the provider of local accounts is on. */
  readonly hasBundledProvider: boolean
  readonly env: string
  readonly masterKey: MasterKeySource
  readonly rates: Rates
  readonly staleChecks: StaleAnswersOptions
  readonly staleStates: StaleAnswersOptions
  /** Most hints of changed state in a second, 1 to 1,000,000. */
  readonly hintsPerSecond: number
  /** How often the capacity of every Domain is sampled, 1 s to 10 min. */
  readonly capacityIntervalMs: number
  /** 1 to 3650, for the platform's own chain. */
  readonly auditRetentionDays: number
  readonly logLevel: LogLevel
  /** Undefined: the server makes no backups by itself. */
  readonly backups: BackupSchedule | undefined
  /** Where the embedded datastore is copied for a backup. */
  readonly backupScratchDir: string
  /** Undefined: no spans are recorded. */
  readonly tracing: TracingSettings | undefined
  readonly isDev: boolean
  readonly isDemo: boolean
  /** Only the configuration is checked. */
  readonly isCheck: boolean
}

export interface ConfigInput {
  /** What follows `serve`. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Effective user id; undefined where there is none. */
  readonly uid?: number | undefined
}

/** Values by option; undefined where the option is not set and has no fallback. */
type Values = { readonly [N in OptionName]: OptionValue<N> | undefined }

/**
 * Parses flags over environment over file over defaults, strictly.
 *
 * @throws ConfigError for unknown, malformed, secret or contradictory settings, each in one sentence.
 */
export function parseConfig(input: ConfigInput): Config {
  const said = gather(input)
  const values = parseValues(said)
  refuseContradictions(values, said)
  const dataDir = resolve(values.dataDir ?? defaultDataDir(input))
  return deepFreeze({
    listen: required(values.listen),
    opsListen: values.opsListen,
    baseUrl: values.baseUrl,
    dataDir,
    storage: storageOf(values, dataDir),
    pools: poolsOf(values, said),
    spicedb: spicedbOf(values),
    nats: natsOf(values),
    secretStore: secretStoreOf(values),
    signer: signerOf(values),
    tls: tlsOf(values, dataDir),
    trustedProxies: required(values.trustedProxies),
    allowedOrigins: required(values.allowedOrigins),
    acmeAllowHosts: required(values.acmeAllowHosts),
    webhookAllowHosts: required(values.webhookAllowHosts),
    releaseSigners: required(values.releaseSigners),
    releasesSource: values.releasesSource,
    releasesAllowHosts: required(values.releasesAllowHosts),
    sigstoreTrustedRoot: values.sigstoreTrustedRoot,
    stepUpAcr: required(values.stepUpAcr),
    bootstrapTokenFile: resolve(values.bootstrapTokenFile ?? join(dataDir, 'bootstrap-token')),
    initialPasswordFile: join(dataDir, 'initial-password'),
    hasBundledProvider: required(values.bundledProvider),
    env: required(values.env),
    masterKey: masterKeyOf(values, dataDir),
    rates: ratesOf(values),
    staleChecks: {
      ttlMs: required(values.authzCheckStaleTtl),
      entriesMax: required(values.authzCheckStaleMaxEntries),
    },
    staleStates: {
      ttlMs: required(values.stateStaleTtl),
      entriesMax: required(values.stateStaleMaxEntries),
    },
    hintsPerSecond: required(values.hintsPerSecond),
    capacityIntervalMs: required(values.capacitySampleInterval),
    auditRetentionDays: required(values.auditRetentionDays),
    logLevel: required(values.logLevel),
    backups: backupScheduleOf(values),
    backupScratchDir: backupScratchOf(values, dataDir),
    tracing: tracingOf(input.env),
    isDev: required(values.dev),
    isDemo: required(values.demo),
    isCheck: required(values.check),
  })
}

function gather({ argv, env }: ConfigInput): Sayings {
  const flags = fromArgv(argv)
  const variables = fromEnv(env)
  const file = flags.get('config') ?? variables.get('config')
  const fromConfig = file === undefined ? [] : fromFile(file.text)
  return new Map([...fromConfig, ...variables, ...flags])
}

function parseValues(said: Sayings): Values {
  return Object.fromEntries(OPTION_NAMES.map((name) => [name, parseValue(name, said.get(name))])) as Values
}

function parseValue(name: OptionName, said: Said | undefined): unknown {
  const { parse, fallback } = optionOf(name)
  const text = said?.text ?? fallback
  if (text === undefined) return undefined
  const parsed = parse(text)
  if ('value' in parsed) return parsed.value
  throw new ConfigError(said?.exitCode ?? 1, `${said?.place ?? envOf(name)} must be ${parsed.mustBe}.`)
}

/** Options with a fallback always have a value. */
function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an option without a fallback was required')
  return value
}

/** Two settings that exclude each other, or one that requires another. */
function refuseContradictions(values: Values, said: Sayings): void {
  const where = (name: OptionName): string => said.get(name)?.place ?? envOf(name)
  const together = (one: OptionName, other: OptionName): boolean =>
    values[one] !== undefined && values[other] !== undefined
  if (together('masterKey', 'masterKeyFile'))
    throw new ConfigError(1, `${where('masterKey')} and ${where('masterKeyFile')} are both set; keep one of them.`)
  refuseHalfTls(values)
  refuseHalfSpicedb(values)
  refuseHalfNats(values)
  refusePlainNats(values)
  refuseHalfSecretStore(values)
  refuseHalfSigner(values)
  refuseHalfReleases(values)
  if (values.dev === true) refuseWithDev(values, where)
  else refusePlainHttp(values)
}

function refuseHalfTls({ tlsCert, tlsKey, tlsSelfSigned }: Values): void {
  if (tlsSelfSigned === true && (tlsCert !== undefined || tlsKey !== undefined))
    throw new ConfigError(
      1,
      '--tls-self-signed makes a certificate and --tls-cert and --tls-key give one; keep one of the two.',
    )
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new ConfigError(1, 'TLS needs both --tls-cert and --tls-key; one of them is missing.')
}

function refuseHalfSpicedb({ spicedbEndpoint, spicedbTokenFile, spicedbCa, spicedbPlaintext }: Values): void {
  const isSaid = spicedbTokenFile !== undefined || spicedbCa !== undefined || spicedbPlaintext === true
  if (spicedbEndpoint === undefined && isSaid)
    throw new ConfigError(1, 'What is said of SpiceDB needs --spicedb-endpoint; it is missing.')
  if (spicedbEndpoint !== undefined && spicedbTokenFile === undefined)
    throw new ConfigError(1, 'SpiceDB needs both --spicedb-endpoint and --spicedb-token-file; the file is missing.')
  if (spicedbCa !== undefined && spicedbPlaintext === true)
    throw new ConfigError(1, '--spicedb-ca is for TLS and --spicedb-plaintext is without; keep one of them.')
}

function refuseHalfNats({ natsUrl, natsCredentialsFile, natsCa, natsPlaintext, natsMaxBytes }: Values): void {
  const isSaid = [natsCredentialsFile, natsCa, natsMaxBytes].some((value) => value !== undefined) || natsPlaintext
  if (natsUrl === undefined && isSaid) throw new ConfigError(1, 'What is said of NATS needs --nats-url; it is missing.')
  if (natsUrl === undefined || natsPlaintext !== true) return
  if (isTls(natsUrl, natsCa))
    throw new ConfigError(1, '--nats-plaintext is without TLS and tls:// or --nats-ca is with it; keep one of them.')
}

/** Credentials and events must not cross a network in the clear by accident. */
function refusePlainNats({ natsUrl, natsCa, natsPlaintext }: Values): void {
  if (natsUrl === undefined || natsPlaintext === true || isTls(natsUrl, natsCa)) return
  const remote = natsUrl.servers.find(({ host }) => !isLoopback(host))
  if (remote !== undefined)
    throw new ConfigError(
      1,
      `NATS on ${remote.host} without TLS would carry credentials and events in the clear; give tls://${remote.host}, or --nats-plaintext if that is meant.`,
    )
}

function refuseWithDev(values: Values, where: (name: OptionName) => string): void {
  const lasting = (
    [
      'databaseUrl',
      'spicedbEndpoint',
      'natsUrl',
      'secretStoreUrl',
      'signerUrl',
      'dataDir',
      'masterKey',
      'masterKeyFile',
      'bootstrapTokenFile',
      'backupDir',
    ] as const
  ).find((name) => values[name] !== undefined)
  if (lasting !== undefined)
    throw new ConfigError(1, `--dev keeps everything in memory; leave out ${where(lasting)} or --dev.`)
  if (values.tlsSelfSigned === true)
    throw new ConfigError(
      1,
      `--dev serves this machine only and keeps no files; leave out ${where('tlsSelfSigned')} or --dev.`,
    )
  if (!isLoopback(required(values.listen).host))
    throw new ConfigError(1, `--dev serves this machine only; ${where('listen')} must name a loopback address.`)
}

/** Credentials must not cross a network in the clear by accident. */
function refusePlainHttp(values: Values): void {
  const { host, port } = required(values.listen)
  const hasTls = values.tlsCert !== undefined || values.tlsSelfSigned === true
  const isCovered = hasTls || values.insecureHttp === true || values.trustedProxies?.length !== 0
  if (isCovered || isLoopback(host)) return
  throw new ConfigError(
    1,
    `Plain HTTP on ${host}:${port} would carry credentials in the clear; give --tls-cert and --tls-key, or --tls-self-signed, or --trusted-proxies when a proxy ends TLS, or --insecure-http if that is meant.`,
  )
}

function storageOf(values: Values, dataDir: string): Storage {
  if (values.dev === true) return { kind: 'memory' }
  if (values.databaseUrl !== undefined) return { kind: 'postgres', url: values.databaseUrl }
  return { kind: 'embedded', directory: dataDir }
}

function masterKeyOf(values: Values, dataDir: string): MasterKeySource {
  if (values.dev === true) return { kind: 'throwaway' }
  if (values.masterKey !== undefined) return { kind: 'given', key: values.masterKey }
  if (values.masterKeyFile !== undefined) return { kind: 'file', path: resolve(values.masterKeyFile) }
  return { kind: 'own', path: join(dataDir, 'master.key') }
}

/** Without TLS only on this machine, or by an explicit option: the key would cross a network in the clear. */
function spicedbOf(values: Values): SpicedbSettings | undefined {
  const { spicedbEndpoint: at, spicedbTokenFile: tokenFile, spicedbCa, spicedbPlaintext } = values
  if (at === undefined || tokenFile === undefined) return undefined
  const isPlain = spicedbPlaintext === true || (isLoopback(at.host) && spicedbCa === undefined)
  return {
    endpoint: hostPortOf(at),
    tokenFile: resolve(tokenFile),
    security: { kind: isPlain ? 'plaintext' : 'tls', caPath: spicedbCa && resolve(spicedbCa) },
  }
}

function natsOf(values: Values): NatsSettings | undefined {
  const { natsUrl, natsCredentialsFile: file, natsCa, natsReplicas, natsMaxBytes } = values
  if (natsUrl === undefined) return undefined
  return {
    servers: natsUrl.servers.map(hostPortOf),
    credentialsFile: file && resolve(file),
    security: { kind: isTls(natsUrl, natsCa) ? 'tls' : 'plaintext', caPath: natsCa && resolve(natsCa) },
    replicas: required(natsReplicas),
    bytesMax: natsMaxBytes,
  }
}

function isTls({ scheme }: NatsServers, ca: string | undefined): boolean {
  return scheme === 'tls' || ca !== undefined
}

function hostPortOf({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function tlsOf({ tlsCert, tlsKey, tlsSelfSigned }: Values, dataDir: string): Config['tls'] {
  if (tlsSelfSigned === true) return { kind: 'self-signed', directory: join(dataDir, 'tls') }
  return tlsCert === undefined || tlsKey === undefined
    ? undefined
    : { kind: 'files', certPath: tlsCert, keyPath: tlsKey }
}

function poolsOf(values: Values, said: Sayings): Config['pools'] {
  const size = (min: PoolBound, max: PoolBound): PoolSize => {
    const bounds = { min: required(values[min]), max: required(values[max]) }
    const place = (name: OptionName): string => said.get(name)?.place ?? envOf(name)
    if (bounds.max < 1) throw new ConfigError(1, `${place(max)} must be at least 1.`)
    if (bounds.min > bounds.max)
      throw new ConfigError(
        1,
        `${place(min)} (${bounds.min}) is above ${place(max)} (${bounds.max}); lower the one or raise the other.`,
      )
    return bounds
  }
  return {
    interactive: size('poolInteractiveMinConns', 'poolInteractiveMaxConns'),
    worker: size('poolWorkerMinConns', 'poolWorkerMaxConns'),
    bulk: size('poolBulkMinConns', 'poolBulkMaxConns'),
  }
}

function ratesOf(values: Values): Rates {
  return {
    failedCredentials: required(values.rateLimitFailedCredentials),
    signIn: required(values.rateLimitSignIn),
    serviceTokens: required(values.rateLimitServiceTokens),
    registrations: required(values.rateLimitRegistrations),
    node: required(values.rateLimitNode),
    domain: required(values.rateLimitDomain),
    writes: required(values.rateLimitWrites),
    reads: required(values.rateLimitReads),
  }
}

type PoolBound = Extract<OptionName, `pool${string}`>

function defaultDataDir({ env, uid }: ConfigInput): string {
  return defaultDataDirectory({ uid, stateHome: env['XDG_STATE_HOME'], home: env['HOME'] || homedir() })
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value) as unknown[])
    if (typeof member === 'object' && member !== null && !Buffer.isBuffer(member)) deepFreeze(member)
  return Object.freeze(value)
}
