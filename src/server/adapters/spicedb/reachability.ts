import { Problem, problem } from '../../../shared/problems.ts'
import type { Spicedb } from './client.ts'

/** SpiceDB, and whether it is reachable. */
export interface WatchedSpicedb extends Spicedb {
  /** @throws Problem `authz_unavailable` while the last call failed and no probe has succeeded since. */
  assertReachable(): void
  /** Resolves when it answers. @throws Problem `authz_unavailable`. */
  ping(): Promise<void>
}

const PROBE_MS = 500

/**
 * Tracks whether the last call was answered, so that a change is refused before it is written rather than after. While
 * SpiceDB is unreachable, it is probed twice a second.
 */
export function watchSpicedb(spicedb: Spicedb): WatchedSpicedb {
  let isAway = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  async function noting<T>(call: Promise<T>): Promise<T> {
    try {
      const result = await call
      isAway = false
      return result
    } catch (error) {
      if (error instanceof Problem && error.code === 'authz_unavailable') goneAway()
      throw error
    }
  }

  function goneAway(): void {
    isAway = true
    if (timer !== undefined || isClosed) return
    timer = setTimeout(() => {
      timer = undefined
      // Only whether it answers matters here, not the answer.
      ping().catch(() => undefined)
    }, PROBE_MS).unref()
  }

  async function ping(): Promise<void> {
    await noting(spicedb.readSchema())
  }

  return {
    ...spicedb,
    check: (request) => noting(spicedb.check(request)),
    write: (edits) => noting(spicedb.write(edits)),
    ping,
    assertReachable() {
      if (isAway) throw problem('authz_unavailable')
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      spicedb.close()
    },
  }
}
