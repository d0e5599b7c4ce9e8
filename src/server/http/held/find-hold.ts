import { LOOSENING } from '../../../shared/approval-actions.ts'
import { parseTupleReference } from '../../../shared/authz/reference.ts'
import { problem } from '../../../shared/problems.ts'
import type { AuthzInsight } from '../../ports/authz-insight.ts'
import type { HeldCalls, HeldFor } from '../../ports/held-calls.ts'
import type { Question } from '../auth/leg-questions.ts'
import type { OperationPlan } from '../operation-plan.ts'
import { managerGains, waysToManage, type WrittenTuples } from './manager-gains.ts'

/** The action of every change that makes somebody a manager of a Domain or of the platform. */
const ACCESS_ADMIN = 'access.admin'

/** Actions that a call falls under only where its change or its handler finds so. */
const CONDITIONAL = new Set<string>([ACCESS_ADMIN, 'access.takeover', LOOSENING])

/** What the edge needs to hold calls; without them nothing is held. */
export interface HoldingPorts {
  readonly heldCalls: HeldCalls
  readonly insight: AuthzInsight | undefined
}

/** What is known of a call when its change has been made and is not committed yet. */
export interface MadeCall {
  readonly plan: OperationPlan
  readonly nowMs: number
  /** What the handler found the call to fall under, in its order. */
  readonly found: readonly HeldFor[]
  /** What every call of the operation falls under. */
  readonly declared: readonly HeldFor[]
  /** The existing object that the call changes, once the handler has named it: more exact than that of the gate. */
  changed(): string | undefined
}

/** The first action of a policy that the call falls under; undefined where no policy names one. */
export async function findHold(ports: HoldingPorts, call: MadeCall, made: WrittenTuples): Promise<HeldFor | undefined> {
  const { db } = made.change
  const isHeld = async ({ action, domainId, requiredApprovals }: HeldFor): Promise<boolean> =>
    requiredApprovals !== undefined || ports.heldCalls.isHeld(db, action, domainId)
  for (const each of call.found) if (await isHeld(each)) return each
  for (const each of call.declared) if (await isHeld(each)) return { ...each, object: call.changed() ?? each.object }
  for (const each of await gainedBy(ports, call, made)) if (await isHeld(each)) return declaredGain(call, each)
  return undefined
}

/**
 * What every call of the operation falls under. To be asked outside of a transaction: the Domain of an object may have to be
 * read.
 */
export async function declaredHolds(
  { operation: { dualControl } }: OperationPlan,
  passed: () => Question,
  domainOf: (object: string) => Promise<string | null>,
): Promise<readonly HeldFor[]> {
  const actions = (dualControl?.actions ?? []).filter((action) => !CONDITIONAL.has(action))
  if (actions.length === 0) return []
  const { resource: object } = passed()
  const domainId = await domainOf(object)
  return actions.map((action) => ({ action, object, domainId }))
}

async function gainedBy(
  { heldCalls, insight }: HoldingPorts,
  { nowMs }: MadeCall,
  made: WrittenTuples,
): Promise<HeldFor[]> {
  const { db } = made.change
  if (insight === undefined || waysToManage(made.written).length === 0) return []
  if ((await heldCalls.mostAsked(db, ACCESS_ADMIN)) === 0) return []
  const gains = await managerGains(insight, made, nowMs)
  if (gains.length > 0) await refuseMirrored(heldCalls, made)
  return gains.map(({ subject, object }) => ({ action: ACCESS_ADMIN, object: subject, domainId: domainIdOf(object) }))
}

/**
 * A group of the identity provider must not manage what two people have to decide on: a person who administers the provider
 * would decide alone.
 * @throws Problem `group_managed_by_provider`.
 */
async function refuseMirrored(heldCalls: HeldCalls, { change: { db }, written }: WrittenTuples): Promise<void> {
  for (const { subject } of waysToManage(written)) {
    const group = parseTupleReference(subject)
    if (group?.type === 'group' && (await heldCalls.hasMirroredMembers(db, group.id)))
      throw problem('group_managed_by_provider')
  }
}

function domainIdOf(object: string): string | null {
  return object.startsWith('domain:') ? object.slice('domain:'.length) : null
}

/** A change that may make somebody a manager must be able to wait: anything else would be a way around the policy. */
function declaredGain({ plan }: MadeCall, gain: HeldFor): HeldFor {
  if (plan.operation.dualControl?.actions.includes(ACCESS_ADMIN) === true) return gain
  throw new Error(`${plan.id} makes somebody a manager and does not declare ${ACCESS_ADMIN}`)
}
