import type { Logger } from 'pino'
import { createAcmeDirectories } from '../adapters/acme-directories/acme-directories.ts'
import { createDnsNames } from '../adapters/outgoing-fetch/dns-names.ts'
import { createOutgoingFetch } from '../adapters/outgoing-fetch/outgoing-fetch.ts'
import { storedSubjects } from '../adapters/stored-subjects/stored-subjects.ts'
import { commandOnPages } from '../../shared/invocation.ts'
import { contract } from '../../shared/contract/index.ts'
import { bridgeSecretUsers } from '../bridges/secret-users.ts'
import type { Config } from '../config/config.ts'
import type { CsrfTokens } from '../http/auth/csrf.ts'
import type { ForeignRoutes } from '../http/pages/pages.ts'
import type { ApprovalKind } from '../ports/approval-kind.ts'
import type { OutgoingFetch } from '../ports/outgoing-fetch.ts'
import type { AuditEntry } from '../ports/unit-of-work.ts'
import { createProjectSecrets } from '../secrets/project-secrets.ts'
import { createCapacityParts, type CapacityParts } from '../slices/capacity/parts.ts'
import { writeServiceSignIns } from '../slices/identities/store.ts'
import { createLastUses } from '../http/auth/last-uses.ts'
import type { PasswordHashing } from '../slices/local-accounts/password-hash.ts'
import type { StreamMeter } from '../http/streams/stream-meter.ts'
import { createLentClouds, createLentCredentials } from '../slices/lending/lent.ts'
import { createAdmission } from '../slices/relation-tuples/admission.ts'
import { createGrantedTokens } from '../slices/tokens/granted.ts'
import { createMint } from '../slices/tokens/mint.ts'
import { createOwnedTokens } from '../slices/tokens/owned-tokens.ts'
import { requireScopes, SCOPES } from '../slices/tokens/scopes.ts'
import { createApprovalPorts, type ComposedApprovals } from './approval-ports.ts'
import type { Backend } from './backend.ts'
import { CONTENTS } from './contents.ts'
import { openExamples } from './contract-examples.ts'
import { readConsoleFiles } from './console-files.ts'
import { readRenderer } from './docs-renderer.ts'
import { createSecretWrites } from '../secrets/secret-writes.ts'
import { createSignInPorts } from './sign-in-ports.ts'
import type { SlicePorts } from './slices.ts'

export interface SlicePortsOptions {
  readonly config: Config
  /** Of the passwords of local accounts. */
  readonly hashing: PasswordHashing
  readonly log: Logger
  /** The origin under which clients reach the server. */
  readonly baseUrl: string
  /** Takes the audit rows of refusals that no answer waits for. */
  readonly onRefused: (entry: AuditEntry) => void
  /** How the command line is typed beside the server; `ctl` by default. */
  readonly command?: string | undefined
  /** Kinds of approvals beside those of the slices; none by default. */
  readonly approvalKinds?: readonly ApprovalKind[] | undefined
  /** Counts event streams; nobody by default. */
  readonly streamMeter?: StreamMeter | undefined
}

/** The ports of the slices, and what the edge needs of those who implement them. */
export interface ComposedPorts {
  readonly ports: SlicePorts
  readonly approvals: ComposedApprovals
  readonly csrfTokens: CsrfTokens
  readonly foreignRoutes: readonly ForeignRoutes[]
  /** What is known of the capacity of the Domains. */
  readonly capacity: CapacityParts
}

const UNMETERED: StreamMeter = { opened() {}, frame() {}, ended() {}, rejected() {} }

/** Collects every port by its name: adapters, values of the configuration, and what one slice implements for another. */
export function createSlicePorts(backend: Backend, options: SlicePortsOptions): ComposedPorts {
  const { log, baseUrl, hashing, onRefused } = options
  const adapters = adaptersOf(backend)
  const settings = settingsOf(options.config)
  const mint = createMint({ ...adapters, env: settings.env })
  const mintGranted = createGrantedTokens({ mint })
  const approvals = createApprovalPorts(backend, options)
  const signingIn = createSignInPorts(backend, { ...options, ...approvals.ports, mintGranted })
  const capacity = createCapacityParts(backend.ids, settings.capacityIntervalMs)
  const command = commandOnPages(options.command ?? 'ctl', baseUrl)
  const ports: SlicePorts = {
    ...adapters,
    ...settings,
    ...signingIn.ports,
    ...bridgePortsOf(backend, options.config, signingIn.ports.outgoingFetch),
    ...releasePortsOf(options.config),
    ...webhookPortsOf(options.config),
    log,
    baseUrl,
    hashing,
    onRefused,
    mint,
    mintGranted,
    ...approvals.ports,
    contract,
    contents: CONTENTS,
    renderer: readRenderer(),
    command,
    consoleFiles: readConsoleFiles(command),
    examples: openExamples(),
    ...capacity,
    meter: options.streamMeter ?? UNMETERED,
    secretWrites: createSecretWrites(adapters),
    secretUsers: [bridgeSecretUsers],
    lentCredentials: createLentCredentials(approvals.ports),
    lentClouds: createLentClouds(approvals.ports),
    admission: createAdmission({ subjects: storedSubjects, validateTuple: backend.engine.rules.validateTuple }),
    ownedTokens: createOwnedTokens(),
    requireScopes,
    scopes: SCOPES,
    serviceSignIns: createLastUses({
      write: (uses) => writeServiceSignIns(backend.datastore.pool('worker'), uses),
      onFailure: (error) => log.warn({ err: error }, 'the last sign-in of service identities could not be written'),
    }),
  }
  const { csrfTokens, foreignRoutes } = signingIn
  return { ports, approvals, csrfTokens, foreignRoutes, capacity }
}

function adaptersOf(backend: Backend) {
  const { datastore, unitOfWork, ids, clock, keyring, sealing, secretStore, signer, bus, feed: changeFeed } = backend
  const { authorizer, lookups, insight, reconciler, releaseVerifier } = backend
  const ofChanges = { datastore, unitOfWork, ids, clock, keyring, sealing, secretStore, signer, bus, changeFeed }
  return { ...ofChanges, authorizer, lookups, insight, reconciler, releaseVerifier, subjects: storedSubjects }
}

function bridgePortsOf({ datastore, secretStore, clock }: Backend, config: Config, fetch: OutgoingFetch) {
  const projectSecrets = createProjectSecrets({ datastore, secretStore })
  const allowedHosts = config.acmeAllowHosts
  const acmeDirectories = createAcmeDirectories({ fetch, secrets: projectSecrets, clock, allowedHosts })
  return { projectSecrets, acmeDirectories }
}

/** An index is longer, and may take more time, than what others are pointed at. */
const RELEASES_FETCH = { deadlineMs: 30_000, bodyBytesMax: 4 * 1024 * 1024 }

function releasePortsOf({ releasesSource, releasesAllowHosts }: Config) {
  return { releasesSource, releasesAllowHosts, releasesFetch: createOutgoingFetch(RELEASES_FETCH) }
}

/** Of an answer only the beginning is read. Receivers have 15 s (Standard Webhooks). */
const WEBHOOK_FETCH = { deadlineMs: 15_000, bodyBytesMax: 1024 }

function webhookPortsOf({ webhookAllowHosts, isDev }: Config) {
  const webhookFetch = createOutgoingFetch({ ...WEBHOOK_FETCH, publicNames: createDnsNames() })
  return { webhookAllowHosts, webhookAllowsLoopback: isDev, webhookFetch }
}

function settingsOf({
  env,
  rates,
  staleStates,
  hasBundledProvider,
  auditRetentionDays: retentionDays,
  capacityIntervalMs,
}: Config) {
  return { env, rates, staleStates, hasBundledProvider, retentionDays, capacityIntervalMs }
}
