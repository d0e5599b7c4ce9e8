import type { OwnCall } from './own-keys.ts'
import { freshPublicKey, type World } from './world.ts'

/** A call behind others of the same node. */
export interface Following {
  readonly what: string
  /** Happens before it. */
  readonly before?: (world: World, call: OwnCall) => Promise<unknown>
  /** Other members than those of the first call. */
  readonly members?: (body: object) => object
  readonly answer: string
  /** Whether it leaves every row as it is. */
  readonly keeps: boolean
}

const earlier = (ms: number) => (body: object) => {
  const { reported_at } = body as { readonly reported_at: string }
  return { endpoint: '198.51.100.8:51820', reported_at: new Date(Date.parse(reported_at) - ms).toISOString() }
}
const seenEarlier = (ms: number) => (body: object) => {
  const { observed, reported_at } = body as { readonly observed: readonly object[]; readonly reported_at: string }
  return {
    observed: observed.map((seen) => ({ ...seen, endpoint: '198.51.100.8:51820' })),
    reported_at: new Date(Date.parse(reported_at) - ms).toISOString(),
  }
}
const status = (what: string, answer: string, keeps: boolean): Following => ({
  what,
  members: () => ({ status: what.split(' ', 1)[0] }),
  answer,
  keeps,
})

const READ = 'it reads'

/** Calls in the order in which they come; a text says why there is none that a node has to keep (S0). */
export const ORDERS: Readonly<Record<string, readonly Following[] | string>> = {
  GetOpenapi: READ,
  GetNodeEvents: READ,
  GetNodeState: READ,
  GetNodeReachability: READ,
  GetNodePeerPSK: READ,
  PostNodePeerPSKs: READ,
  GetNodeSecret: READ,
  GetPlexdArtifact: READ,
  GetPlexdArtifactSignature: READ,
  PostNodeHeartbeat: 'the instant of its admission counts, which the server gives',
  PutNodeCapabilities: 'the last one that comes counts',
  PostNodeIntegrityViolations: 'each batch is kept',
  PutNodeStateReport: 'the last one that comes counts',
  PutNodeEndpoint: [
    { what: 'a report', answer: '200', keeps: false },
    { what: 'the same once more', answer: '200', keeps: true },
    { what: 'an older one, of another address', members: earlier(10_000), answer: '200', keeps: true },
    { what: 'a newer one, of that address', members: earlier(-1), answer: '200', keeps: false },
    { what: 'the first one once more', answer: '200', keeps: true },
  ],
  PutNodeObservedEndpoints: [
    { what: 'a report', answer: '200', keeps: false },
    { what: 'the same once more', answer: '200', keeps: true },
    { what: 'an older one, of another address', members: seenEarlier(10_000), answer: '200', keeps: true },
    { what: 'a newer one, of that address', members: seenEarlier(-1), answer: '200', keeps: false },
    { what: 'the first one once more', answer: '200', keeps: true },
  ],
  DeleteNodeStateReport: [
    { what: 'a deletion', answer: '204', keeps: false },
    { what: 'the same once more', answer: '404 report_not_found', keeps: true },
  ],
  PostKeysRotate: [
    { what: 'a completion', answer: '200', keeps: false },
    { what: 'the same once more', answer: '409 no_pending_rotation', keeps: true },
    {
      what: 'another one, before it is asked for',
      members: () => ({ public_key: freshPublicKey() }),
      answer: '409 no_pending_rotation',
      keeps: true,
    },
    {
      what: 'the first one, when the next is asked for',
      before: ({ make }, { nodeId: id }) => make('PostNodeKeysRotate', { id }),
      answer: '409 public_key_in_use',
      keeps: true,
    },
  ],
  PostNodeSecretKeyRotate: [
    {
      what: 'a rotation with the key that was replaced, when its successor was used',
      async before({ makeAs }, { nsk, nodeId: id }) {
        const { nsk: next } = (await makeAs(nsk, 'PostNodeSecretKeyRotate', { id })) as unknown as { nsk: string }
        await makeAs(next, 'GetNodeReachability', { id })
      },
      answer: '401 unauthorized',
      keeps: true,
    },
  ],
  PostExecutionCallback: [
    status('started before ack', '409 illegal_transition', true),
    status('succeeded before ack', '409 illegal_transition', true),
    status('ack', '204', false),
    status('ack once more', '204', true),
    status('succeeded before started', '409 illegal_transition', true),
    status('started', '204', false),
    status('ack after started', '409 illegal_transition', true),
    status('succeeded', '204', false),
    status('succeeded once more', '204', true),
    status('failed after succeeded', '409 illegal_transition', true),
    status('started after succeeded', '409 illegal_transition', true),
  ],
  PostSessionActivity: [
    { what: 'an activity', answer: '204', keeps: false },
    {
      what: 'the same once more, when the session is revoked',
      before: ({ make, projectId }, { input }) =>
        make('DeleteMediatedSession', { project_id: projectId, session_id: input['session_id'] }),
      answer: '409 session_already_revoked',
      keeps: true,
    },
  ],
}
