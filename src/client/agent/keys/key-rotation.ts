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

/** Schedules the node's part of a key rotation. Ignores hints while one is running, because they mean the same rotation. */
export function rotateSoon<M extends Member>(deps: MemberDeps<M>, node: M): void {
  if (node.isRotating) return
  node.isRotating = true
  deps.tasks.schedule(deps.clock.random() * WITHIN_MS, () => rotate(deps, node, 1))
}

/** Goes on with a rotation whose end an earlier run of the agent does not know. */
export function resumeRotation<M extends Member>(deps: MemberDeps<M>, node: M): void {
  if (node.nextKey !== undefined) rotateSoon(deps, node)
}

/** `again`: with a fresh pair; `later`: with the same pair, after a pause. */
type Next = 'done' | 'again' | 'later'

async function rotate<M extends Member>(deps: MemberDeps<M>, node: M, tries: number): Promise<void> {
  const next = isOver(deps, node) ? 'done' : await complete(deps, node)
  if (next === 'done' || isOver(deps, node)) return void (node.isRotating = false)
  return deps.tasks.schedule(backoffMs(deps.clock, tries), async () => {
    // An epoch may have decided meanwhile.
    if (next === 'later' && node.nextKey === undefined) node.isRotating = false
    else await rotate(deps, node, tries + 1)
  })
}

/** How the tries with one pair ended. */
interface Tried {
  readonly key: MeshKey
  readonly outcome: Outcome<{ readonly psk_issued_at: string }>
  /** A try with this pair may have succeeded without an answer. */
  readonly isInDoubt: boolean
}

/** Sends the public key of the next pair, which is stored before that. An earlier pair whose end is unknown is sent again. */
async function complete<M extends Member>(deps: MemberDeps<M>, node: M): Promise<Next> {
  const wasTried = node.nextKey !== undefined
  const key = (node.nextKey ??= generateMeshKey())
  if (!wasTried) await deps.actions.save(node)
  // The answer to this try decides, not an epoch from before it.
  node.isNextInDoubt = false
  const { outcome, isUnknown } = await send(deps, node, key)
  const tried = { key, outcome, isInDoubt: wasTried || isUnknown }
  if (outcome.ok) return succeed(deps, node, { key, issued: outcome.value.psk_issued_at })
  return (ENDS[outcome.code] ?? endOtherwise)(deps, node, tried)
}

async function send<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { publicKey: public_key }: MeshKey,
): Promise<Pick<Tried, 'outcome'> & { readonly isUnknown: boolean }> {
  let isUnknown = false
  const outcome = await attempt(deps, node, {
    operation: 'key_rotation',
    isRepeatable: true,
    toleratedCodes: ['no_pending_rotation', 'public_key_in_use'],
    call: (token) =>
      deps.client.PostKeysRotate({ body: { public_key } }, { token }).catch((error: unknown) => {
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

/** What the refusals of a rotation mean. */
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
