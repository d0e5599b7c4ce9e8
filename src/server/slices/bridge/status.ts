import { createHash } from 'node:crypto'
import {
  hasSecrets,
  readHostReport,
  type HostReport,
  type SecretVersions,
} from '../../../shared/bridges/host-report.ts'
import { namedSecrets } from '../../../shared/bridges/named-secrets.ts'
import { parseSecretRef } from '../../../shared/bridges/secret-ref.ts'
import type { bridge } from '../../../shared/contract/bridge.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import * as store from './status-store.ts'

/** Answers what each host of a bridge has applied. */
export function createBridgeStatus({
  datastore,
}: {
  readonly datastore: Datastore
}): Pick<Handlers<typeof bridge>, 'GetBridgeStatus'> {
  return {
    async GetBridgeStatus(ctx, { project_id: projectId, resource_id: resourceId }) {
      const db = datastore.pool('interactive')
      const resource = await store.findResource(db, { projectId, resourceId })
      if (resource === undefined) throw problem('resource_not_found')
      ctx.about(`resource:${resourceId}`, resource.domain_id)
      if (resource.kind !== 'bridge') throw problem('resource_not_bridge')
      const stored = await store.findConfig(db, resourceId)
      const wanted = await wantedOf(db, projectId, stored?.effective_config)
      const hosts = await store.listHosts(db, resourceId)
      return {
        resource_id: resourceId,
        fingerprint: wanted.fingerprint ?? null,
        updated_at: stored?.updated_at.toISOString() ?? null,
        secrets: { ...wanted.secrets },
        hosts: hosts.map((host) => statusOf(host, wanted)),
      }
    },
  }
}

/** What a host is to have. */
interface Wanted {
  /** Undefined: no configuration was ever made. */
  readonly fingerprint: string | undefined
  readonly secrets: SecretVersions
  /** References whose secret or version does not exist. */
  readonly missing: readonly string[]
}

const fingerprintOf = (text: string): string => createHash('sha256').update(text).digest('base64')

async function wantedOf(db: Db, projectId: string, config: string | undefined): Promise<Wanted> {
  if (config === undefined) return { fingerprint: undefined, secrets: {}, missing: [] }
  const refs = namedSecrets(JSON.parse(config) as Readonly<Record<string, unknown>>)
  const names = new Set(refs.map((ref) => parseSecretRef(ref)?.name ?? ''))
  const versions = await store.listVersions(db, projectId, [...names])
  const found = refs.map((ref) => [ref, versionOf(ref, versions)] as const)
  return {
    fingerprint: fingerprintOf(config),
    secrets: Object.fromEntries(found.filter(([, version]) => version > 0)),
    missing: found.filter(([, version]) => version === 0).map(([ref]) => ref),
  }
}

/** The version that the reference names, or the newest one; 0 where it does not exist. */
function versionOf(ref: string, versions: Awaited<ReturnType<typeof store.listVersions>>): number {
  const { name, version } = parseSecretRef(ref) ?? {}
  const own = versions.filter((one) => one.name === name).map((one) => one.version)
  if (version === undefined) return Math.max(0, ...own)
  return own.includes(version) ? version : 0
}

type StoredHost = Awaited<ReturnType<typeof store.listHosts>>[number]
type HostStatus = Awaited<ReturnType<Handlers<typeof bridge>['GetBridgeStatus']>>['hosts'][number]

const UNREADABLE = 'The host sent a report that cannot be read.'
const NOTHING: HostReport = { fingerprint: null, applied_at: null }

function statusOf({ node_id, name, value, reported_at }: StoredHost, wanted: Wanted): HostStatus {
  const reported = value === null ? NOTHING : readHostReport(JSON.parse(value))
  const report = reported ?? NOTHING
  return {
    node_id,
    name,
    in_sync: reported !== undefined && isInSync(reported, wanted),
    fingerprint: report.fingerprint,
    applied_at: report.applied_at,
    secrets: { ...secretsOf(report, wanted) },
    error: errorOf(reported, wanted),
    reported_at: reported_at?.toISOString() ?? null,
  }
}

/** The versions that the host reports; those that are wanted, where it reports their fingerprint. */
function secretsOf(report: HostReport, { secrets }: Wanted): SecretVersions {
  if (report.secrets_fingerprint === undefined) return report.secrets ?? {}
  return hasSecrets(report, secrets, fingerprintOf) ? secrets : {}
}

function isInSync(report: HostReport, { fingerprint, secrets, missing }: Wanted): boolean {
  if (report.error !== undefined || report.fingerprint !== (fingerprint ?? null)) return false
  return missing.length === 0 && hasSecrets(report, secrets, fingerprintOf)
}

/** The host's own error first, because it says more than that something is missing. */
function errorOf(report: HostReport | undefined, { missing }: Wanted): string | null {
  if (report === undefined) return UNREADABLE
  const [ref] = missing
  return report.error ?? (ref === undefined ? null : `${ref} does not exist.`)
}
