import type { AgentDeps, MemberDeps } from './agent-deps.ts'
import { attempt } from './calls/attempt.ts'
import { rotateSoon } from './keys/key-rotation.ts'
import type { KeyedMember, Member } from './member.ts'
import { pullSoon } from './state/state-pull.ts'

/** Maximum jitter of a heartbeat in either direction, as a share of the interval. */
const JITTER = 0.1
/** Maximum random delay of a pull that the server requests. */
const RECONCILE_WITHIN_MS = 1_000

/** When heartbeats are sent, and how. */
export interface HeartbeatSchedule {
  readonly intervalMs: number
  /** Whether the first one comes at once; else at a random point of the interval. */
  readonly isFirstAtOnce: boolean
  readonly send: () => Promise<void>
  readonly until: AbortSignal
}

/**
 * Sends heartbeats until the signal is aborted. They keep to the schedule, so that a slow server does not reduce the load. A call
 * that takes longer than the interval delays the next heartbeat and skips those that were due meanwhile.
 */
export function startHeartbeats(
  { clock, wheel, tasks }: AgentDeps,
  { intervalMs, isFirstAtOnce, send, until }: HeartbeatSchedule,
): void {
  let dueMs = clock.now() + (isFirstAtOnce ? 0 : clock.random() * intervalMs)
  const scheduleNext = (): void =>
    wheel.after(dueMs - clock.now(), () => {
      if (!until.aborted) tasks.track(sendDue())
    })
  async function sendDue(): Promise<void> {
    await send()
    dueMs += intervalMs * Math.max(1, Math.ceil((clock.now() - dueMs) / intervalMs))
    dueMs += intervalMs * JITTER * (clock.random() - clock.random())
    scheduleNext()
  }
  scheduleNext()
}

/** Content of a heartbeat. */
export interface HeartbeatNews {
  readonly clientNowMs: number
  readonly binary: { readonly version: string; readonly checksum: string }
  /** The code with which the server must refuse it, because of an injected fault. */
  readonly expects?: string
}

/** What the server answers to a heartbeat. */
export type HeartbeatAnswer = Awaited<ReturnType<AgentDeps['client']['PostNodeHeartbeat']>>

/** Sends one heartbeat. Resolves with the answer; undefined if there was none. */
export async function sendHeartbeat(
  deps: AgentDeps,
  node: KeyedMember,
  { clientNowMs, binary, expects }: HeartbeatNews,
): Promise<HeartbeatAnswer | undefined> {
  const id = node.identity.node_id
  const body = {
    client_now: new Date(clientNowMs).toISOString(),
    binary_version: binary.version,
    binary_checksum: binary.checksum,
  }
  const outcome = await attempt(deps, node, {
    operation: 'heartbeat',
    isRepeatable: true,
    ...(expects !== undefined && { expects }),
    call: (token) => deps.client.PostNodeHeartbeat({ id, body }, { token }),
  })
  return outcome.ok ? outcome.value : undefined
}

/** Does what the answer to a heartbeat asks for. */
export function followHints<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { reconcile, rotate_keys: rotateKeys }: Pick<HeartbeatAnswer, 'reconcile' | 'rotate_keys'>,
): void {
  if (reconcile) pullSoon(deps, node, RECONCILE_WITHIN_MS)
  if (rotateKeys) rotateSoon(deps, node)
}
