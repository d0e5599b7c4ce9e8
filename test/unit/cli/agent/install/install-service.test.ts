import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { installService } from '../../../../../src/cli/agent/install/install-service.ts'
import type { InstallSystem } from '../../../../../src/cli/agent/install/install-system.ts'
import { uninstallService } from '../../../../../src/cli/agent/install/uninstall-service.ts'
import { placeOf } from '../../../../../src/cli/agent/place.ts'
import type { RunProgram } from '../../../../../src/cli/agent/system/run-program.ts'
import { enrolledState } from '../../../../support/agent/agent-state.ts'

/** Units take no path in /tmp. */
const FOLDERS = '/var/lib'
const isRoot = process.geteuid?.() === 0

describe.skipIf(!isRoot)('the service of the agent', () => {
  let folder: string
  let calls: string[]
  let system: InstallSystem

  const run: RunProgram = async (program, args) => {
    calls.push([program.replace(folder, ''), ...args].join(' '))
    const stdout = args.includes('--version') ? 'v20.19.0\n' : args.includes('show') ? '4711\n' : ''
    return { stdout, stderr: '', exitCode: 0 }
  }
  const place = () => placeOf(join(folder, 'ctl-agent-test'))
  const install = (version = '1.0.0') =>
    installService({ system, place: place(), version, enrolled: async () => enrolledState() })
  const unit = () => readFileSync(join(folder, 'units/ctl-agent-test.service'), 'utf8')
  const copies = () => readdirSync(join(folder, 'lib'))

  beforeEach(() => {
    folder = mkdtempSync(join(FOLDERS, 'ctl-test-'))
    chmodSync(folder, 0o755)
    calls = []
    for (const name of ['package', 'systemd', 'ctl-agent-test', 'bin']) mkdirSync(join(folder, name))
    writeFileSync(join(folder, 'package/agent.cjs'), 'one')
    writeFileSync(join(folder, 'bin/node'), '', { mode: 0o755 })
    system = {
      run,
      unitFolder: join(folder, 'units'),
      programFolder: join(folder, 'lib'),
      program: [['dist/agent/ctl-agent.cjs', pathToFileURL(join(folder, 'package/agent.cjs'))]],
      systemdFolder: join(folder, 'systemd'),
      openresolvConfig: join(folder, 'resolvconf.conf'),
      upgradeProgram: join(folder, 'upgrade'),
      node: join(folder, 'bin/node'),
    }
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('runs a copy of the program, and starts with the machine', async () => {
    const installed = await install()
    expect(installed).toMatchObject({ unit: 'ctl-agent-test.service', isChanged: true, pid: 4711 })
    const [copy = ''] = copies()
    expect(copy).toMatch(/^1\.0\.0-[0-9a-f]{12}$/)
    const main = join(folder, 'lib', copy, 'dist/agent/ctl-agent.cjs')
    expect(readFileSync(main, 'utf8')).toBe('one')
    expect(statSync(main).mode & 0o777).toBe(0o644)
    expect(unit()).toContain(`ExecStart=${folder}/bin/node ${main} agent run --state-dir ${folder}/ctl-agent-test\n`)
    expect(calls).toEqual([
      '/bin/node --version',
      'systemctl daemon-reload',
      'systemctl enable ctl-agent-test.service',
      'systemctl restart ctl-agent-test.service',
      'systemctl show --property=MainPID --value ctl-agent-test.service',
    ])
  })

  test('installed again it is left alone', async () => {
    await install()
    const before = statSync(join(folder, 'units/ctl-agent-test.service')).ino
    calls = []
    expect(await install()).toMatchObject({ isChanged: false, pid: 4711 })
    expect(statSync(join(folder, 'units/ctl-agent-test.service')).ino).toBe(before)
    expect(calls).not.toContain('systemctl restart ctl-agent-test.service')
    expect(calls).not.toContain('systemctl daemon-reload')
  })

  test('an upgrade gets a folder of its own, and that of the former version goes', async () => {
    await install()
    writeFileSync(join(folder, 'package/agent.cjs'), 'two')
    expect(await install('1.1.0')).toMatchObject({ isChanged: true })
    expect(copies()).toEqual([expect.stringMatching(/^1\.1\.0-/)])
    expect(unit()).toContain(`${folder}/lib/${copies()[0]}/`)
  })

  test('a damaged copy is replaced', async () => {
    await install()
    const main = join(folder, 'lib', copies()[0] ?? '', 'dist/agent/ctl-agent.cjs')
    writeFileSync(main, 'damaged')
    await install()
    expect(readFileSync(main, 'utf8')).toBe('one')
  })

  test('where systemd does not run, the unit is written and nothing is started', async () => {
    rmSync(join(folder, 'systemd'), { recursive: true })
    expect(await install()).toMatchObject({ isChanged: true, pid: undefined, isSystemdRunning: false })
    expect(calls).toEqual(['/bin/node --version'])
    expect(existsSync(join(folder, 'units/ctl-agent-test.service'))).toBe(true)
  })

  test('a unit that something else wrote is not touched', async () => {
    mkdirSync(join(folder, 'units'))
    writeFileSync(join(folder, 'units/ctl-agent-test.service'), '[Unit]\n')
    await expect(install()).rejects.toMatchObject({ code: 'unit_taken' })
    await expect(uninstallService(system, place())).rejects.toMatchObject({ code: 'unit_taken' })
    expect(unit()).toBe('[Unit]\n')
    expect(existsSync(join(folder, 'lib'))).toBe(false)
  })

  test('an agent in the background ends before the service starts, by the signal that leaves its tunnels up', async () => {
    const agent = spawn('sleep', ['600'], { stdio: 'ignore' })
    const stat = readFileSync(`/proc/${agent.pid}/stat`, 'utf8')
    const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    writeFileSync(place().lock, `${agent.pid} ${startTime}\n`)
    await install()
    expect(agent.signalCode).toBe('SIGTERM')
    expect(calls).toContain('systemctl restart ctl-agent-test.service')
  })

  test('nothing is written where the node is not enrolled', async () => {
    const refusal = new Error('not enrolled')
    const options = { system, place: place(), version: '1.0.0', enrolled: () => Promise.reject(refusal) }
    await expect(installService(options)).rejects.toBe(refusal)
    expect(existsSync(join(folder, 'units'))).toBe(false)
    expect(existsSync(join(folder, 'lib'))).toBe(false)
  })

  test('a folder for the copies that others can write is refused', async () => {
    mkdirSync(join(folder, 'lib'))
    chmodSync(join(folder, 'lib'), 0o777)
    await expect(install()).rejects.toThrow(`${folder}/lib can be changed by others than root`)
    expect(existsSync(join(folder, 'units'))).toBe(false)
  })

  test('a package that was not built is refused', async () => {
    rmSync(join(folder, 'package/agent.cjs'))
    await expect(install()).rejects.toMatchObject({ code: 'program_incomplete' })
  })

  test('writes to /etc where openresolv is installed', async () => {
    writeFileSync(join(folder, 'resolvconf.conf'), '')
    const state = enrolledState()
    const auto = { ...state, machine: { ...state.machine, names: 'auto' as const } }
    await installService({ system, place: place(), version: '1.0.0', enrolled: async () => auto })
    expect(unit()).toContain(`ReadWritePaths=${folder}/ctl-agent-test -/run/resolvconf /proc/sys/net/ipv4/conf /etc\n`)
  })

  test('uninstalled, nothing but the state folder is left', async () => {
    await install()
    calls = []
    expect(await uninstallService(system, place())).toEqual({ unit: 'ctl-agent-test.service', wasInstalled: true })
    expect(calls).toEqual([
      'systemctl stop ctl-agent-test.service',
      'systemctl disable ctl-agent-test.service',
      'systemctl daemon-reload',
    ])
    expect([readdirSync(join(folder, 'units')), copies()]).toEqual([[], []])
    expect(existsSync(join(folder, 'ctl-agent-test'))).toBe(true)
    expect(await uninstallService(system, place())).toMatchObject({ wasInstalled: false })
  })
})
