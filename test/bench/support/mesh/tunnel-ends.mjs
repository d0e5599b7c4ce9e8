// What every tunnel of the benchmark has in common.
import { readFileSync } from 'node:fs'

export const MTU = 1420
/** The interface of `ctl agent`. */
export const MESH_INTERFACE = 'ctl0'
/** How agents are started: with wireguard-go even where the kernel has WireGuard. */
export const UP_FLAGS = ['--hosts', '--userspace']
/** TCP port of iperf3. */
export const IPERF_PORT = 5201
/** Ports that rules accept which no packet of the benchmark matches. */
export const OTHER_PORTS = Array.from({ length: 20 }, (_, index) => 10_000 + index)

/** Runs a program in a box, and has to succeed. Resolves with what it printed. */
export async function runIn(lab, box, argv, options) {
  const { stdout, stderr, exitCode } = await lab.exec(box, argv, options)
  if (exitCode !== 0) throw new Error(`${argv[0]} in ${box.name} ended with ${exitCode}: ${stdout}${stderr}`)
  return stdout
}

/** The process of wireguard-go in a box that has an interface of that name. */
export async function wireguardGoIn({ processesOf }, box, name) {
  const pids = await processesOf(box, 'wireguard-go')
  const pid = pids.find((each) => readFileSync(`/proc/${each}/cmdline`, 'utf8').split('\0')[1] === name)
  if (pid === undefined) throw new Error(`${box.name} has no wireguard-go with ${name}`)
  return pid
}
