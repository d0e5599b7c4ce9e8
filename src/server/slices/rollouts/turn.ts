import { compareVersions } from '../../../shared/semantic-version.ts'
import type { UpgradeTarget } from '../../releases/upgrade-target.ts'
import type { RolloutRecord } from './store.ts'
import type { Candidate } from './turns-store.ts'

/** What a node's turn comes to. */
export type Turn =
  | { readonly does: 'upgrade' }
  | { readonly does: 'end'; readonly state: 'done' | 'skipped'; readonly reason: string | null }

/** What decides it for every node of a rollout. */
export interface TurnRules {
  readonly rollout: Pick<RolloutRecord, 'version' | 'allow_downgrade'>
  readonly target: UpgradeTarget
  /** Ids of the candidates whose labels match. */
  readonly matching: ReadonlySet<string>
}

const skipped = (reason: string): Turn => ({ does: 'end', state: 'skipped', reason })

/** Decides the turn of a node. */
export function turnOf(
  { nodeId, isGone, isCurrent, binaryVersion, architecture }: Candidate,
  { rollout, target, matching }: TurnRules,
): Turn {
  if (isGone) return skipped('The node was deregistered.')
  if (!matching.has(nodeId)) return skipped('The labels of the node no longer match the selector.')
  if (isCurrent) return { does: 'end', state: 'done', reason: null }
  const isNewer = binaryVersion !== null && compareVersions(binaryVersion, rollout.version) > 0
  if (isNewer && !rollout.allow_downgrade) return skipped(`The node runs ${binaryVersion}, which is newer.`)
  const isBuilt = architecture === null || target.checksums.has(architecture)
  return isBuilt ? { does: 'upgrade' } : skipped(`The release has no binary for ${architecture}.`)
}

/** The parameters of the upgrade of a node. */
export function parametersOf(
  { version, checksums }: UpgradeTarget,
  { architecture }: Pick<Candidate, 'architecture'>,
): Readonly<Record<string, string>> {
  const checksum = architecture === null ? undefined : checksums.get(architecture)
  return { version, ...(checksum !== undefined && { checksum }) }
}
