import { cpuSecondsOf } from '../processes.mjs'
import { memoryOf } from '../servers.mjs'
import { sendByIperf } from './iperf.mjs'

const GIGABYTE = 1e9

/**
 * Sends through each tunnel in each round, another one first each time. Resolves with the samples of each tunnel, by round, and the
 * memory of its processes afterwards.
 */
export async function measureThroughput({ lab, a }, tunnels, { rounds, seconds }) {
  const samples = tunnels.map(() => [])
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < tunnels.length; turn += 1) {
      const index = (round + turn) % tunnels.length
      samples[index].push(await sendOnce(tunnels[index], (address) => sendByIperf(lab, a, { address, seconds })))
    }
  }
  return Promise.all(
    tunnels.map(async (tunnel, index) => ({
      tunnel: tunnel.name,
      samples: samples[index],
      memory: await memoryOfBoth(tunnel),
    })),
  )
}

async function sendOnce(tunnel, send) {
  const { tunnel: carriers, node = [] } = await tunnel.processes()
  const cpu = async () => [await cpuSecondsOf(carriers), await cpuSecondsOf(node)]
  const before = await cpu()
  const { bytes, bitsPerSecond, retransmits } = await send(tunnel.address)
  const [carriersCpu, nodeCpu] = (await cpu()).map((seconds, index) => seconds - before[index])
  const perGigabyte = (cpuSeconds) => cpuSeconds / (bytes / GIGABYTE)
  return {
    bitsPerSecond,
    retransmits,
    cpuPerGigabyte: perGigabyte(carriersCpu),
    nodeCpuPerGigabyte: node.length === 0 ? undefined : perGigabyte(nodeCpu),
  }
}

/** Resident memory at the end that sends, in MB. */
async function memoryOfBoth(tunnel) {
  const { tunnel: carriers, node = [] } = await tunnel.processes()
  const [carrier, agent] = [carriers[0], node[0]]
  return {
    carrierMb: (await memoryOf(carrier)).nowMb,
    nodeMb: agent === undefined ? undefined : (await memoryOf(agent)).nowMb,
  }
}
