import { Problem, problem } from '../../../shared/problems.ts'
import type { Spicedb } from './client.ts'

/** SpiceDB, and whether it is reachable. */
export interface WatchedSpicedb extends Spicedb {
  /** @throws Problem `authz_unavailable` while the last call failed and no probe has succeeded since. */
  assertReachable(): void
}

const PROBE_MS = 500
/** Time between two probes while a lookup waits. */
const WATCH_MS = 1_000

/**
 * Tracks whether the last call was answered, so that a change is refused before it is written rather than after. While
 * SpiceDB is unreachable, it is probed twice a second.
 *
 * A lookup of everything may take long, so its own deadline is long. It is given up earlier when SpiceDB answers no probe
 * either: the caller would wait for half a minute otherwise.
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
    await noting(spicedb.ping())
  }

  async function watched<T>(call: Promise<T>): Promise<T> {
    let watching: NodeJS.Timeout | undefined
    let isOver = false
    const away = new Promise<never>((_resolve, reject) => {
      const again = (): void => {
        if (!isOver) watching = setTimeout(() => void ping().then(again, reject), WATCH_MS).unref()
      }
      again()
    })
    try {
      return await Promise.race([call, away])
    } finally {
      isOver = true
      clearTimeout(watching)
    }
  }

  return {
    ...spicedb,
    check: (request) => noting(spicedb.check(request)),
    write: (edits) => noting(spicedb.write(edits)),
    lookupResources: (request) => watched(spicedb.lookupResources(request)),
    lookupSubjects: (request) => watched(spicedb.lookupSubjects(request)),
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
