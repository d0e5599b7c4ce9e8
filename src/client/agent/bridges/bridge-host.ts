import type { ReadBridge } from './own-bridges.ts'
import { hostReportKey, hostReportOf } from '../../../shared/bridges/host-report.ts'
import { attempt } from '../calls/attempt.ts'
import { digestOf } from './bridge-book.ts'
import type { Outcome } from '../calls/outcome.ts'
import type { HostedBridge, Member } from '../member.ts'
import type { AgentDeps, MemberDeps } from '../agent-deps.ts'
import { sendReport } from '../calls/deferred-reports.ts'
import { fetchSecrets } from './bridge-secrets.ts'

/** Pause before a host tries again what it could not apply. */
const RETRY_MS = 1_000

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
  if (!isDone) deps.tasks.schedule(RETRY_MS, async () => applyBridgeSoon(deps, node, { resourceId }))
}

/** Returns false if it is to be tried again after a pause. */
async function applyNewest<M extends Member>(deps: MemberDeps<M>, node: M, resourceId: string): Promise<boolean> {
  const bridge = node.bridges?.find(resourceId)
  if (bridge === undefined) return stop(deps, node, resourceId)
  const former = node.hosted.get(resourceId)
  const error = deps.actions.bridgeFault(node)
  if (error !== undefined) {
    const kept = former ?? NOTHING
    await report(deps, node, { resourceId, hosted: { ...kept, error } })
    return false
  }
  const isRefetched = node.refetching.delete(resourceId)
  const fetched = await fetchSecrets(deps, node, { bridge, known: isRefetched ? {} : (former?.secrets ?? {}) })
  const hosted = { ...appliedOf(deps, bridge, former), secrets: fetched.secrets, error: fetched.error }
  const isReported = await report(deps, node, { resourceId, hosted })
  return isReported && !fetched.isUnfinished
}

const NOTHING = { fingerprint: null, secrets: {}, appliedAt: null }

/** A configuration that the host runs already keeps its time. */
function appliedOf(
  { clock, statistics }: Pick<AgentDeps, 'clock' | 'statistics'>,
  { fingerprint }: ReadBridge,
  former: HostedBridge | undefined,
): Pick<HostedBridge, 'fingerprint' | 'appliedAt'> {
  if (former?.fingerprint === fingerprint) return former
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
  node.hosted.set(resourceId, hosted)
  const send = () => putReport(deps, node, { resourceId, hosted: node.hosted.get(resourceId) ?? hosted })
  return (await sendReport(deps, node, { name: hostReportKey(resourceId), send })) || node.isRevoked
}

function putReport<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { resourceId, hosted }: Reported,
): Promise<Outcome<unknown>> {
  const { fingerprint, secrets, appliedAt: applied_at, error } = hosted
  const value = hostReportOf({ fingerprint, secrets, applied_at, ...(error !== undefined && { error }) }, digestOf)
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
