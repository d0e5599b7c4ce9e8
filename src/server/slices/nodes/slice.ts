import type { Logger } from 'pino'
import type { Slice } from '../../http/slice.ts'
import { createEphemeralSweeper } from './ephemeral-sweeper.ts'
import { createKeySweeper } from './key-sweeper.ts'
import { createNskResolver, type NskResolverDeps } from './nsk-resolver.ts'
import { createPeerMarker } from './peer-marker.ts'
import { createReachabilitySampler, createSamplesSweeper } from './reachability-sampler.ts'
import { createReachabilitySweeper } from './reachability-sweeper.ts'
import { createRecoveryAnnouncer } from './recovery-announcer.ts'
import { createNodes, type NodesDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

export interface NodesPorts extends Omit<NodesDeps, 'onBack' | 'onMarksFailure'>, NskResolverDeps {
  readonly log: Logger
}

/** Nodes: enrolment, keys, heartbeats and reachability. */
export function createSlice({ log, ...ports }: NodesPorts): Slice<'nodes'> {
  const { datastore, unitOfWork, clock, ids } = ports
  const recoveries = createRecoveryAnnouncer({
    unitOfWork,
    clock,
    ids,
    onFailure: (error) => log.warn({ err: error }, 'nodes that are healthy again could not be announced'),
  })
  const nodes = createNodes({
    ...ports,
    onBack: (nodeIds) => recoveries.add(nodeIds),
    onMarksFailure: (error) => log.warn({ err: error }, 'the peer revisions of Domains could not be read'),
  })
  return {
    handlers: { nodes: nodes.handlers },
    resolvers: [createNskResolver(ports)],
    jobs: [
      createReachabilitySweeper({ clock, ids }),
      createReachabilitySampler(clock),
      createSamplesSweeper(clock),
      createPeerMarker({ clock }),
      createKeySweeper({ clock }),
      createEphemeralSweeper({
        datastore,
        clock,
        ids,
        onFailure: (error, nodeId) =>
          log.warn({ err: error, node_id: nodeId }, 'an ephemeral node could not be removed'),
      }),
    ],
    start: () => nodes.start(),
    drain: () => nodes.drain(),
    flush: () => recoveries.settled(),
  }
}
