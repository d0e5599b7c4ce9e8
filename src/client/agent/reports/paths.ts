import { PATHS_KEY, type PathsReport } from '../../../shared/mesh/paths-report.ts'
import type { AgentDeps } from '../agent-deps.ts'
import { attempt } from '../calls/attempt.ts'
import { sendReport } from '../calls/deferred-reports.ts'
import type { Member } from '../member.ts'

/** Reports how packets reach the peers. `value` is asked for when the report is sent. Resolves with whether it was taken or kept. */
export function sendPaths(deps: AgentDeps, node: Member, value: () => PathsReport): Promise<boolean> {
  const { node_id: id } = node.identity
  const send = () =>
    attempt(deps, node, {
      operation: 'report',
      isRepeatable: true,
      isDeferred: true,
      call: (token) => deps.client.PutNodeStateReport({ id, key: PATHS_KEY, body: { value: value() } }, { token }),
    })
  return sendReport(deps, node, { name: PATHS_KEY, send })
}
