import { parseSecretRef } from '../../../shared/bridges/secret-ref.ts'
import { Problem } from '../../../shared/problems.ts'
import { createSlots } from '../../../shared/semaphore.ts'
import { readAssignedNodes } from '../../bridges/assigned-nodes.ts'
import type { Candidate } from '../../bridges/bridge-parts.ts'
import type { BridgeWorld } from '../../bridges/bridge-world.ts'
import { nameOf } from '../../bridges/claims.ts'
import { assignmentsFit, fittingConfigOf } from '../../bridges/effective-config.ts'
import type { Bridge } from '../../bridges/find-bridge.ts'
import type { AcmeDirectories } from '../../ports/acme-directories.ts'
import type { Db } from '../../ports/datastore.ts'
import { refOf, type ConflictAnswer } from './conflict-answer.ts'
import { listVersions } from './status-store.ts'

/** ACME directories that one check asks: 5 s each at most, in turns of `AT_ONCE`. */
const DIRECTORIES_MAX = 16
const AT_ONCE = 8

/** What is wrong with the bridge as a whole, and with its relay, that no other part is at fault for. */
export async function wholeConflicts(db: Db, { resourceId }: Bridge, world: BridgeWorld): Promise<ConflictAnswer[]> {
  const { parts, hostIds, targetIds } = world
  const assignedNodeIds = parts.relay === undefined ? [] : await readAssignedNodes(db, resourceId)
  const surroundings = { assignedNodeIds, targetIds }
  const isTooLong = fittingConfigOf(parts, surroundings) === undefined
  const found = [
    parts.relay?.enabled === true && hostIds.length === 0 && NO_HOSTS,
    isTooLong && TOO_LONG,
    !isTooLong && !assignmentsFit(parts, surroundings) && tooManyAssigned(assignedNodeIds.length),
  ]
  return found.filter((each) => each !== false)
}

const NO_HOSTS: ConflictAnswer = {
  code: 'relay_without_hosts',
  part: 'relay',
  conflicts_with: null,
  detail: 'The relay is enabled, but no node hosts the bridge.',
}

const TOO_LONG: ConflictAnswer = {
  code: 'bridge_limit_exceeded',
  part: 'bridge',
  conflicts_with: null,
  detail: 'The bridge has more than 512 KiB of configuration.',
}

function tooManyAssigned(count: number): ConflictAnswer {
  return {
    code: 'assignments_not_fitting',
    part: 'relay',
    conflicts_with: null,
    detail: `More nodes are assigned to the relay than fit into the configuration (${count}): it relays for any node.`,
  }
}

/** The parts whose secret does not exist, or not in the version that they name. */
export async function secretConflicts(
  db: Db,
  { projectId }: Bridge,
  parts: readonly Candidate[],
): Promise<ConflictAnswer[]> {
  const named = parts.flatMap((part) => {
    const text = refOf(part)
    const ref = text === undefined ? undefined : parseSecretRef(text)
    return text === undefined || ref === undefined ? [] : [{ part, text, ref }]
  })
  const versions = await listVersions(db, projectId, [...new Set(named.map(({ ref }) => ref.name))])
  return named
    .filter(({ ref }) => !versions.some((at) => at.name === ref.name && (ref.version ?? at.version) === at.version))
    .map(({ part, text }) => ({
      code: 'secret_not_found',
      part: nameOf(part),
      conflicts_with: null,
      detail: `${text} does not exist.`,
    }))
}

/** The ingress rules whose ACME directory does not answer as one. Each directory is asked once, outside of any transaction. */
export async function acmeConflicts(
  acmeDirectories: AcmeDirectories,
  bridge: Bridge,
  rules: readonly Candidate[],
): Promise<ConflictAnswer[]> {
  const refs = [...new Set(rules.flatMap((rule) => refOf(rule) ?? []))]
  const slots = createSlots(AT_ONCE)
  const asked = refs.slice(0, DIRECTORIES_MAX)
  const faults = new Map<string, Fault | undefined>(refs.slice(DIRECTORIES_MAX).map((ref) => [ref, NOT_ASKED]))
  await Promise.all(
    asked.map((ref) => slots.run(async () => void faults.set(ref, await faultOf(acmeDirectories, bridge, ref)))),
  )
  return rules.flatMap((rule) => {
    const fault = faults.get(refOf(rule) ?? '')
    return fault === undefined ? [] : [{ ...fault, part: nameOf(rule), conflicts_with: null }]
  })
}

type Fault = Pick<ConflictAnswer, 'code' | 'detail'>

const NOT_ASKED: Fault = {
  code: 'acme_directory_not_checked',
  detail: `The bridge names more than ${DIRECTORIES_MAX} ACME directories: this one was not checked.`,
}

async function faultOf(directories: AcmeDirectories, bridge: Bridge, ref: string): Promise<Fault | undefined> {
  const { projectId, domainSlug, projectSlug } = bridge
  try {
    await directories.check(ref, { projectId, domainSlug, projectSlug })
    return undefined
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { reason = error.message } = error.extras as { readonly reason?: string }
    return { code: error.code, detail: reason }
  }
}
