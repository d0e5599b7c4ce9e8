// The tunnel of `ctl agent` between two boxes, with policies in force.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { IPERF_PORT, MESH_INTERFACE, OTHER_PORTS, UP_FLAGS, wireguardGoIn } from './tunnel-ends.mjs'

const POLICIES_MS_MAX = 30_000
const LOOK_MS = 100
const UNDERLAY = /^10\.99\./

/** Makes both boxes nodes with policies. `start` and `stop` are those of the first; `enrol` makes it another node. */
export async function openAgentTunnel(scene) {
  const { mesh, a, b, succeeded } = scene
  await loadPolicies(scene)
  for (const box of [a, b]) await succeeded(mesh.up(box, ...UP_FLAGS))
  for (const box of [a, b]) await policiesInForce(scene, box)
  const stop = () => succeeded(mesh.agent(a, 'down'))
  await stop()
  return {
    name: 'ctl agent',
    address: (await statusOf(scene, b)).mesh_address,
    start: () => succeeded(mesh.agent(a, 'up')),
    stop,
    enrol: () => succeeded(mesh.up(a, ...UP_FLAGS)),
    /** Deletes the node, so that its box can be enrolled again. */
    async forget() {
      await succeeded(mesh.operator('nodes', 'deregister', a.name, '--yes'))
      await rm(mesh.stateDirectory(a), { recursive: true })
    },
    /** Takes both ends away, and their nodes. */
    async close() {
      for (const box of [a, b]) {
        await succeeded(mesh.agent(box, 'down'))
        await succeeded(mesh.operator('nodes', 'deregister', box.name, '--yes'))
      }
    },
    async processes() {
      await policiesInForce(scene, a)
      await throughNoOtherTunnel(scene)
      return {
        tunnel: await Promise.all([a, b].map((box) => wireguardGoIn(scene, box, MESH_INTERFACE))),
        node: [a, b].map((box) => mesh.agentPid(box)),
      }
    },
  }
}

async function statusOf({ mesh, succeeded }, box) {
  return JSON.parse((await succeeded(mesh.agent(box, 'status', '-o', 'json'))).stdout)
}

/** Isolates each node in both directions. What pings and iperf3 need is accepted by the last policy. */
async function loadPolicies({ mesh, directory, succeeded }) {
  const both = (rule) => ['ingress', 'egress'].map((direction) => ({ direction, peers: '*', ...rule }))
  const ofPort = (port) => both({ protocol: 'tcp', ports: [String(port)] })
  const policies = [
    ...OTHER_PORTS.map((port) => ({ slug: `bench-${port}`, selector: '*', rules: ofPort(port) })),
    { slug: 'bench-used', selector: '*', rules: [...ofPort(IPERF_PORT), ...both({ protocol: 'icmp' })] },
  ]
  const file = join(directory, 'policies.yaml')
  // JSON is YAML.
  await writeFile(file, policies.map((policy) => JSON.stringify(policy)).join('\n---\n'))
  await succeeded(mesh.operator('policies', 'create', '-f', file))
}

async function policiesInForce(scene, box) {
  const deadline = performance.now() + POLICIES_MS_MAX
  for (;;) {
    const { policies } = await statusOf(scene, box)
    if (policies.count === OTHER_PORTS.length + 1 && policies.fault === null && policies.rules.length > 0) return
    if (performance.now() > deadline)
      throw new Error(`the policies are not in force in ${box.name}: ${policies.count}, ${policies.fault}`)
    await sleep(LOOK_MS)
  }
}

/** An agent may find its peer at an address of another tunnel, and the benchmark would measure both together. */
async function throughNoOtherTunnel({ mesh, a, b, succeeded }) {
  const rows = JSON.parse((await succeeded(mesh.agent(a, 'peers', '-o', 'json'))).stdout)
  const endpoint = rows.find(({ name }) => name === b.name)?.endpoint
  if (!UNDERLAY.test(endpoint ?? ''))
    throw new Error(`the agent reaches ${b.name} at ${endpoint}, through another tunnel`)
}
