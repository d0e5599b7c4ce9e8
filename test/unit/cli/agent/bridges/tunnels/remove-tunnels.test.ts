import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { removeTunnels } from '../../../../../../src/cli/agent/bridges/tunnels/remove-tunnels.ts'
import { markedProcesses } from '../../../../../../src/cli/agent/system/marked-processes.ts'
import type { RunProgram } from '../../../../../../src/cli/agent/system/run-program.ts'

const [OPENVPN, IPSEC, WIREGUARD, OF_ANOTHER] = ['s2so', 's2si', 's2sw', 's2so'].map(
  (prefix, index) => `${prefix}0123456789${index}`,
) as [string, string, string, string]
const OWN = 'ctl node-one'

let folder: string
/** Interfaces with their alias. */
let links: Map<string, string>
let refused: Set<string>
let children: ChildProcess[]

/** `ip` of a machine with these interfaces. */
const run: RunProgram = async (_program, args) => {
  const name = args.includes('dev') ? (args.at(-1) ?? '') : undefined
  const isMissing = name !== undefined && !links.has(name)
  if (isMissing) return { stdout: '', stderr: `Device "${name}" does not exist.`, exitCode: 1 }
  if (args.includes('del') && name !== undefined) {
    if (refused.has(name)) return { stdout: '', stderr: 'RTNETLINK answers: Operation not permitted', exitCode: 2 }
    links.delete(name)
    return { stdout: '', stderr: '', exitCode: 0 }
  }
  const shown = [...links].filter(([ifname]) => name === undefined || ifname === name)
  const facts = shown.map(([ifname, ifalias]) => ({ ifname, ifalias, mtu: 1420, flags: ['UP'] }))
  return { stdout: JSON.stringify(facts), stderr: '', exitCode: 0 }
}
const remove = () => removeTunnels({ run, owner: 'node-one', folder })

/** A process as an agent that was killed has left it, with the files of its program. */
async function leave(name: string, files: readonly string[]): Promise<void> {
  for (const file of files) writeFileSync(join(folder, file), '')
  const env = { CTL_TUNNEL: join(folder, name), CTL_TUNNEL_CONFIG: 'digest' }
  children.push(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { env, stdio: 'ignore' }))
  await vi.waitFor(() => expect(processesOf(name)).toHaveLength(1), { timeout: 10_000, interval: 10 })
}
const processesOf = (name: string): readonly number[] => markedProcesses({ CTL_TUNNEL: join(folder, name) })

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-left-'))
  writeFileSync(join(folder, 'agent.log'), '')
  links = new Map([['ctl0', OWN]])
  refused = new Set()
  children = []
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

describe('the tunnels that a killed agent has left', () => {
  test('are removed with interfaces, processes and files, and nothing else is', async () => {
    for (const name of [OPENVPN, IPSEC, WIREGUARD]) links.set(name, OWN)
    links.set(OF_ANOTHER, 'ctl node-other')
    await leave(OPENVPN, [`${OPENVPN}.sock`, `${OPENVPN}.log`])
    await leave('charon', ['charon.vici', 'charon.log'])
    await remove()
    // Those of WireGuard are removed as the one of the mesh is.
    expect([...links.keys()]).toEqual(['ctl0', WIREGUARD, OF_ANOTHER])
    expect([processesOf(OPENVPN), processesOf('charon')]).toEqual([[], []])
    expect(readdirSync(folder)).toEqual(['agent.log'])
  })

  test('are removed where another program has taken their interfaces away', async () => {
    await leave(OPENVPN, [`${OPENVPN}.log`])
    await leave('charon', ['charon.log'])
    await remove()
    expect([processesOf(OPENVPN), processesOf('charon')]).toEqual([[], []])
    expect(readdirSync(folder)).toEqual(['agent.log'])
  })

  test('are removed but for the one that the machine refuses, which is named', async () => {
    for (const name of [OPENVPN, IPSEC]) links.set(name, OWN)
    refused.add(OPENVPN)
    await leave('charon', ['charon.log'])
    await expect(remove()).rejects.toThrow('ip link del failed: RTNETLINK answers: Operation not permitted')
    expect([...links.keys()]).toEqual(['ctl0', OPENVPN])
    expect(processesOf('charon')).toEqual([])
  })
})
