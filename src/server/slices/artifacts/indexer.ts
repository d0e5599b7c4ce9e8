import type { Logger } from 'pino'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import { ReleaseRefused } from '../../releases/release-refused.ts'
import { takeRelease, type TakingDeps } from './indexed-release.ts'
import { createIndexReader, type NewIndex } from './index-reader.ts'
import { markTaken } from './index-store.ts'
import { SourceFault } from './source-fault.ts'

const EVERY_MS = 60_000
/** Releases taken in one pass. */
const RELEASES_MAX = 10

export interface IndexerDeps extends TakingDeps {
  readonly log: Pick<Logger, 'warn' | 'info'>
}

/** An index of which a part has been taken. */
interface Progress {
  readonly index: NewIndex
  next: number
  /** Releases that could not be read now: the index is read again. */
  faults: number
}

/**
 * The job that takes releases from a source: those that are new in its index, and what is new about known ones. A release
 * that vanishes from the index stays. What cannot be taken is logged once, until the reason is another one.
 */
export function createIndexer(deps: IndexerDeps): LeaderJob {
  const { source, log } = deps
  const readIndex = createIndexReader(deps)
  const reported = new Map<string, string>()
  let progress: Progress | undefined

  function report(about: string, fault: string): void {
    if (reported.get(about) === fault) return
    reported.set(about, fault)
    log.warn({ source: source.name, fault }, `${about} cannot be taken from the source`)
  }

  async function begin(leading: Leading): Promise<Progress | undefined> {
    const index = await readIndex(leading)
    reported.delete(INDEX)
    return index && { index, next: 0, faults: 0 }
  }

  /** Resolves with whether the index is still the newest one. */
  async function takeSome(leading: Leading, current: Progress): Promise<boolean> {
    const { index } = current
    const end = Math.min(current.next + RELEASES_MAX, index.releases.length)
    for (const release of index.releases.slice(current.next, end)) {
      leading.signal.throwIfAborted()
      try {
        if (!(await takeRelease(deps, { release, index, leading }))) return false
        reported.delete(`release ${release.version}`)
      } catch (error) {
        if (!(error instanceof SourceFault || error instanceof ReleaseRefused)) throw error
        report(`release ${release.version}`, error.message)
        if (error instanceof SourceFault) current.faults += 1
      }
      current.next += 1
    }
    return true
  }

  /** Resolves with whether more of the index is to be taken at once. */
  async function pass(leading: Leading): Promise<boolean> {
    progress ??= await begin(leading)
    if (progress === undefined) return false
    const { index } = progress
    const isNewest = await takeSome(leading, progress)
    if (isNewest && progress.next < index.releases.length) return true
    if (isNewest && progress.faults === 0) await conclude(leading, index)
    progress = undefined
    return false
  }

  async function conclude(leading: Leading, index: NewIndex): Promise<void> {
    await leading.transaction((db) => markTaken(db, source.name, index))
    log.info(
      { source: source.name, serial: index.serial, releases: index.releases.length },
      'the index of releases was taken',
    )
  }

  return {
    name: 'release-index',
    everyMs: EVERY_MS,
    async run(leading) {
      try {
        return await pass(leading)
      } catch (error) {
        progress = undefined
        if (!(error instanceof SourceFault)) throw error
        report(INDEX, error.message)
        return false
      }
    },
  }
}

const INDEX = 'the index of releases'
