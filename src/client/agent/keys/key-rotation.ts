import { ProblemAnswer } from '../../failures.ts'
import type { MemberDeps } from '../agent-deps.ts'
import { attempt } from '../calls/attempt.ts'
import { backoffMs } from '../calls/backoff.ts'
import type { Outcome } from '../calls/outcome.ts'
import { isOver } from '../is-over.ts'
import type { Member } from '../member.ts'
import { fetchEdgeKeysSoon } from './edge-key.ts'
import { digestSoon } from './epoch-report.ts'
import { generateMeshKey, type MeshKey } from './mesh-key.ts'
import { adoptMeshKey, forgetNextKey } from './own-half.ts'

/** Maximum random delay, which spreads the rotations of a fleet. */
const WITHIN_MS = 2_000
/**
 * Deadlines of a call and of its first repeats after a timeout; then that of the client. The server may have made the rotation although its
 * answer was lost, and the peers keep the old key for 3 s only. A server that is slow is given more time with each repeat.
 */
const DEADLINES_MS: readonly number[] = [2_000, 4_000, 8_000]
/** Maximum random delay of a repeat after such a timeout: the nodes of a slow server do not repeat at the same moment. */
const REPEAT_WITHIN_MS = 500

/** Schedules the node's part of a key rotation. Ignores hints while one is running, because they mean the same rotation. */
export function rotateSoon<M extends Member>(deps: MemberDeps<M>, node: M): void {
  if (node.isRotating) return
  node.isRotating = true
  deps.tasks.schedule(deps.clock.random() * WITHIN_MS, () => rotate(deps, node, { failures: 0, timeouts: 0 }))
}

/** Goes on with a rotation whose end an earlier run of the agent does not know. */
export function resumeRotation<M extends Member>(deps: MemberDeps<M>, node: M): void {
  if (node.nextKey !== undefined) rotateSoon(deps, node)
}

/** `again`: with a fresh pair; `later`: with the same pair, after a pause; `soon`: with the same pair and a longer deadline. */
type Next = 'done' | 'again' | 'later' | 'soon'

/** What went before a try. */
interface Before {
  readonly failures: number
  /** Timeouts before the deadline of the client, which are no failures. */
  readonly timeouts: number
}

async function rotate<M extends Member>(deps: MemberDeps<M>, node: M, before: Before): Promise<void> {
  const next = isOver(deps, node) ? 'done' : await complete(deps, node, DEADLINES_MS[before.timeouts])
  if (next === 'done' || isOver(deps, node)) return void (node.isRotating = false)
  const { pauseMs, ...after } = repeatAfter(deps, next, before)
  return deps.tasks.schedule(pauseMs, async () => {
    // An epoch may have decided meanwhile.
    if (next !== 'again' && node.nextKey === undefined) node.isRotating = false
    else await rotate(deps, node, after)
  })
}

function repeatAfter<M extends Member>(
  { clock, statistics }: MemberDeps<M>,
  next: Exclude<Next, 'done'>,
  { failures, timeouts }: Before,
): Before & { readonly pauseMs: number } {
  if (next !== 'soon') return { failures: failures + 1, timeouts, pauseMs: backoffMs(clock, failures + 1) }
  statistics.count('retries')
  return { failures, timeouts: timeouts + 1, pauseMs: clock.random() * REPEAT_WITHIN_MS }
}

/** How the tries with one pair ended. */
interface Tried {
  readonly key: MeshKey
  readonly outcome: Outcome<{ readonly psk_issued_at: string }>
  /** A try with this pair may have succeeded without an answer. */
  readonly isInDoubt: boolean
  /** The last try had a deadline before that of the client. */
  readonly isShort: boolean
}

/** Sends the public key of the next pair, which is stored before that. An earlier pair whose end is unknown is sent again. */
async function complete<M extends Member>(deps: MemberDeps<M>, node: M, deadlineMs: number | undefined): Promise<Next> {
  const wasTried = node.nextKey !== undefined
  const key = (node.nextKey ??= generateMeshKey())
  if (!wasTried) await deps.actions.save(node)
  // The answer to this try decides, not an epoch from before it.
  node.isNextInDoubt = false
  const { outcome, isUnknown } = await send(deps, node, { key, deadlineMs })
  const tried = { key, outcome, isInDoubt: wasTried || isUnknown, isShort: deadlineMs !== undefined }
  if (outcome.ok) return succeed(deps, node, { key, issued: outcome.value.psk_issued_at })
  return (ENDS[outcome.code] ?? endOtherwise)(deps, node, tried)
}

/** Refusals that are counted where they are handled. */
const DECIDED_CODES: readonly string[] = ['no_pending_rotation', 'public_key_in_use']

async function send<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { key, deadlineMs }: { readonly key: MeshKey; readonly deadlineMs: number | undefined },
): Promise<Pick<Tried, 'outcome'> & { readonly isUnknown: boolean }> {
  let isUnknown = false
  const body = { public_key: key.publicKey }
  const outcome = await attempt(deps, node, {
    operation: 'key_rotation',
    isRepeatable: true,
    toleratedCodes: [...DECIDED_CODES, ...(deadlineMs === undefined ? [] : ['timeout'])],
    call: (token) =>
      deps.client.PostKeysRotate({ body }, { token, timeoutMs: deadlineMs }).catch((error: unknown) => {
        isUnknown ||= !isDecided(error)
        throw error
      }),
  })
  return { outcome, isUnknown }
}

/** Whether the failure means that the rotation was not made (agent protocol: Rotation). */
function isDecided(error: unknown): boolean {
  return error instanceof ProblemAnswer && error.status < 500 && error.status !== 408 && error.status !== 429
}

async function succeed<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { key, issued }: { readonly key: MeshKey; readonly issued: string },
): Promise<Next> {
  deps.statistics.count('key_rotations')
  const adopting = adoptMeshKey(deps, node, { key, issued })
  fetchEdgeKeysSoon(deps, node)
  digestSoon(deps, node)
  await adopting
  return 'done'
}

type EndOf = <M extends Member>(deps: MemberDeps<M>, node: M, tried: Tried) => Promise<Next>

/** What refusals of a rotation and a timeout mean. */
const ENDS: Readonly<Record<string, EndOf>> = {
  async no_pending_rotation(deps, node, { isInDoubt }) {
    deps.statistics.count('needless_rotations')
    if (!isInDoubt) return drop(deps, node, 'done')
    node.isNextInDoubt = true
    await deps.actions.save(node)
    const [any] = deps.actions.edgesOf(node)
    // Without a peer, the key of the first one decides.
    if (any === undefined) return 'done'
    fetchEdgeKeysSoon(deps, node, [any])
    return 'later'
  },
  async public_key_in_use(deps, node, { key, isInDoubt }) {
    if (!isInDoubt) return refuse(deps, node, 'public_key_in_use')
    // The pair became the own one, and another rotation was requested since. The next epoch has its half.
    await adoptMeshKey(deps, node, { key, issued: undefined })
    fetchEdgeKeysSoon(deps, node)
    return 'again'
  },
  invalid_public_key: (deps, node) => drop(deps, node, 'again'),
  timeout: async (_deps, _node, { isShort }) => (isShort ? 'soon' : 'later'),
}

async function refuse<M extends Member>(deps: MemberDeps<M>, node: M, code: string): Promise<Next> {
  deps.statistics.failed('key_rotation', code)
  return drop(deps, node, 'again')
}

/** Another refusal, or no answer: a pair that may have been taken is kept. */
async function endOtherwise<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { outcome, isInDoubt }: Tried,
): Promise<Next> {
  if (!isInDoubt) return drop(deps, node, 'done')
  return outcome.tries > 0 ? 'later' : 'done'
}

async function drop<M extends Member>(deps: MemberDeps<M>, node: M, next: Next): Promise<Next> {
  forgetNextKey(node)
  await deps.actions.save(node)
  return next
}
