import { z } from 'zod'
import { canonicalize } from '../../shared/canonical-json.ts'
import type { WireType } from '../../shared/events/wire-types.ts'
import type { Outgoing } from './outgoing-store.ts'

// Members that are not named here do not leave: a row of the outbox may say more than its node is to hear.

const actionRequest = z.object({
  execution_id: z.uuid(),
  action: z.string().min(1),
  type: z.enum(['builtin', 'hook']),
  parameters: z.record(z.string(), z.unknown()).optional(),
  status: z.literal('pending'),
  requested_at: z.iso.datetime({ offset: true }),
  expires_at: z.iso.datetime({ offset: true }),
})

const sessionSetup = z
  .object({
    session_id: z.uuid(),
    jti: z.uuid(),
    kind: z.enum(['ssh', 'cluster_api', 'tcp']),
    target: z.string().min(1),
    expires_at: z.iso.datetime({ offset: true }),
    idle_timeout_seconds: z.int().positive().optional(),
  })
  .refine(({ session_id, jti }) => session_id === jti, 'jti is not the session id')

/** Turns the payload of an event on its way into what its node gets, in canonical JSON. */
type Render = (payload: string) => string

/** Texts that were found canonical lately: one set of rules goes to many nodes in a row. */
const REMEMBERED_MAX = 16

/** @throws Error, TypeError, SyntaxError or ZodError where an event has no such text: the failure of that event alone. */
export function createRendering(): (event: Outgoing) => string {
  const remembered = new Set<string>()

  /** @throws Error where the bytes, which are sent as they are stored, would not be what a verifier makes of them. */
  function assertCanonical(text: string): void {
    if (remembered.has(text)) return
    if (canonicalize(JSON.parse(text)) !== text) throw new Error('what is stored is not canonical JSON')
    const [oldest] = remembered
    if (remembered.size >= REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest)
    remembered.add(text)
  }

  /** The node's id is in a place of its own, and all the rest is that of many events. */
  function spliced(payload: string, nodeId: string): string {
    assertCanonical(payload.replace(`"node_id":"${nodeId}"`, '"node_id":""'))
    return payload
  }

  const renderings: Readonly<Record<WireType, (event: Outgoing) => string>> = {
    node_state_updated: ({ payload }) => payload,
    policy_updated: ({ payload, nodeId }) => spliced(payload, nodeId),
    bridge_config_updated: ({ payload, nodeId }) => spliced(payload, nodeId),
    action_request: ({ payload }) => canonicalOf(actionRequest)(payload),
    session_setup: ({ payload }) => canonicalOf(sessionSetup)(payload),
  }
  return (event) => renderings[event.type](event)
}

function canonicalOf(schema: z.ZodType): Render {
  return (payload) => canonicalize(schema.parse(JSON.parse(payload)))
}
