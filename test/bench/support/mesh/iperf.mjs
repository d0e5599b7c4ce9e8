import { setTimeout as sleep } from 'node:timers/promises'
import { IPERF_PORT } from './tunnel-ends.mjs'

const TRIES = 50
const AGAIN_MS = 100
const SLACK_MS = 20_000

/** Starts a server of iperf3 in a box; it serves one client after another, and ends with the lab. */
export async function serveIperf(lab, box) {
  lab.spawn(box, ['iperf3', '--server', '--port', String(IPERF_PORT)], { stdio: 'ignore' })
  const listening = ['ss', '--no-header', '--tcp', '--listening', '--numeric', `sport = :${IPERF_PORT}`]
  for (let tries = 0; tries < TRIES; tries += 1) {
    if ((await lab.exec(box, listening)).stdout !== '') return
    await sleep(AGAIN_MS)
  }
  throw new Error('iperf3 does not listen')
}

/** Sends over one TCP connection for so many seconds. */
export async function sendByIperf(lab, box, { address, seconds }) {
  const argv = ['iperf3', '--json', '--client', address, '--port', String(IPERF_PORT), '--time', String(seconds)]
  const { stdout } = await lab.exec(box, argv, { timeoutMs: seconds * 1000 + SLACK_MS })
  return parseIperf(stdout)
}

/** Reads what iperf3 prints with `--json`. @throws where it failed, or the receiver got nothing. */
export function parseIperf(text) {
  const { error, end } = readJson(text)
  if (error !== undefined) throw new Error(`iperf3: ${error}`)
  const { bytes, bits_per_second: bitsPerSecond } = end?.sum_received ?? {}
  if (!(bytes > 0 && bitsPerSecond > 0)) throw new Error('iperf3: the receiver got nothing')
  return { bytes, bitsPerSecond, retransmits: end.sum_sent?.retransmits ?? 0 }
}

function readJson(text) {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`iperf3 did not print JSON: ${text.slice(0, 200)}`, { cause })
  }
}
