import type { Leading } from '../../ports/leadership.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { ReleaseVerifier } from '../../ports/release-verifier.ts'
import { judgeArchitectures } from '../../releases/judgement.ts'
import { putRelease } from '../../releases/put-release.ts'
import { releaseAudit } from '../../releases/release-audit.ts'
import { BUNDLE_BYTES_MAX, type ArchitectureContent, type ReleaseContent } from '../../releases/release-content.ts'
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
  const attested = await attestedArchitectures(deps, version)
  const architectures: ArchitectureContent[] = []
  for (const one of indexed) {
    const { architecture, checksum } = one
    const bundle = attested.has(architecture) ? undefined : await bundleOf(one, deps.source, signal)
    architectures.push({ architecture, checksum, bundle })
  }
  return { version, supportStatus, architectures }
}

async function bundleOf(
  { bundle: path }: IndexedArchitecture,
  source: ReleaseSource,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (path === undefined) return undefined
  return (await source.read(path, { bytesMax: BUNDLE_BYTES_MAX, signal }))?.bytes
}

/** The architectures of a verified release: their attestations stay, and are not fetched again. */
async function attestedArchitectures({ datastore }: TakingDeps, version: string): Promise<ReadonlySet<string>> {
  const known = await findRelease(datastore.pool('worker'), version)
  return new Set(known?.verdict === 'verified' ? known.architectures.map(({ architecture }) => architecture) : [])
}
