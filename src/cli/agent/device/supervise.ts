import { statSync, truncateSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { noteFailure } from './note-failure.ts'
import { isAnswering, startWireguardGo, uapiPath } from './wireguard-go.ts'
import { watchUapi, type UapiWatch } from './uapi-socket.ts'

const RETRY_MS = 200
const RETRY_MS_MAX = 5_000
const LOG_BYTES_MAX = 4 * 1024 * 1024
const LOG_CHECK_MS = 60_000

interface Supervised {
  readonly name: string
  readonly logFile: string
  /** Configures the new interface; it has no peers. */
  readonly restore: () => Promise<void>
  readonly onRestarted: () => void
}

/** Keeps wireguard-go running. */
export interface Supervision {
  /** Resolves once nothing is started any more. The process stays. */
  stop(): Promise<void>
}

/** Starts wireguard-go again when it dies, and empties its log when it is large. */
export function superviseWireguardGo({ name, logFile, restore, onRestarted }: Supervised): Supervision {
  const stopping = new AbortController()
  let watch: UapiWatch | undefined
  let restarting: Promise<void> = Promise.resolve()

  const begin = () => {
    watch = watchUapi(uapiPath(name), () => {
      restarting = restart()
    })
  }
  const restart = async () => {
    for (let delayMs = RETRY_MS; !stopping.signal.aborted; delayMs = Math.min(2 * delayMs, RETRY_MS_MAX)) {
      if (await isRestarted()) return
      await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const isRestarted = async () => {
    try {
      // It runs already where the last try could not configure it.
      if (!(await isAnswering(name))) await startWireguardGo(name, logFile)
      await restore()
      // In here: where it fails, because the agent is still starting, it is called again.
      if (!stopping.signal.aborted) onRestarted()
    } catch (error) {
      noteFailure(logFile, 'Starting wireguard-go again', error)
      return false
    }
    if (!stopping.signal.aborted) begin()
    return true
  }
  const logTimer = setInterval(() => shorten(logFile), LOG_CHECK_MS).unref()
  begin()

  return {
    async stop() {
      stopping.abort()
      clearInterval(logTimer)
      watch?.close()
      await restarting
    },
  }
}

/** wireguard-go appends, so it goes on at the beginning of the emptied file. */
function shorten(logFile: string): void {
  try {
    if (statSync(logFile).size > LOG_BYTES_MAX) truncateSync(logFile)
  } catch {
    // Without the file there is nothing to shorten.
  }
}
