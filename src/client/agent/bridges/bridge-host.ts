import type { ReadBridge } from './own-bridges.ts'
import { HOST_ERROR_MAX, hostReportKey, hostReportOf } from '../../../shared/bridges/host-report.ts'
import { canonicalize } from '../../../shared/canonical-json.ts'
import { attempt } from '../calls/attempt.ts'
import { digestOf } from './bridge-book.ts'
import type { Outcome } from '../calls/outcome.ts'
import type { HeldSecrets, HostedBridge, Member } from '../member.ts'
import type { AgentDeps, MemberDeps } from '../agent-deps.ts'
import { sendReport } from '../calls/deferred-reports.ts'
import { fetchSecrets } from './bridge-secrets.ts'
import { providerKeysOf } from './provider-keys.ts'

/** Pause before a host tries again what it could not apply or report. It doubles with each failure. */
const RETRY_MS = 1_000
const RETRY_MS_MAX = 60_000

/** What is to be applied. `refetches`: also the secrets that the host has. */
interface Applying {
  readonly resourceId: string
  readonly refetches?: boolean
}

/** Applies the newest configuration of a bridge. What is requested meanwhile follows; bridges never overlap with themselves. */
export function applyBridgeSoon<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { resourceId, refetches }: Applying,
): void {
  if (refetches === true) node.refetching.add(resourceId)
  if (node.applying.has(resourceId)) return void node.applying.set(resourceId, 'again')
  deps.tasks.track(applyUntilNewest(deps, node, resourceId))
}

/** Deletes the report of a bridge that an earlier run hosted. */
export function deleteReportSoon<M extends Member>(deps: MemberDeps<M>, node: M, resourceId: string): void {
  if (!node.applying.has(resourceId)) deps.tasks.track(applyUntilNewest(deps, node, resourceId))
}

async function applyUntilNewest<M extends Member>(deps: MemberDeps<M>, node: M, resourceId: string): Promise<void> {
  let isDone = false
  do {
    node.applying.set(resourceId, 'once')
    isDone = await applyNewest(deps, node, resourceId)
  } while (node.applying.get(resourceId) === 'again' && !deps.until.aborted)
  node.applying.delete(resourceId)
  if (isDone) return void node.applyFailures.delete(resourceId)
  const failures = (node.applyFailures.get(resourceId) ?? 0) + 1
  node.applyFailures.set(resourceId, failures)
  const pauseMs = Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MS_MAX)
  deps.tasks.schedule(pauseMs, async () => {
    // Another number means that it was applied meanwhile, or has failed again and has a pause of its own.
    if (node.applyFailures.get(resourceId) === failures) applyBridgeSoon(deps, node, { resourceId })
  })
}

/** Returns false if it is to be tried again after a pause. */
async function applyNewest<M extends Member>(deps: MemberDeps<M>, node: M, resourceId: string): Promise<boolean> {
  const bridge = node.bridges?.find(resourceId)
  if (bridge === undefined) return stop(deps, node, resourceId)
  const former = node.hosted.get(resourceId) ?? NOTHING
  const isRefetched = node.refetching.delete(resourceId)
  const fetched = await fetchSecrets(deps, node, { bridge, known: isRefetched ? NO_SECRETS : former.secrets })
  // Those in use stay until all of the new ones are there.
  const isBehind = isRefetched && fetched.isUnfinished
  const values = valuesOf(fetched.secrets)
  const known = { ...former, publicKeys: providerKeysOf(bridge, values) }
  const fault = await deps.actions.applyBridge(node, { resourceId, bridge, secrets: values })
  if (fault !== undefined) {
    if (isBehind) node.refetching.add(resourceId)
    await report(deps, node, {
      resourceId,
      hosted: { ...known, secrets: isBehind ? former.secrets : fetched.secrets, error: fault },
    })
    return false
  }
  const hosted = { ...known, ...appliedOf(deps, bridge, former), secrets: fetched.secrets, error: fetched.error }
  return (await report(deps, node, { resourceId, hosted })) && !fetched.isUnfinished
}

const NO_SECRETS: HeldSecrets = new Map()
const NOTHING: HostedBridge = {
  fingerprint: null,
  secrets: NO_SECRETS,
  appliedAt: null,
  publicKeys: {},
  error: undefined,
  isReported: false,
}

function valuesOf(secrets: HeldSecrets): ReadonlyMap<string, Uint8Array> {
  return new Map([...secrets].map(([ref, { value }]) => [ref, value]))
}

/** A configuration that the host runs already keeps its time. */
function appliedOf(
  { clock, statistics }: Pick<AgentDeps, 'clock' | 'statistics'>,
  { fingerprint }: ReadBridge,
  former: HostedBridge,
): Pick<HostedBridge, 'fingerprint' | 'appliedAt'> {
  if (former.fingerprint === fingerprint) return former
  statistics.count('bridge_configs')
  return { fingerprint, appliedAt: new Date(clock.now()).toISOString() }
}

interface Reported {
  readonly resourceId: string
  readonly hosted: HostedBridge
}

async function report<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { resourceId, hosted }: Reported,
): Promise<boolean> {
  const former = node.hosted.get(resourceId)
  if (former?.isReported === true && isSameReport(former, hosted)) return true
  const unreported = { ...hosted, isReported: false }
  node.hosted.set(resourceId, unreported)
  const send = () => putReport(deps, node, { resourceId, hosted: node.hosted.get(resourceId) ?? hosted })
  const isReported = await sendReport(deps, node, { name: hostReportKey(resourceId), send })
  if (isReported && node.hosted.get(resourceId) === unreported) node.hosted.set(resourceId, { ...hosted, isReported })
  return isReported || node.isRevoked
}

function isSameReport(one: HostedBridge, other: HostedBridge): boolean {
  return canonicalize(reportOf(one)) === canonicalize(reportOf(other))
}

function reportOf({ fingerprint, secrets, appliedAt: applied_at, publicKeys, error }: HostedBridge) {
  const versions = Object.fromEntries([...secrets].map(([ref, { version }]) => [ref, version]))
  const value = {
    fingerprint,
    secrets: versions,
    applied_at,
    ...(Object.keys(publicKeys).length > 0 && { public_keys: { ...publicKeys } }),
    ...(error !== undefined && { error: reportable(error) }),
  }
  return hostReportOf(value, digestOf)
}

/** The beginning of an error, which may have the words of another program, as text that the server takes. */
function reportable(error: string): string {
  return error.slice(0, HOST_ERROR_MAX).toWellFormed().replaceAll('\u0000', '\uFFFD')
}

function putReport<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { resourceId, hosted }: Reported,
): Promise<Outcome<unknown>> {
  const value = reportOf(hosted)
  return attempt(deps, node, {
    operation: 'report',
    isRepeatable: true,
    isDeferred: true,
    call: (token) =>
      deps.client.PutNodeStateReport(
        { id: node.identity.node_id, key: hostReportKey(resourceId), body: { value } },
        { token },
      ),
  })
}

/** Stops what it ran for the bridge, and deletes the report. An earlier try may have succeeded without an answer. */
async function stop<M extends Member>(deps: MemberDeps<M>, node: M, resourceId: string): Promise<boolean> {
  const fault = await deps.actions.applyBridge(node, { resourceId, bridge: undefined, secrets: new Map() })
  if (fault !== undefined) return false
  node.hosted.delete(resourceId)
  node.refetching.delete(resourceId)
  node.deferred.delete(hostReportKey(resourceId))
  const outcome = await attempt(deps, node, {
    operation: 'report_deletion',
    isRepeatable: true,
    toleratedCodes: ['report_not_found'],
    call: (token) =>
      deps.client.DeleteNodeStateReport({ id: node.identity.node_id, key: hostReportKey(resourceId) }, { token }),
  })
  return outcome.ok || outcome.code === 'report_not_found' || node.isRevoked
}
