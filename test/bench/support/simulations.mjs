// Runs of `ctl agent-sim` for the benchmarks of fleets.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CTL, memoryOf } from './servers.mjs'

export const HEARTBEAT_INTERVAL_S = 30
/** Before anything is measured all agents enrol, open their streams, pull all of their peers and fetch the keys of their edges. */
const WARM_UP_S = 40
/** Agents that do nothing but report, how often, s, and so that there are thousands of their heartbeats. */
const REPORTERS = { nodes: 32, intervalS: 1 }
/** Bytes that a pull brings for each peer, and how many of them a simulation pulls in a second. */
const [PEER_BYTES, PULLED_PER_SECOND] = [250, 120e6]
/** What no run may have more than none of. */
const FLAWS = [
  'errors',
  'refusals',
  'missed_events',
  'bad_signatures',
  'edge_mismatches',
  'stale_edges',
  'stale_peers',
  'bad_policies',
  'unknown_entries',
  'stale_policies',
]

/** Seconds after which so many nodes of one Domain have pulled all of their peers. */
export function warmUpOf(nodes) {
  return WARM_UP_S + Math.ceil((nodes * nodes * PEER_BYTES) / PULLED_PER_SECOND)
}

/** The command lines of a fleet on a server and of the reporters beside it. */
export async function commandLines(server, { directory, nodes }) {
  const tokenFile = join(directory, 'token')
  await writeFile(tokenFile, `${server.token}\n`, { mode: 0o600 })
  const simulation = ['agent-sim', '--url', server.url, '--token-file', tokenFile, '--output', 'json']
  const reporters = [...simulation, '--no-mesh', '--no-events', '--nodes', String(REPORTERS.nodes)]
  return {
    fleet: [...simulation, '--nodes', String(nodes), '--heartbeat-interval', `${HEARTBEAT_INTERVAL_S}s`],
    reporters: [...reporters, '--heartbeat-interval', `${REPORTERS.intervalS}s`],
  }
}

/**
 * Runs a simulation. Calls `observe` with each line of its progress and the id of its process.
 * @throws Error when it fails, or when it was the bottleneck, unless `mayBeBottleneck`.
 */
export async function play(args, observe = () => undefined, { mayBeBottleneck = false } = {}) {
  const child = spawn(process.execPath, [CTL, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const said = []
  const observed = []
  child.stdout.on('data', (chunk) => said.push(chunk))
  createInterface({ input: child.stderr }).on('line', (line) => {
    const progress = line.startsWith('{"event":"progress"') ? JSON.parse(line) : undefined
    if (progress === undefined) console.error(line)
    else observed.push(observe(progress, child.pid))
  })
  let peakMb = 0
  const watch = setInterval(() => {
    memoryOf(child.pid).then(
      ({ peakMb: most }) => (peakMb = most > peakMb ? most : peakMb),
      // It has ended.
      () => clearInterval(watch),
    )
  }, 1000)
  const [code] = await once(child, 'close')
  clearInterval(watch)
  await Promise.all(observed)
  const isComplete = said.length > 0 && (code === 0 || mayBeBottleneck)
  const summary = isComplete ? JSON.parse(Buffer.concat(said).toString()) : undefined
  if (code !== 0 && summary?.generator.was_bottleneck !== true) throw new Error(`the simulation ended with ${code}`)
  return { summary, peakMb }
}

/** The flaws of some runs together, without those that there are none of. */
export function flawsOf(summaries) {
  const counts = FLAWS.map((name) => [name, summaries.reduce((sum, summary) => sum + summary[name], 0)])
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** The cell of a table with them. */
export function flawsText(flaws) {
  const texts = Object.entries(flaws).map(([name, count]) => `${count} ${name}`)
  return texts.join(', ') || 'none'
}
