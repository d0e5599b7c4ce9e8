// @ts-check
// Plain JavaScript, checked through JSDoc: worker threads and child processes run it straight from the source tree too,
// and Node 20 does not strip types.
import { NodeFS } from '@electric-sql/pglite/nodefs'

/** @typedef {(fd: number) => void} Sync Forces an open file to stable storage; throws when it cannot. */

/**
 * Where the engine's fsync calls go. PGlite has none of its own: without the hook a commit is only in the page cache.
 * @typedef {object} SyncState
 * @property {number} walSyncs Write-ahead log files synced since the start.
 * @property {string | undefined} failure Why a sync failed: the store can no longer be trusted. Set once, never cleared.
 * @property {boolean} isAborted Whether the engine gave up; its log says why.
 */

/**
 * A data directory on disk whose every fsync reaches the operating system. The hook goes in before the engine runs,
 * so that crash recovery syncs as well: a hook set on the live instance comes after thousands of unsynced writes.
 */
export class DurableNodeFS extends NodeFS {
  /** @type {SyncState} */
  state = { walSyncs: 0, failure: undefined, isAborted: false }
  /** @type {Sync} */
  #sync

  /**
   * @param {string} directory the engine's own directory (PGDATA)
   * @param {Sync} sync
   */
  constructor(directory, sync) {
    super(directory)
    this.#sync = sync
  }

  /**
   * @override
   * @param {Parameters<NodeFS['init']>[0]} engine
   * @param {Parameters<NodeFS['init']>[1]} options
   */
  async init(engine, options) {
    const { emscriptenOpts } = await super.init(engine, options)
    const preRun = [...(emscriptenOpts.preRun ?? []), (/** @type {any} */ module) => this.#hook(module)]
    const onAbort = () => {
      this.state.isAborted = true
    }
    return { emscriptenOpts: { ...emscriptenOpts, preRun, onAbort } }
  }

  /** @param {any} module the Emscripten module, whose file system operations have no published types */
  #hook(module) {
    module.NODEFS.stream_ops.fsync = (/** @type {{ nfd: number, path: string }} */ stream) => {
      try {
        this.#sync(stream.nfd)
      } catch (error) {
        this.state.failure ??= `fsync of ${stream.path} failed: ${error instanceof Error ? error.message : String(error)}`
        module.NODEFS.tryFSOperation(() => {
          throw error
        })
      }
      if (stream.path.includes('/pg_wal/')) this.state.walSyncs += 1
      return 0
    }
  }
}
