import { constant, object, text, type Shape } from '../shapes.ts'
import type { MessageType } from './event-types.ts'

/** Members of the data of each type: ids, names and the path of the object in the API. */
export interface MessageData {
  'approval.requested': InDomain & {
    readonly approval_id: string
    readonly kind: string
    readonly action: string
    readonly object: string
    readonly requested_by: string
  }
  'capacity.crossed': InDomain & { readonly dimension: string }
  'integrity.opened': InDomain & {
    readonly violation_id: string
    readonly kind: string
    readonly node_id: string
    readonly node_name: string
  }
  'node.offline': InDomain & AboutNode & { readonly last_heartbeat_at: string }
  'node.online': InDomain & AboutNode & { readonly offline_since: string }
  'rollout.halted': InDomain & { readonly rollout_id: string; readonly slug: string; readonly version: string }
  'token.expiring': InDomain & {
    readonly token_id: string
    readonly name: string
    readonly owner: string
    readonly expires_at: string
  }
  'ctl.test': InDomain & { readonly webhook_id: string }
}

interface InDomain {
  readonly domain_id: string
  readonly domain_slug: string
  readonly path: string
}

interface AboutNode {
  readonly node_id: string
  readonly node_name: string
}

/** The body of a delivery. */
export interface Message<Type extends MessageType = MessageType> {
  readonly type: Type
  /** RFC 3339: when it happened, which is not when it is sent. */
  readonly timestamp: string
  readonly data: MessageData[Type]
}

const id = (description: string): Shape<string> => text({ format: 'uuid', description })
const instant = (description: string): Shape<string> => text({ format: 'date-time', description })
const inDomain = {
  domain_id: id('Id of the Domain'),
  domain_slug: text({ description: 'Name of the Domain for scripts' }),
  path: text({ description: 'Path of the object in the API' }),
}
const aboutNode = { node_id: id('Id of the node'), node_name: text({ description: 'Name of the node' }) }

function message<Type extends MessageType>(
  type: Type,
  data: Shape<MessageData[Type]>,
  description: string,
): Shape<Message<Type>> {
  return object<Message<Type>>({ type: constant(type), timestamp: instant('When it happened'), data }, description)
}

/** The body of each type. */
export const MESSAGE_SHAPES: { readonly [Type in MessageType]: Shape<Message<Type>> } = {
  'approval.requested': message(
    'approval.requested',
    object<MessageData['approval.requested']>({
      ...inDomain,
      approval_id: id('Id of the approval'),
      kind: text({ description: 'Kind of the approval' }),
      action: text({ description: 'What waits for a decision' }),
      object: text({ description: 'What it is done to, `<type>:<id>`' }),
      requested_by: text({ description: 'Subject that wants it' }),
    }),
    'Something waits for a decision.',
  ),
  'capacity.crossed': message(
    'capacity.crossed',
    object<MessageData['capacity.crossed']>({
      ...inDomain,
      dimension: text({ description: 'The dimension that reached 80 % of its target' }),
    }),
    'A Domain uses 80 % of a target. After a restart of the server it is sent again for a dimension that is still above.',
  ),
  'integrity.opened': message(
    'integrity.opened',
    object<MessageData['integrity.opened']>({
      ...inDomain,
      violation_id: id('Id of the violation'),
      kind: text({ description: '`binary`, `hook` or `host_key`' }),
      ...aboutNode,
    }),
    'A node reported a deviation for the first time.',
  ),
  'node.offline': message(
    'node.offline',
    object<MessageData['node.offline']>({
      ...inDomain,
      ...aboutNode,
      last_heartbeat_at: instant('When the last heartbeat of the node was accepted'),
    }),
    'A node has been out of reach for the time that the webhook asks for.',
  ),
  'node.online': message(
    'node.online',
    object<MessageData['node.online']>({
      ...inDomain,
      ...aboutNode,
      offline_since: instant('When the last heartbeat before the outage was accepted'),
    }),
    'A node is healthy again, of which the webhook was sent `node.offline`.',
  ),
  'rollout.halted': message(
    'rollout.halted',
    object<MessageData['rollout.halted']>({
      ...inDomain,
      rollout_id: id('Id of the rollout'),
      slug: text({ description: 'Name of the rollout for scripts' }),
      version: text({ description: 'The release that the nodes were to get' }),
    }),
    'A rollout was halted: nothing more begins.',
  ),
  'token.expiring': message(
    'token.expiring',
    object<MessageData['token.expiring']>({
      ...inDomain,
      token_id: id('Id of the API token'),
      name: text({ description: 'Name of the API token' }),
      owner: text({ description: 'Subject that the API token belongs to' }),
      expires_at: instant('When it stops working'),
    }),
    'An API token that was not replaced expires within seven days.',
  ),
  'ctl.test': message(
    'ctl.test',
    object<MessageData['ctl.test']>({ ...inDomain, webhook_id: id('Id of the webhook') }),
    'Somebody tests the webhook.',
  ),
}
