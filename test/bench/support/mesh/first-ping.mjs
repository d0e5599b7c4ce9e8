import { once } from 'node:events'
import { createInterface } from 'node:readline'

const PING_EVERY_S = 0.02
const WAIT_MS_MAX = 60_000

/**
 * Starts a tunnel while pings are sent to its far end. Resolves with the time until the first answer and the time that `start` took,
 * both in ms.
 */
export async function timeToFirstPing(lab, box, { address, start }) {
  const startedAt = performance.now()
  const since = () => performance.now() - startedAt
  const started = start().then(since)
  const ping = lab.spawn(box, ['ping', '-n', '-i', String(PING_EVERY_S), address], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [pingMs, startMs] = await Promise.all([firstAnswer(ping, since), started])
    return { pingMs, startMs }
  } finally {
    const ended = once(ping, 'exit')
    ping.kill('SIGKILL')
    await ended
  }
}

async function firstAnswer(ping, since) {
  const late = setTimeout(() => ping.kill('SIGTERM'), WAIT_MS_MAX)
  try {
    for await (const line of createInterface({ input: ping.stdout })) if (line.includes(' bytes from ')) return since()
  } finally {
    clearTimeout(late)
  }
  throw new Error(`no answer to a ping within ${WAIT_MS_MAX / 1000} s`)
}
