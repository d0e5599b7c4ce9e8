// What both servers of the benchmark of streams do when they are told to.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const SIGNATURE = 'A'.repeat(86)

/** An event as it comes signed from the bus. */
export function envelopeOf(nodeId, wave) {
  return `{"api_version":"v1","domain_id":"01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b","event_id":"01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c","kid":"bench","node_id":"${nodeId}","node_seq":${wave},"occurred_at":"2026-03-01T08:00:00.000Z","payload":{"blocks":["peers"],"peers":[{"changes":["endpoint_changed"],"endpoint":"192.0.2.1:51820","node_id":"01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4d"}],"reason":"changed"},"type":"node_state_updated","signature":"${SIGNATURE}"}`
}

function residentBytes() {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024
}

/** Events handed over at once: a turn of the event loop as a bus would give them. */
const BATCH = 500

/**
 * Answers `memory` with the resident bytes after a collection, and `wave` with when the first event was handed over, ms
 * since the epoch, and what CPU time it took, once the last one is.
 */
export function serveWaves({ port, requests, prepare, deliver, close }) {
  let waves = 0
  const answer = {
    /** What a process gave back comes slowly: the start of a server leaves much. */
    async memory() {
      for (let last = Number.POSITIVE_INFINITY, tries = 0; ; tries++) {
        globalThis.gc()
        await sleep(1_000)
        const now = residentBytes()
        if (tries > 20 || (tries > 2 && now > last * 0.995)) return now
        last = now
      }
    },
    async wave() {
      const events = prepare((waves += 1))
      globalThis.gc()
      const before = process.cpuUsage()
      const startedAt = performance.timeOrigin + performance.now()
      for (let from = 0; from < events.length; from += BATCH) {
        deliver(events.slice(from, from + BATCH))
        await new Promise((resolve) => setImmediate(resolve))
      }
      const { user, system } = process.cpuUsage(before)
      return { startedAt, cpuMs: (user + system) / 1000 }
    },
    async close() {
      await close()
      setImmediate(() => process.disconnect())
    },
  }
  const reply = async ([id, asked]) => void process.send([id, await answer[asked]()])
  process.on('message', (message) => void reply(message))
  process.send(['ready', { port, requests }])
}
