import type { Leading } from '../../ports/leadership.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { ReleaseVerifier } from '../../ports/release-verifier.ts'
import { judgeArchitectures } from '../../releases/judgement.ts'
import { putRelease } from '../../releases/put-release.ts'
import { releaseAudit } from '../../releases/release-audit.ts'
import { BUNDLE_BYTES_MAX, type ArchitectureContent, type ReleaseContent } from '../../releases/release-content.ts'
import { readArchitectures } from '../../releases/release-store.ts'
import type { IndexedArchitecture, IndexedRelease } from './index-document.ts'
import { holdIndex, type AcceptedIndex } from './index-store.ts'
import type { ReleaseSource } from './release-source.ts'
import { findRelease } from './store.ts'

export interface TakingDeps {
  readonly source: ReleaseSource
  readonly verifier: ReleaseVerifier
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
}

/** A release of an index that is to be taken. */
export interface Taking {
  readonly release: IndexedRelease
  readonly index: AcceptedIndex
  readonly leading: Leading
}

/**
 * Takes one release of an index, with the attestations that are not there yet, in one transaction. Resolves with false where
 * another index has been accepted meanwhile: nothing was changed then.
 *
 * @throws SourceFault, ReleaseRefused
 */
export async function takeRelease(deps: TakingDeps, { release, index, leading }: Taking): Promise<boolean> {
  const { source, verifier, clock, ids } = deps
  const content = await contentOf(deps, release, leading.signal)
  const verdicts = await judgeArchitectures(verifier, content.version, content.architectures)
  return leading.unitOfWork.run({ pool: 'worker', correlationId: ids.next() }, async (change) => {
    if (!(await holdIndex(change.db, source.name, index))) return false
    const put = await putRelease(change.db, content, { verifier, verdicts, now: new Date(clock.now()) })
    const { outcome, supportStatus, judgement } = put
    if (outcome === 'unchanged') return true
    const context = { outcome, support_status: supportStatus, verdict: judgement.verdict, serial: index.serial }
    change.audit(releaseAudit('system:release-indexer', 'import', { version: content.version, context }))
    return true
  })
}

async function contentOf(deps: TakingDeps, release: IndexedRelease, signal: AbortSignal): Promise<ReleaseContent> {
  const { version, support_status: supportStatus, architectures: indexed } = release
  const kept = await verifiedBundles(deps.datastore.pool('worker'), version)
  const architectures: ArchitectureContent[] = []
  for (const one of indexed) architectures.push(await architectureOf(one, { kept, source: deps.source, signal }))
  return { version, supportStatus, architectures }
}

interface Fetching {
  readonly kept: ReadonlyMap<string, Uint8Array>
  readonly source: ReleaseSource
  readonly signal: AbortSignal
}

/** Attestations that verify are not fetched again. */
async function architectureOf(
  { architecture, checksum, bundle: path }: IndexedArchitecture,
  { kept, source, signal }: Fetching,
): Promise<ArchitectureContent> {
  const known = kept.get(`${architecture} ${checksum}`)
  if (known !== undefined) return { architecture, checksum, bundle: known }
  const file = path === undefined ? null : await source.read(path, { bytesMax: BUNDLE_BYTES_MAX, signal })
  return { architecture, checksum, bundle: file?.bytes }
}

/** The attestations of a verified release, by architecture and checksum. */
async function verifiedBundles(db: Db, version: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const known = await findRelease(db, version)
  if (known?.verdict !== 'verified') return new Map()
  const stored = await readArchitectures(db, version)
  return new Map(
    stored.flatMap(({ architecture, checksum, bundle }) =>
      bundle === undefined ? [] : [[`${architecture} ${checksum}`, bundle] as const],
    ),
  )
}
