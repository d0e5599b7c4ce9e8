import { z } from 'zod'
import { canonicalize } from '../../shared/canonical-json.ts'
import { createSecondChanceMap } from '../../shared/second-chance-map.ts'
import type { WireType } from '../../shared/events/wire-types.ts'
import type { Outgoing } from './outgoing-store.ts'

// Members that are not named here are not sent: an outbox row may contain more than its node may read.

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

/** Turns the stored payload of an event into the one that its node receives, in canonical JSON. */
type Render = (payload: string) => string

/** Number of texts that are remembered as canonical: many consecutive events contain the same rules. */
const REMEMBERED_MAX = 16

/**
 * Makes the function that renders the payload of an event.
 *
 * @throws Error, TypeError, SyntaxError or ZodError if the event cannot be rendered. Other events are not affected.
 */
export function createRendering(): (event: Outgoing) => string {
  const remembered = createSecondChanceMap<true>(REMEMBERED_MAX)

  /** The stored bytes are sent unchanged. @throws Error if a verifier would compute other bytes. */
  function assertCanonical(text: string): void {
    if (remembered.get(text) === true) return
    if (canonicalize(JSON.parse(text)) !== text) throw new Error('the stored payload is not canonical JSON')
    remembered.set(text, true)
  }

  /** Checks the payload without its node id, because many events share the rest. */
  function sharedPayload(payload: string, nodeId: string): string {
    assertCanonical(payload.replace(`"node_id":"${nodeId}"`, '"node_id":""'))
    return payload
  }

  const renderings: Readonly<Record<WireType, (event: Outgoing) => string>> = {
    node_state_updated: ({ payload }) => payload,
    policy_updated: ({ payload, nodeId }) => sharedPayload(payload, nodeId),
    bridge_config_updated: ({ payload, nodeId }) => sharedPayload(payload, nodeId),
    action_request: ({ payload }) => canonicalOf(actionRequest)(payload),
    session_setup: ({ payload }) => canonicalOf(sessionSetup)(payload),
  }
  return (event) => renderings[event.type](event)
}

function canonicalOf(schema: z.ZodType): Render {
  return (payload) => canonicalize(schema.parse(JSON.parse(payload)))
}
