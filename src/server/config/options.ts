import type { Rate } from '../ports/rates.ts'
import { backupInterval, backupKeep } from './backup.ts'
import { baoOptions } from './bao-options.ts'
import type { Option } from './option.ts'
import { acrValues, releaseSigners, releasesSource } from './releases.ts'
import {
  address,
  auditDays,
  byteSize,
  connections,
  credentialEnv,
  databaseUrl,
  duration,
  entries,
  hintRate,
  hosts,
  logLevel,
  masterKey,
  natsUrls,
  networks,
  on,
  origin,
  origins,
  path,
  rate,
  remoteAddress,
  replicas,
  sampleInterval,
  signerKind,
  storePath,
  transitKey,
} from './values.ts'

function option<T>(row: Option<T>): Option<T> {
  return row
}

function toggle(describe: string): Option<boolean> {
  return { parse: on, fallback: 'false', describe }
}

function poolKnob(fallback: string, describe: string): Option<number> {
  return { parse: connections, placeholder: 'N', fallback, describe }
}

function rateKnob(fallback: string, describe: string): Option<Rate> {
  return { parse: rate, placeholder: 'RATE', fallback, describe }
}

const SECRET_STORE = baoOptions('secret-store', {
  service: 'the secret store',
  plaintext: 'Reach a secret store on another machine without TLS: secrets travel in the clear',
})
const SIGNER = baoOptions('signer', {
  service: 'the signer',
  plaintext: 'Reach a signer on another machine without TLS: its token travels in the clear',
})

/** All options, in the order of help and docs. */
export const OPTIONS = {
  config: option({
    parse: path,
    placeholder: 'FILE',
    describe: 'YAML or JSON file with any of these settings, under their file keys',
  }),
  listen: option({
    parse: address,
    placeholder: 'HOST:PORT',
    fallback: '127.0.0.1:7443',
    describe: 'Where the API listens; port 0 picks a free one, no host means loopback',
  }),
  opsListen: option({
    parse: address,
    placeholder: 'HOST:PORT',
    describe: 'Where /metrics is served, on a listener of its own; without it there are no metrics',
  }),
  baseUrl: option({
    parse: origin,
    placeholder: 'URL',
    fallbackWords: 'the address that it listens on',
    describe: 'Origin under which clients reach the server',
  }),
  dataDir: option({
    parse: path,
    placeholder: 'DIR',
    fallbackWords: '/var/lib/ctl for root, else $XDG_STATE_HOME/ctl, else ~/.local/state/ctl',
    describe: 'Where the embedded datastore, the master key and the bootstrap token are kept',
  }),
  databaseUrl: option({
    parse: databaseUrl,
    placeholder: 'URL',
    fallbackWords: 'the embedded datastore',
    describe:
      'PostgreSQL (15 or newer) to use instead of the embedded datastore; on the command line without a password',
  }),
  spicedbEndpoint: option({
    parse: remoteAddress,
    placeholder: 'HOST:PORT',
    fallbackWords: 'the embedded authorization engine',
    describe:
      'SpiceDB to decide who may do what, instead of the embedded engine; a start gives it every tuple that it lacks. Needs --spicedb-token-file',
  }),
  spicedbTokenFile: option({ parse: path, placeholder: 'FILE', describe: 'File with the preshared key of SpiceDB' }),
  spicedbCa: option({
    parse: path,
    placeholder: 'FILE',
    fallbackWords: 'the well-known authorities; on loopback no TLS',
    describe: 'Certificates in PEM that vouch for SpiceDB',
  }),
  spicedbPlaintext: toggle('Reach a SpiceDB on another machine without TLS: its key travels in the clear'),
  natsUrl: option({
    parse: natsUrls,
    placeholder: 'URL,…',
    fallbackWords: 'a log of events in the datastore',
    describe:
      'NATS (2.9 or newer, with JetStream) to keep the stream of events in, nats:// or tls://; several servers of one cluster, separated by commas. Without credentials: they go into --nats-credentials-file',
  }),
  natsCredentialsFile: option({
    parse: path,
    placeholder: 'FILE',
    describe: 'File that only this account may read: a .creds file, the seed of an nkey, user:password, or a token',
  }),
  natsCa: option({
    parse: path,
    placeholder: 'FILE',
    fallbackWords: 'the well-known authorities',
    describe: 'Certificates in PEM that vouch for NATS; asks for TLS',
  }),
  natsPlaintext: toggle('Reach a NATS on another machine without TLS: credentials and events travel in the clear'),
  natsReplicas: option({
    parse: replicas,
    placeholder: 'N',
    fallback: '1',
    describe: 'Servers of the NATS cluster that store each event, from 1 to 5',
  }),
  natsMaxBytes: option({
    parse: byteSize,
    placeholder: 'SIZE',
    fallbackWords: 'as much as the account may store',
    describe: 'Most that the stream of events may take in NATS, such as 10GiB; the oldest events go first',
  }),
  secretStoreUrl: option({
    parse: origin,
    placeholder: 'URL',
    fallbackWords: 'sealed rows in the datastore',
    describe:
      'OpenBao or Vault to keep secrets in, by its KV engine of version 2. Needs a login: a token file, an AppRole or a Kubernetes role',
  }),
  secretStoreMount: option({
    parse: storePath,
    placeholder: 'PATH',
    fallbackWords: 'secret',
    describe: 'Path of the KV engine of version 2',
  }),
  secretStoreNamespace: SECRET_STORE.namespace,
  secretStoreCa: SECRET_STORE.ca,
  secretStorePlaintext: SECRET_STORE.plaintext,
  secretStoreTokenFile: SECRET_STORE.tokenFile,
  secretStoreRoleId: SECRET_STORE.roleId,
  secretStoreSecretIdFile: SECRET_STORE.secretIdFile,
  secretStoreKubernetesRole: SECRET_STORE.kubernetesRole,
  secretStoreJwtFile: SECRET_STORE.jwtFile,
  secretStoreLoginMount: SECRET_STORE.loginMount,
  signerUrl: option({
    parse: transitKey,
    placeholder: 'URL',
    fallbackWords: 'keys sealed in the datastore',
    describe:
      'Key of a Transit engine of OpenBao or Vault to sign events, session tokens and audit chains with: the origin, the path of the engine and the name of the key. Needs a login, unless the secret store is at the same origin: then its login and authorities apply',
  }),
  signerAdopt: option({
    parse: signerKind,
    placeholder: 'sealed|transit',
    fallbackWords: 'a start is refused when the keys come from another signer',
    describe: 'Move the signing keys, by overlap, to keys sealed in the datastore or to the key of --signer-url',
  }),
  signerNamespace: SIGNER.namespace,
  signerCa: SIGNER.ca,
  signerPlaintext: SIGNER.plaintext,
  signerTokenFile: SIGNER.tokenFile,
  signerRoleId: SIGNER.roleId,
  signerSecretIdFile: SIGNER.secretIdFile,
  signerKubernetesRole: SIGNER.kubernetesRole,
  signerJwtFile: SIGNER.jwtFile,
  signerLoginMount: SIGNER.loginMount,
  tlsCert: option({
    parse: path,
    placeholder: 'FILE',
    describe: 'Certificate chain in PEM; read again on SIGHUP. Needs --tls-key',
  }),
  tlsKey: option({ parse: path, placeholder: 'FILE', describe: 'Private key of --tls-cert in PEM' }),
  tlsSelfSigned: toggle(
    'Serve TLS with a certificate of its own authority, made in the data directory; the start prints the --ca-sha256 that clients need',
  ),
  insecureHttp: toggle('Serve plain HTTP to other machines: credentials travel in the clear'),
  trustedProxies: option({
    parse: networks,
    placeholder: 'CIDR,…',
    fallback: '',
    describe: 'Networks of the proxies whose forwarded headers are believed',
  }),
  allowedOrigins: option({
    parse: origins,
    placeholder: 'URL,…',
    fallback: '',
    describe: 'Further origins whose pages may change things with a session cookie',
  }),
  acmeAllowHosts: option({
    parse: hosts,
    placeholder: 'HOST,…',
    fallback: '',
    describe:
      'Hosts of ACME directories that may be in a private network, with or without a port; others must be at public addresses',
  }),
  webhookAllowHosts: option({
    parse: hosts,
    placeholder: 'HOST,…',
    fallback: '',
    describe:
      'Hosts of webhooks that may be in a private network and may use plain http, with or without a port; others must be at public addresses',
  }),
  releaseSigners: option({
    parse: releaseSigners,
    placeholder: 'SIGNERS',
    fallback: '',
    describe:
      'Whose signatures on releases of the agent count: the issuer and the identity of the certificate, separated by a blank; several by commas; {version} in an identity is the version of the release. Without: no releases and no rollouts',
  }),
  releasesSource: option({
    parse: releasesSource,
    placeholder: 'DIR|URL',
    fallbackWords: 'releases come by ctl admin artifacts import alone',
    describe: 'Folder or https address with the signed index.json of releases, which the leader reads again and again',
  }),
  releasesAllowHosts: option({
    parse: hosts,
    placeholder: 'HOST,…',
    fallback: '',
    describe:
      'Hosts of --releases-source that may be in a private network, with or without a port; others must be at public addresses',
  }),
  sigstoreTrustedRoot: option({
    parse: path,
    placeholder: 'FILE',
    fallbackWords: 'the one of the public Sigstore instance, as packaged',
    describe: 'Trusted root of Sigstore in JSON, by which attestations of releases are verified',
  }),
  stepUpAcr: option({
    parse: acrValues,
    placeholder: 'ACR,…',
    fallback: '',
    describe:
      'The sign-in, by its acr values, that acknowledging a violation of integrity needs in Domains that say nothing of their own',
  }),
  bootstrapTokenFile: option({
    parse: path,
    placeholder: 'FILE',
    fallbackWords: '<data-dir>/bootstrap-token',
    describe: 'Where the first start writes the API token of the bootstrap identity; must not exist',
  }),
  bundledProvider: option({
    parse: on,
    fallback: 'true',
    isOn: true,
    describe: 'Whether people sign in with local accounts, by the OpenID provider that comes with the server',
  }),
  env: option({
    parse: credentialEnv,
    placeholder: 'NAME',
    fallback: 'local',
    describe: 'Name of this installation, part of every credential that it mints',
  }),
  masterKey: option({
    parse: masterKey,
    placeholder: 'BASE64',
    notInArgv: 'SERVICE_MASTER_KEY or --master-key-file',
    describe: 'Master key, 32 bytes in base64, that wraps every other key',
  }),
  masterKeyFile: option({
    parse: path,
    placeholder: 'FILE',
    fallbackWords: '<data-dir>/master.key, made at the first start',
    describe: 'File with the master key in base64',
  }),
  auditRetentionDays: option({
    parse: auditDays,
    placeholder: 'DAYS',
    fallback: '400',
    describe: "How long the platform's own audited decisions are kept; a Domain's are kept as long as the Domain says",
  }),
  logLevel: option({
    parse: logLevel,
    placeholder: 'LEVEL',
    fallback: 'info',
    describe: 'Least severe log records to write: fatal, error, warn, info, debug, trace or silent',
  }),
  poolInteractiveMinConns: poolKnob('0', 'Connections kept open for requests'),
  poolInteractiveMaxConns: poolKnob(
    '20',
    'Most connections for requests; of 8 or more, 4 are set aside for nodes and kept open',
  ),
  poolWorkerMinConns: poolKnob('0', 'Connections kept open for background jobs'),
  poolWorkerMaxConns: poolKnob('10', 'Most connections for background jobs'),
  poolBulkMinConns: poolKnob('0', 'Connections kept open for imports and exports'),
  poolBulkMaxConns: poolKnob('5', 'Most connections for imports and exports'),
  rateLimitFailedCredentials: rateKnob(
    '30/min',
    'Credentials that do not resolve, from one address (IPv6: one /64); then 429 instead of 401. 0: no limit',
  ),
  rateLimitSignIn: rateKnob(
    '30/min',
    'Sign-ins, device codes and pages that take a code, from one address (IPv6: one /64). 0: no limit',
  ),
  rateLimitServiceTokens: rateKnob('60/min', 'Tokens that one service identity asks for with assertions. 0: no limit'),
  rateLimitRegistrations: rateKnob('500/s', 'Registrations with one join token. 0: no limit'),
  rateLimitNode: rateKnob('10/s', 'Calls of one node. 0: no limit'),
  rateLimitDomain: rateKnob('5000/s', 'Calls of all nodes of one Domain. 0: no limit'),
  rateLimitWrites: rateKnob('200/s', 'Changes by one principal. 0: no limit'),
  rateLimitReads: rateKnob('5000/s', 'Reads, checks and lookups by one principal. 0: no limit'),
  authzCheckStaleTtl: option({
    parse: duration,
    placeholder: 'DURATION',
    fallback: '30s',
    env: 'AUTHZ_CHECK_STALE_TTL',
    describe:
      'How long a check may be answered as it was last while the authorization engine is out of reach. 0: never',
  }),
  authzCheckStaleMaxEntries: option({
    parse: entries,
    placeholder: 'N',
    fallback: '10000',
    env: 'AUTHZ_CHECK_STALE_MAX_ENTRIES',
    describe: 'Checks remembered for that, the oldest going first. 0: none',
  }),
  stateStaleTtl: option({
    parse: duration,
    placeholder: 'DURATION',
    fallback: '5m',
    describe:
      'How long a node may be given the state that it pulled last while the datastore is out of reach. 0: never',
  }),
  stateStaleMaxEntries: option({
    parse: entries,
    placeholder: 'N',
    fallback: '10000',
    describe: 'Nodes whose state is remembered for that, the one that was pulled longest ago going first. 0: none',
  }),
  hintsPerSecond: option({
    parse: hintRate,
    placeholder: 'N',
    fallback: '2000',
    describe:
      'Most hints of changed state in a second, of all Domains together and shared fairly between them: what changes meanwhile is merged',
  }),
  capacitySampleInterval: option({
    parse: sampleInterval,
    placeholder: 'DURATION',
    fallback: '15s',
    describe: 'How often each replica samples the capacity of every Domain, 1s to 10m',
  }),
  backupDir: option({
    parse: path,
    placeholder: 'DIR',
    fallbackWords: 'no backups but those of ctl admin backup create',
    describe: 'Directory in which the leader makes a backup again and again, without the master key; must exist',
  }),
  backupInterval: option({
    parse: backupInterval,
    placeholder: 'DURATION',
    fallback: '24h',
    describe: 'Time from one backup in --backup-dir to the next, 1m to 31d',
  }),
  backupKeep: option({
    parse: backupKeep,
    placeholder: 'N',
    fallback: '7',
    describe:
      'Backups that stay in --backup-dir, the newest ones; only files named as the schedule names them are removed',
  }),
  backupScratchDir: option({
    parse: path,
    placeholder: 'DIR',
    fallbackWords: 'a directory in <data-dir>',
    describe: 'Where the embedded datastore is copied for a backup: it needs as much space as the datastore takes',
  }),
  dev: toggle('Keep everything in memory, on loopback only; stores a context named dev and prints a join token'),
  demo: toggle('Add a simulated fleet of 50 nodes and a catalogue, so that there is something to look at'),
  check: toggle('Say whether the configuration is valid, and start nothing'),
}

export type OptionName = keyof typeof OPTIONS
export type OptionValue<N extends OptionName> = (typeof OPTIONS)[N] extends Option<infer T> ? T : never

export const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[]

/** The row of an option, as data. */
export function optionOf(name: OptionName): Option {
  return OPTIONS[name]
}

/** `opsListen` as `--ops-listen`. */
export function flagOf(name: OptionName): string {
  return `--${optionOf(name).isOn === true ? 'no-' : ''}${words(name).join('-')}`
}

/** `opsListen` as `SERVICE_OPS_LISTEN`. */
export function envOf(name: OptionName): string {
  return optionOf(name).env ?? `SERVICE_${words(name).join('_').toUpperCase()}`
}

/** `opsListen` as `ops_listen`, its key in the file. */
export function fileKeyOf(name: OptionName): string {
  return words(name).join('_')
}

function words(name: OptionName): string[] {
  return name.replaceAll(/[A-Z]/g, ' $&').toLowerCase().split(' ')
}
