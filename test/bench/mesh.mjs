// What the mesh of `ctl agent` takes, in network namespaces: the time from the start of an agent to its first ping, throughput and
// processor time through its tunnel with policies in force beside bare wireguard-go and nebula between the same two boxes, and
// memory and processor time of an idle agent with many peers. `--rounds=N` and `--seconds=N` of iperf3, `--peers=N,N` and
// `--idle-seconds=N` take other sizes; 0 rounds or seconds and no peers leave that part out. A program that is missing is named,
// with what is left out.
import { mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { REQUIREMENTS, requirement } from '../support/run/requirements.mjs'
import { openAgentTunnel } from './support/mesh/agent-tunnel.mjs'
import { openBareWireguard } from './support/mesh/bare-wireguard.mjs'
import { measureIdle } from './support/mesh/idle-agent.mjs'
import { serveIperf } from './support/mesh/iperf.mjs'
import { idleReport, startReport, throughputReport } from './support/mesh/mesh-report.mjs'
import { missingPrograms } from './support/mesh/missing-programs.mjs'
import { openNebula } from './support/mesh/nebula.mjs'
import { optionsOf } from './support/mesh/options.mjs'
import { measureStarts } from './support/mesh/start-times.mjs'
import { measureThroughput } from './support/mesh/throughput.mjs'
import { printRecord, printTable } from './support/report.mjs'
import { importTypeScript } from './support/typescript.mjs'

const AGENT_MESH = new URL('../support/mesh/agent-mesh.ts', import.meta.url)
/** A process that a signal ends exits with this and the number of the signal. */
const SIGNAL_EXIT = 128

export async function run(args) {
  const options = optionsOf(args)
  if (requirement('mesh-lab') === undefined) throw new Error(`it needs ${REQUIREMENTS['mesh-lab'].enable}`)
  const missing = missingPrograms()
  for (const each of missing) console.error(`${each.program} is missing: apt-get install ${each.package}`)
  const lacks = new Set(missing.map(({ program }) => program))
  const { startAgentMesh, processesOf, succeeded } = await importTypeScript(AGENT_MESH)
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const starting = startAgentMesh('ctlbench')
  let closing
  const close = () =>
    (closing ??= starting.then((mesh) => mesh.close()).finally(() => rm(directory, { recursive: true, force: true })))
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => void close().finally(() => process.exit(SIGNAL_EXIT + constants.signals[signal])))
  try {
    const mesh = await starting
    const scene = { mesh, lab: mesh.lab, directory, processesOf, succeeded }
    if (options.rounds > 0) await compareTunnels(scene, options, lacks)
    if (options.peers.length === 0) return
    print(idleReport(await measureIdle(scene, { peers: options.peers, seconds: options.idleSeconds })))
  } finally {
    await close()
  }
}

async function compareTunnels({ mesh, lab, ...scene }, { rounds, seconds }, lacks) {
  const [a, b] = [await lab.box('one'), await lab.box('two')]
  const ends = { ...scene, mesh, lab, a, b }
  const agent = await openAgentTunnel(ends)
  const tunnels = [await openBareWireguard(ends), agent]
  if (lacks.has('nebula') || lacks.has('nebula-cert')) console.error('nebula is left out')
  else tunnels.push(await openNebula(ends))
  print(startReport(await measureStarts(ends, tunnels, { rounds })))
  if (lacks.has('iperf3') || lacks.has('ss')) console.error('throughput is left out')
  else if (seconds > 0) {
    await serveIperf(lab, b)
    print(throughputReport(await measureThroughput(ends, tunnels, { rounds, seconds }), { seconds }))
  }
  await agent.close()
}

function print({ header, rows, records }) {
  printTable(header, rows)
  for (const record of records) printRecord(record)
}
