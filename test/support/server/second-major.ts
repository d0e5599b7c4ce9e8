import { z } from 'zod'
import type { groups as groupsV1 } from '../../../src/shared/contract/groups.ts'
import type { nodeEvents as nodeEventsV1 } from '../../../src/shared/contract/node-events.ts'
import { Instant, KiB, pageOf, pageQuery, Slug, Uuid, uuidField } from '../../../src/shared/contract/fields.ts'
import {
  check,
  defineSurface,
  OPERATOR,
  type Operation,
  type StreamAnswer,
  type StreamSink,
} from '../../../src/shared/contract/operation.ts'
import { canonicalize } from '../../../src/shared/canonical-json.ts'
import { signedEnvelope } from '../../../src/shared/events/envelope.ts'
import { readSigned, type ReceivedEnvelope } from '../../../src/shared/events/signed-envelope.ts'
import type { Members } from '../../../src/shared/shapes.ts'
import { mounted, type Handlers, type MountedSurface } from '../../../src/server/http/request-context.ts'
import type { Signer } from '../../../src/server/ports/signer.ts'

/** The same surface and handlers below `/v2`: whatever the edge does, it does for both. */
export function atV2({ name, operations, handlers }: MountedSurface): MountedSurface {
  const moved = Object.entries(operations).map(([id, operation]) => [
    id,
    { ...operation, path: operation.path.replace(/^\/v1\//, '/v2/') as Operation['path'] },
  ])
  return { name, operations: Object.fromEntries(moved), handlers }
}

const GroupV2 = z
  .object({ id: Uuid, domain_id: Uuid, handle: z.string(), label: z.string(), created_at: Instant })
  .meta({ id: 'GroupV2' })
const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })

/** Groups as a second major version might have them: `slug` is called `handle`, and `display_name` `label`. */
const groupsV2 = defineSurface('groups', 'Subjects that are granted roles together', {
  CreateGroup: {
    method: 'POST',
    path: '/v2/domains/{id}/groups',
    summary: 'Create a group in a Domain',
    credentials: OPERATOR,
    params: ofDomain,
    body: z.strictObject({ handle: Slug, label: z.string().min(1).max(128) }),
    bodyBytesMax: 8 * KiB,
    gate: check('manage', 'domain:{path.id}'),
    audit: { relation: 'group.create', when: 'all' },
    responses: { 201: GroupV2 },
    headers: { Location: 'Path of the new group' },
    problems: ['domain_not_found', 'slug_conflict'],
  },
  ListGroups: {
    method: 'GET',
    path: '/v2/domains/{id}/groups',
    summary: 'List the groups of a Domain',
    credentials: OPERATOR,
    params: ofDomain,
    query: z.strictObject(pageQuery),
    gate: check('read', 'domain:{path.id}'),
    audit: { relation: 'group.list', when: 'all' },
    paging: { limit: 'rejected', cursor: 'operation' },
    responses: { 200: pageOf(GroupV2) },
    problems: [],
  },
})

const nodeEventsV2 = defineSurface('events', 'Signed events for nodes', {
  GetNodeEvents: {
    method: 'GET',
    path: '/v2/nodes/{id}/events',
    summary: 'Follow the events of a node',
    credentials: [...OPERATOR, 'nsk'],
    unauthenticated: 'unauthorized',
    params: z.strictObject({ id: uuidField('invalid_node_id', 'Node') }),
    gate: { ...check('node-agent', 'node:{path.id}'), ownNode: { param: 'id', mismatch: 'node_id_mismatch' } },
    audit: { relation: 'node_events.subscribe', when: 'all', object: 'node:{path.id}' },
    requestHeaders: { 'Last-Event-ID': 'Go on from here' },
    responses: { 200: { media: 'text/event-stream', describe: 'Frames until either side ends it', streams: true } },
    problems: ['invalid_last_event_id', 'session_limit_exceeded', 'node_not_found', 'event_stream_unavailable'],
  },
})

/** The handlers of `/v1` over the services that `/v2` shares with it. */
export interface FirstMajor {
  readonly groups: Handlers<typeof groupsV1>
  readonly events: Handlers<typeof nodeEventsV1>
  readonly signer: Pick<Signer, 'sign' | 'keys'>
}

type AnswerV1 = Awaited<ReturnType<FirstMajor['groups']['CreateGroup']>>

const groupOf = ({ id, domain_id, slug, display_name, created_at }: AnswerV1) => ({
  id,
  domain_id,
  handle: slug,
  label: display_name,
  created_at,
})

/** A second major version: its own shapes over the services of the first. */
export function secondMajor({ groups, events, signer }: FirstMajor): readonly MountedSurface[] {
  const groupHandlers: Handlers<typeof groupsV2> = {
    async CreateGroup(ctx, { id, body }) {
      const created = await groups.CreateGroup(ctx, { id, body: { slug: body.handle, display_name: body.label } })
      ctx.header('Location', `/v2/domains/${id}/groups/${created.id}`)
      return groupOf(created)
    },
    async ListGroups(ctx, input) {
      const { items, next_cursor } = await groups.ListGroups(ctx, input)
      return { items: items.map(groupOf), next_cursor }
    },
  }
  const eventHandlers: Handlers<typeof nodeEventsV2> = {
    GetNodeEvents: async (ctx, input) => inSecondMajor(await events.GetNodeEvents(ctx, input), signer),
  }
  return [mounted(groupsV2, groupHandlers), mounted(nodeEventsV2, eventHandlers)]
}

/** Carries a stream of `/v1` in the envelopes of `/v2`: its order and its positions stay. */
function inSecondMajor(stream: StreamAnswer, signer: FirstMajor['signer']): StreamAnswer {
  return {
    farewell: () => stream.farewell(),
    ended: (how) => stream.ended(how),
    start(sink) {
      let before = Promise.resolve()
      let waiting = 0
      const reshaped: StreamSink = {
        unsent: () => sink.unsent() + waiting,
        drained: async () => {
          await before
          await sink.drained()
        },
        end: () => void before.then(() => sink.end()),
        write(bytes) {
          waiting += bytes.length
          before = before.then(async () => {
            sink.write(Buffer.from(await reshapedFrame(Buffer.from(bytes).toString(), signer)))
            waiting -= bytes.length
          })
          return true
        },
      }
      stream.start(reshaped)
    },
  }
}

async function reshapedFrame(frame: string, signer: FirstMajor['signer']): Promise<string> {
  const [, head, data] = /^(id: \d+\nevent: \w+\n)data: (.*)\n\n$/.exec(frame) ?? []
  // A comment has no envelope.
  if (head === undefined || data === undefined) return frame
  const read = readSigned(data)
  if (!read.ok) throw new Error(`an envelope of v1 is ${read.fault}`)
  return `${head}data: ${await signedAsV2(read.signed.envelope, signer)}\n\n`
}

async function signedAsV2(envelope: ReceivedEnvelope, signer: FirstMajor['signer']): Promise<string> {
  const { kid } = signer.keys()[0] ?? { kid: '' }
  const canonical = canonicalize({ ...envelope, api_version: 'v2', kid, payload: payloadV2(envelope.payload) })
  const { signature } = await signer.sign(Buffer.from(canonical))
  return signedEnvelope(canonical, signature.toString('base64url'))
}

/** The hint as a second major version might have it. */
function payloadV2({ reason, blocks, peers }: Members): Members {
  return { is_complete: reason !== 'resync', changed: { blocks, peers } }
}
