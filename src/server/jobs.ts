import type { Logger } from 'pino'
import type { Backend } from './backend.ts'
import { startLeadership, type Leadership } from './leading/leadership.ts'
import { createEphemeralSweeper } from './nodes/ephemeral-sweeper.ts'
import type { LeaderJob } from './ports/leadership.ts'

/** Everything that one process of a deployment does for all of them. */
function leaderJobs(backend: Backend, log: Logger): readonly LeaderJob[] {
  return [
    createEphemeralSweeper({
      ...backend,
      onFailure: (error, nodeId) => log.warn({ err: error, node_id: nodeId }, 'an ephemeral node could not be removed'),
    }),
  ]
}

/** Stands for leadership, and does the leader's jobs as long as this process leads. */
export function startJobs(backend: Backend, log: Logger): Leadership {
  return startLeadership({
    ...backend.candidacy,
    jobs: leaderJobs(backend, log),
    hinted: '',
    reports: {
      // The only process of a deployment has nothing to tell.
      onLeading: () => log[backend.datastore.kind === 'embedded' ? 'debug' : 'info']('this process leads'),
      onLost: (cause) => log.warn({ err: cause }, 'this process no longer leads'),
      onJobFailure: (job, error) => log.warn({ err: error, job }, 'a job of the leader failed; it is tried again'),
      onFailure: (error) => log.warn({ err: error }, 'this process could not stand for leadership; it tries again'),
    },
  })
}
