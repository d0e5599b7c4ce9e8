// An agent with many peers and nothing to do. Its box has a public address, so that it sends no keepalives.
import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSecondsOf } from '../processes.mjs'
import { memoryOf } from '../servers.mjs'
import { MESH_INTERFACE, runIn, UP_FLAGS, wireguardGoIn } from './tunnel-ends.mjs'

const BOX = 'idle'
/** For documentation (RFC 5737): no private network. */
const PUBLIC_ADDRESS = '198.51.100.7'
const LOOK_MS = 500
/** Until the agent has put its peers: enrolments of others, pulls and keys come before. */
const PEERS_MS_MAX = 300_000
/** The start is over when the agent takes less than this share of a core for so many seconds in a row. */
const QUIET = { share: 0.05, seconds: 5, secondsMax: 120 }
/** Longer than any run: the simulations end with the mesh. */
const SIMULATION = ['--duration', '6h', '--heartbeat-interval', '30s']
/** Simulated nodes change nothing by themselves. */
const STILL = ['--endpoint-changes', '0%/min', '--pulls', '0%/min', '--reports', '0%/min', '--violations', '0%/min']

/** Measures an agent that starts enrolled, with each number of peers; the numbers grow. */
export async function measureIdle(scene, { peers, seconds }) {
  const { mesh, succeeded } = scene
  const box = await publicBox(scene)
  const results = []
  let simulated = 0
  for (const count of peers) {
    await simulate(scene, count - simulated)
    simulated = count
    await succeeded(results.length === 0 ? mesh.up(box, ...UP_FLAGS) : mesh.agent(box, 'up'))
    await hasPeers(scene, box, count)
    const pids = { node: mesh.agentPid(box), device: await wireguardGoIn(scene, box, MESH_INTERFACE) }
    await quiet(pids.node)
    results.push({ peers: count, seconds, ...(await idle(pids, seconds)) })
    await succeeded(mesh.agent(box, 'down'))
  }
  return results
}

async function publicBox({ lab }) {
  const box = await lab.box(BOX)
  const internet = box.namespace.name.replace(new RegExp(`${BOX}$`), 'internet')
  const route = ['-n', internet, 'route', 'add', `${PUBLIC_ADDRESS}/32`, 'via', box.address]
  const { status, stderr } = spawnSync('ip', route, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${route.join(' ')}: ${stderr}`)
  await runIn(lab, box, ['ip', 'address', 'add', `${PUBLIC_ADDRESS}/32`, 'dev', 'eth0'])
  const gateway = box.address.replace(/\d+$/, '1')
  await runIn(lab, box, ['ip', 'route', 'replace', 'default', 'via', gateway, 'src', PUBLIC_ADDRESS])
  return box
}

/** Starts so many nodes. Resolves once they are enrolled. */
async function simulate({ mesh }, nodes) {
  const child = mesh.startOperator(['agent-sim', '--nodes', String(nodes), ...SIMULATION, ...STILL, '--output', 'json'])
  const said = []
  await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line)
      if (line.startsWith('{') && JSON.parse(line).phase === 'running') resolve()
    })
    child.once('exit', (code) => reject(new Error(`the simulation ended with ${code}: ${said.join('\n')}`)))
  })
  child.stdout.resume()
}

async function hasPeers(scene, box, count) {
  const deadline = performance.now() + PEERS_MS_MAX
  for (;;) {
    const inDevice = await peersInDevice(scene, box)
    if (inDevice === count) return
    if (performance.now() > deadline) throw new Error(`the agent has put ${inDevice} of ${count} peers`)
    await sleep(LOOK_MS)
  }
}

async function peersInDevice({ lab }, box) {
  const text = await runIn(lab, box, ['wg', 'show', MESH_INTERFACE, 'persistent-keepalive'])
  const peers = text.split('\n').filter((line) => line !== '')
  if (peers.some((line) => !line.endsWith('\toff'))) throw new Error('the agent sends keepalives')
  return peers.length
}

/** Resolves when the process has nothing left to do of its start, or after the longest time. */
async function quiet(pid) {
  const deadline = performance.now() + QUIET.secondsMax * 1000
  for (let seconds = 0; seconds < QUIET.seconds && performance.now() < deadline;)
    seconds = (await coresOf([pid], 1))[0] < QUIET.share ? seconds + 1 : 0
}

async function idle({ node, device }, seconds) {
  const [nodeCores, deviceCores] = await coresOf([node, device], seconds)
  const memory = await memoryOf(node)
  return {
    nodeMb: memory.nowMb,
    nodePeakMb: memory.peakMb,
    nodeCores,
    deviceMb: (await memoryOf(device)).nowMb,
    deviceCores,
  }
}

/** Share of a core that each process takes in so many seconds. */
async function coresOf(pids, seconds) {
  const cpu = () => Promise.all(pids.map((pid) => cpuSecondsOf([pid])))
  const [before, startedAt] = [await cpu(), performance.now()]
  await sleep(seconds * 1000)
  const after = await cpu()
  const took = (performance.now() - startedAt) / 1000
  return after.map((value, index) => (value - before[index]) / took)
}
