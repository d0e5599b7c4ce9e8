import { isDeepStrictEqual } from 'node:util'
import type { AgentDeps } from '../../../client/agent/agent-deps.ts'
import type { Member } from '../../../client/agent/member.ts'
import { sendPaths } from '../../../client/agent/reports/paths.ts'
import { pathsReport, type PathsReport } from '../../../shared/mesh/paths-report.ts'
import type { PeerWay } from './paths.ts'

/** A peer, and how packets reach it. */
export interface WayOfPeer extends PeerWay {
  readonly nodeId: string
}

/** The reports of how packets reach the peers. */
export interface PathReports {
  /** Takes what holds now, and reports it where it differs. */
  take(ways: readonly WayOfPeer[]): void
}

/** Sessions that come and go together are one report. */
const SETTLED_MS = 3_000
/** Pause between two reports, and after one that was not taken. */
const PAUSE_MS = 10_000

/** Makes the reports. A way counts once it has held for a moment. */
export function createPathReports({
  agent,
  member,
}: {
  readonly agent: AgentDeps
  readonly member: Member
}): PathReports {
  const { clock, tasks } = agent
  let present: PathsReport = pathsReport([])
  let sinceMs = clock.now()
  let reported: PathsReport | undefined
  let nextMs = 0

  async function send(): Promise<void> {
    let sent = present
    nextMs = clock.now() + PAUSE_MS
    // A try that is repeated sends what holds by then.
    if (await sendPaths(agent, member, () => (sent = present))) reported = sent
  }

  return {
    take(ways) {
      const reached = ways.filter(({ way }) => way !== 'none').map(({ nodeId, relay }) => ({ nodeId, relay }))
      const report = pathsReport(reached)
      if (!isDeepStrictEqual(report, present)) sinceMs = clock.now()
      present = report
      const isSettled = clock.now() - sinceMs >= SETTLED_MS
      if (isSettled && clock.now() >= nextMs && !isDeepStrictEqual(present, reported)) tasks.track(send())
    },
  }
}
