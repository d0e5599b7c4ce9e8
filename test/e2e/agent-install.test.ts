import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Finding } from '../../src/cli/commands/doctor/finding.ts'
import type { NetworkCheck } from '../../src/cli/agent/netcheck/check-network.ts'
import { runProgram } from '../../src/cli/agent/system/run-program.ts'
import { enrolledState } from '../support/agent/agent-state.ts'
import { leftovers, makeNamespace, removeNamespace, type Namespace } from '../support/mesh/namespaces.ts'
import { requirement } from '../support/run/requirements.mjs'

const PREFIX = 'ctlin'
const BIN = new URL('../../bin/ctl.js', import.meta.url).pathname
const UNIT = '/etc/systemd/system/ctl-agent.service'
const STATE = '/var/lib/ctl-agent/agent.json'
const WITHIN_MS = 30_000

/** The uplink of the machine. Nothing answers there. */
const UPLINK = [
  'link add up0 type veth peer name up1',
  'address add 192.0.2.7/24 dev up0',
  'link set up0 up',
  'link set up1 up',
  'route add default via 192.0.2.1',
]

/** What the unit leaves to the service: four rights, and folders that can be written. */
const CONFINED = [
  'mkdir -p /run/ctl-ingress',
  'for folder in /run/wireguard /run/ctl-ingress; do mount --bind $folder $folder; done',
  'for folder in / /run /etc; do mount -o remount,bind,ro $folder; done',
  'exec setpriv --no-new-privs --bounding-set=-all,+net_admin,+net_bind_service,+setuid,+setgid "$@"',
].join(' && ')

describe.skipIf(requirement('mesh-lab') === undefined)('an agent as a service', () => {
  let box: Namespace
  let service: ChildProcess | undefined

  const inside = (...words: readonly string[]) => {
    const [program = '', ...args] = [...box.enter, ...words]
    return runProgram(program, args, { timeoutMs: WITHIN_MS })
  }
  const ctl = (...words: readonly string[]) => inside(process.execPath, BIN, 'agent', ...words)
  const lines = async (...words: readonly string[]) =>
    (await inside(...words)).stdout.split('\n').filter((line) => line)
  const setting = async (name: string) =>
    (await lines('cat', UNIT)).find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
  const doctor = async () => {
    const { stdout, exitCode } = await ctl('doctor', '-o', 'json')
    const findings = JSON.parse(stdout) as readonly Finding[]
    return { exitCode, findings, statuses: Object.fromEntries(findings.map(({ check, status }) => [check, status])) }
  }

  /** Starts the command line of the unit, and waits until the agent has looked for its server. */
  const startService = async (): Promise<ChildProcess> => {
    const command = (await setting('ExecStart')).split(' ')
    const [enter = '', ...words] = [...box.enter, 'unshare', '--mount', 'sh', '-c', CONFINED, 'sh', ...command]
    const started = spawn(enter, words, { stdio: 'ignore', env: { PATH: '/usr/sbin:/usr/bin' } })
    const hasLookedForServer = async () =>
      expect((await ctl('status', '-o', 'json', '--jq', '.server.reachable')).stdout).toBe('false\n')
    await vi.waitFor(hasLookedForServer, { timeout: WITHIN_MS, interval: 200 })
    return started
  }

  beforeAll(async () => {
    for (const name of leftovers(PREFIX)) await removeNamespace(name)
    box = await makeNamespace(`${PREFIX}-${process.pid}`)
    await box.ip(UPLINK)
    for (const folder of ['/var/lib', '/usr/local/lib']) await inside('mount', '-t', 'tmpfs', 'tmpfs', folder)
  }, WITHIN_MS)
  afterAll(() => removeNamespace(box.name), WITHIN_MS)

  test('is not installed on a machine that is not enrolled', async () => {
    const { stderr, exitCode } = await ctl('install')
    expect([stderr, exitCode]).toEqual([
      'error: this machine is not enrolled yet, which needs --server and --join-token-file\n' +
        'Make a token where you are signed in: ctl join-tokens create\n',
      2,
    ])
    expect(await lines('find', '/usr/local/lib', UNIT)).toEqual(['/usr/local/lib'])
  })

  test(
    'runs what the unit starts, with no more rights and folders than the unit leaves to it',
    async () => {
      const state = enrolledState()
      // Nothing listens there.
      const away = { ...state, server: { url: 'http://127.0.0.1:9' }, machine: { ...state.machine, names: 'auto' } }
      const [program, ...args] = [...box.enter, 'install', '-m', '600', '/dev/stdin', STATE]
      expect(await runProgram(program, args, { stdin: JSON.stringify(away) })).toMatchObject({ exitCode: 0 })
      const { stderr, exitCode } = await ctl('install')
      expect([stderr, exitCode]).toEqual([
        `Wrote ${UNIT}.\nsystemd does not run here, so nothing was started. Where it does: systemctl enable --now ctl-agent.service. Without it: ctl agent up\n`,
        0,
      ])
      const [, main = '', ...rest] = (await setting('ExecStart')).split(' ')
      expect(main).toMatch(/^\/usr\/local\/lib\/ctl-mesh\/\d+\.\d+\.\d+-[0-9a-f]{12}\/dist\/agent\/ctl-agent\.cjs$/)
      expect(rest).toEqual(['agent', 'run', '--state-dir', '/var/lib/ctl-agent'])
      service = await startService()
      expect(readFileSync(`/proc/${service.pid}/status`, 'utf8')).toMatch(/^CapBnd:\t00000000000014c0$/m)
    },
    2 * WITHIN_MS,
  )

  test.skipIf(requirement('systemd-analyze') === undefined)('has a unit that systemd understands', async () => {
    const { stdout, stderr } = await inside('systemd-analyze', 'verify', '--man=no', UNIT)
    expect(`${stdout}${stderr}`).toBe('')
  })

  test('installed again changes nothing', async () => {
    const before = await lines('stat', '-c', '%i %Z', UNIT)
    expect((await ctl('install')).stderr).not.toContain('Wrote')
    expect(await lines('stat', '-c', '%i %Z', UNIT)).toEqual(before)
  })

  test('is examined: what the server keeps from working is a problem, the rest is not', async () => {
    const { exitCode, findings, statuses } = await doctor()
    expect(exitCode).toBe(10)
    expect(findings.filter(({ status }) => status === 'problem')).toEqual([
      {
        check: 'server',
        status: 'problem',
        detail: expect.stringContaining('http://127.0.0.1:9 could not be asked'),
        advice: expect.stringContaining('The tunnels stay up meanwhile.'),
      },
    ])
    expect(statuses).toMatchObject({
      agent: 'ok',
      rights: 'ok',
      folder: 'ok',
      state: 'ok',
      enrolment: 'ok',
      key: 'skipped',
      clock: 'skipped',
      network: 'ok',
      events: 'skipped',
      firewall: 'ok',
      interface: 'ok',
      mtu: 'ok',
      routes: 'ok',
      hosts: 'ok',
    })
  })

  test('has the network checked', async () => {
    const { stdout, exitCode } = await ctl('netcheck', '-o', 'json')
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout) as NetworkCheck).toEqual({
      name: 'web-1',
      mesh_address: '100.64.0.1',
      server: { url: 'http://127.0.0.1:9', reachable: false, local_address: '192.0.2.7' },
      local_addresses: { ipv4: ['192.0.2.7'], ipv6: [] },
      listen_port: 51_820,
      is_port_bound: true,
      own_endpoint: '192.0.2.7:51820',
      nat: 'none',
      peers: [],
    })
  })

  test('finds an uplink that is too narrow, an interface that is down, and addresses of another mesh', async () => {
    await box.ip(['link set up0 mtu 1400', 'link set ctl0 down', 'address add 100.64.9.9/32 dev up1'])
    const { findings } = await doctor()
    await box.ip(['link set up0 mtu 1500', 'address del 100.64.9.9/32 dev up1', 'link set ctl0 up'])
    const found = (check: string) => findings.find((finding) => finding.check === check)
    expect(found('mtu')).toMatchObject({ status: 'problem', advice: 'Start the agent with --mtu 1320' })
    expect(found('interface')).toMatchObject({ status: 'problem', detail: 'ctl0 is down' })
    expect(found('neighbours')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('up1 has addresses'),
    })
  })

  test('leaves its tunnels up when it is stopped, and takes them over when it starts again', async () => {
    const processes = () => lines('pgrep', '--ns', String(service?.pid), '--nslist', 'net', '-x', 'wireguard-go')
    const before = await processes()
    expect(before).toHaveLength(1)
    const stopped = service
    if (stopped === undefined) throw new Error('the service was not started')
    stopped.kill('SIGTERM')
    await once(stopped, 'exit')
    expect(stopped.exitCode).toBe(0)
    expect(await lines('ip', '-br', 'link', 'show', 'dev', 'ctl0', 'up')).toHaveLength(1)
    service = await startService()
    expect(await processes()).toEqual(before)
  }, 180_000)

  test('is stopped and taken down by "uninstall", and its state stays', async () => {
    const { stderr, exitCode } = await ctl('uninstall')
    expect([stderr, exitCode]).toEqual([
      'ctl-agent.service is stopped and removed. /var/lib/ctl-agent keeps the keys of web-1.\n',
      0,
    ])
    if (service?.exitCode === null) await once(service, 'exit')
    expect(service?.exitCode).toBe(0)
    expect(await lines('find', '/usr/local/lib/ctl-mesh', UNIT)).toEqual(['/usr/local/lib/ctl-mesh'])
    expect((await inside('test', '-s', STATE)).exitCode).toBe(0)
    expect((await inside('ip', 'link', 'show', 'dev', 'ctl0')).exitCode).not.toBe(0)
    expect((await ctl('uninstall')).stderr).toBe('There is no ctl-agent.service.\n')
    const { exitCode: after, statuses } = await doctor()
    expect([after, statuses['agent']]).toEqual([10, 'problem'])
  })
})
