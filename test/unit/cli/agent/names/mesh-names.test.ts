import { writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { Resolver } from 'node:dns/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type MeshNames, type MeshNamesOptions, openMeshNames } from '../../../../../src/cli/agent/names/mesh-names.ts'
import type { NamesSystem } from '../../../../../src/cli/agent/names/names-system.ts'
import { missingProgram } from '../../../../../src/cli/agent/system/missing-program.ts'
import type { RunProgram } from '../../../../../src/cli/agent/system/run-program.ts'

const WEB = [{ name: 'web-2', address: '100.64.0.2' }]
const HOSTS = '127.0.0.1 localhost\n'
const HINT = 'Start the agent with --hosts to write them to the hosts file instead.'

let folder: string
let system: NamesSystem
let log: string[]
let calls: string[]
/** Answers of programs; those that are not here are not installed. */
let programs: Record<string, (args: readonly string[]) => { stdout?: string; stderr?: string; exitCode?: number }>

const run: RunProgram = async (program, args, { stdin = '' } = {}) => {
  const answer = programs[program]
  if (answer === undefined) throw missingProgram(program)
  calls.push([program, ...args].join(' ') + (stdin === '' ? '' : ` <${JSON.stringify(stdin.toString())}`))
  return { stdout: '', stderr: '', exitCode: 0, ...answer(args) }
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ctl-names-'))
  system = {
    hostsFile: join(folder, 'hosts'),
    resolvConf: join(folder, 'resolv.conf'),
    nsswitch: join(folder, 'nsswitch.conf'),
    resolvedFolder: join(folder, 'resolve'),
    interfacesFolder: join(folder, 'net'),
    ownNetwork: join(folder, 'own-net'),
    machineNetwork: join(folder, 'machine-net'),
    openresolvConfig: join(folder, 'resolvconf.conf'),
    resolverAddresses: ['127.0.0.163'],
    resolverPort: 0,
  }
  log = []
  calls = []
  programs = {}
  await writeFile(system.hostsFile, HOSTS)
  await writeFile(system.resolvConf, 'nameserver 192.0.2.53\n')
})

afterEach(() => rm(folder, { recursive: true }))

async function open(way: MeshNamesOptions['way'] = 'auto', interfaceName = 'ctl0'): Promise<MeshNames> {
  const names = await openMeshNames({ way, interfaceName, run, log: (line) => log.push(line), system })
  onTestFinished(() => names.close())
  return names
}

async function lookUp(names: MeshNames, name: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 1 })
  resolver.setServers([names.status().listen ?? ''])
  return resolver.resolve4(name)
}

/** systemd-resolved runs, and programs ask it. */
async function withResolved(): Promise<void> {
  await mkdir(system.resolvedFolder)
  await interfaceIs(5)
  await writeFile(system.resolvConf, 'nameserver 127.0.0.53\noptions edns0\n')
  programs['resolvectl'] = () => ({})
}

async function interfaceIs(index: number): Promise<void> {
  await mkdir(join(system.interfacesFolder, 'ctl0'), { recursive: true })
  await writeFile(join(system.interfacesFolder, 'ctl0/ifindex'), `${index}\n`)
}

const CONFIGURED = [
  'resolvectl domain ctl0 ~mesh',
  'resolvectl default-route ctl0 no',
  'resolvectl dnssec ctl0 no',
  'resolvectl dnsovertls ctl0 no',
  'resolvectl llmnr ctl0 no',
  'resolvectl mdns ctl0 no',
  'resolvectl dns ctl0 127.0.0.163',
]

describe('with systemd-resolved', () => {
  beforeEach(withResolved)

  test('only names under mesh are sent to the resolver, and the machine is left as it was', async () => {
    const names = await open()
    expect(calls).toEqual(CONFIGURED)
    await names.publish(WEB)
    expect(names.status()).toMatchObject({ way: 'systemd-resolved', fault: undefined })
    expect(await lookUp(names, 'web-2.mesh')).toEqual(['100.64.0.2'])
    expect(calls).toEqual(CONFIGURED)
    await names.remove()
    expect(calls.slice(CONFIGURED.length)).toEqual(['resolvectl revert ctl0'])
    await names.remove()
    expect(log).toEqual([])
  })

  test('it is configured again once the interface was created again', async () => {
    const names = await open()
    await interfaceIs(6)
    await Promise.all([names.publish(WEB), names.publish(WEB)])
    expect(calls).toEqual([...CONFIGURED, ...CONFIGURED])
  })

  test('nothing is configured once the removal has begun, and the removal waits for what is under way', async () => {
    const names = await open()
    await interfaceIs(6)
    await Promise.all([names.publish(WEB), names.remove()])
    await interfaceIs(7)
    await names.publish(WEB)
    expect(calls).toEqual([...CONFIGURED, ...CONFIGURED, 'resolvectl revert ctl0'])
  })

  test('what it refuses is taken back, and the status has its sentence', async () => {
    programs['resolvectl'] = ([property]) =>
      property === 'dnsovertls' ? { exitCode: 1, stderr: 'Access denied\nmore' } : {}
    const names = await open()
    expect(calls).toEqual([...CONFIGURED.slice(0, 4), 'resolvectl revert ctl0'])
    const fault = `Programs of this machine do not find .mesh names: systemd-resolved refused: Access denied; openresolv is not installed. ${HINT}`
    expect(names.status()).toMatchObject({ way: 'resolver-only', fault })
    expect(log).toEqual([fault])
  })

  test('the status names the fault where programs do not ask it', async () => {
    await writeFile(system.resolvConf, 'nameserver 192.0.2.53\n')
    const names = await open()
    expect(names.status()).toMatchObject({
      way: 'systemd-resolved',
      fault: expect.stringContaining(
        `${system.resolvConf} does not lead to it: link it to ${system.resolvedFolder}/stub-resolv.conf`,
      ),
    })
  })

  test('programs that ask it by its NSS module are enough', async () => {
    await writeFile(system.resolvConf, 'nameserver 192.0.2.53\n')
    await writeFile(system.nsswitch, 'passwd: files\nhosts: files resolve [!UNAVAIL=return] dns\n')
    expect((await open()).status()).toMatchObject({ way: 'systemd-resolved', fault: undefined })
  })

  test('nothing is asked of it once the interface is gone: it has forgotten it', async () => {
    const names = await open()
    await rm(join(system.interfacesFolder, 'ctl0'), { recursive: true })
    await names.remove()
    expect(calls).toEqual(CONFIGURED)
  })

  test('nothing is asked of it once it is uninstalled, though its folder stays', async () => {
    const names = await open()
    delete programs['resolvectl']
    await names.remove()
    expect(calls).toEqual(CONFIGURED)
  })

  test('a removal that it refuses is an error, after everything else was removed', async () => {
    const names = await open('hosts')
    await names.publish(WEB)
    programs['resolvectl'] = () => ({ exitCode: 1, stderr: 'Access denied' })
    await expect(names.remove()).rejects.toMatchObject({
      code: 'names_not_removed',
      message: 'systemd-resolved kept the names of ctl0: Access denied.',
      hints: ['Try: resolvectl revert ctl0'],
    })
    expect(await readFile(system.hostsFile, 'utf8')).toBe(HOSTS)
  })
})

describe('with resolvconf', () => {
  const openresolv = () => {
    programs['resolvconf'] = ([flag]) => (flag === '--version' ? { stdout: 'openresolv 3.12.0\n' } : {})
  }

  test('of openresolv and a local resolver, only names under mesh are sent to the resolver', async () => {
    openresolv()
    await writeFile(system.openresolvConfig, 'dnsmasq_conf=/etc/dnsmasq-conf.conf\nlocal_nameservers=127.0.0.1\n')
    const names = await open()
    expect(names.status()).toMatchObject({ way: 'resolvconf', fault: undefined })
    expect(calls).toContain('resolvconf -m 9999 -p -a ctl0.ctl <"search mesh\\nnameserver 127.0.0.163\\n"')
    await names.remove()
    expect(calls.at(-1)).toBe('resolvconf -f -d ctl0.ctl')
  })

  test.each([
    ['', 'openresolv has no local resolver such as dnsmasq in '],
    ['#dnsmasq_conf=/etc/x\n', 'openresolv has no local resolver such as dnsmasq in '],
    ['unbound_conf=/etc/x\n', 'set local_nameservers=127.0.0.1 in '],
    ['unbound_conf=/etc/x\nlocal_nameservers="127.* ::1"\n', 'set local_nameservers=127.0.0.1 in '],
  ])('with the settings %j it is not used', async (settings, reason) => {
    openresolv()
    await writeFile(system.openresolvConfig, settings)
    expect((await open()).status()).toMatchObject({
      way: 'resolver-only',
      fault: expect.stringContaining(reason + system.openresolvConfig),
    })
    expect(calls.filter((call) => call.includes(' -a '))).toEqual([])
  })

  test('that puts the resolver before all names is taken back', async () => {
    programs['resolvconf'] = ([flag]) => {
      if (flag === '-m') writeFileSync(system.resolvConf, 'nameserver 127.0.0.163\n')
      return flag === '--version' ? { stdout: 'openresolv 3.12.0\n' } : {}
    }
    await writeFile(system.openresolvConfig, 'dnsmasq_conf=/etc/x\nlocal_nameservers=127.0.0.1\n')
    const names = await open()
    expect(calls.at(-1)).toBe('resolvconf -f -d ctl0.ctl')
    expect(names.status().way).toBe('resolver-only')
  })

  test('of Debian is not used: it knows no zones', async () => {
    programs['resolvconf'] = () => ({ exitCode: 99, stderr: 'resolvconf: Error: Command not recognized' })
    expect((await open()).status()).toMatchObject({
      way: 'resolver-only',
      fault: `Programs of this machine do not find .mesh names: systemd-resolved does not run; openresolv is not installed. ${HINT}`,
    })
  })
})

describe('in another network namespace than the resolvers of the machine', () => {
  const openresolv = async () => {
    programs['resolvconf'] = ([flag]) => (flag === '--version' ? { stdout: 'openresolv 3.12.0\n' } : {})
    await writeFile(system.openresolvConfig, 'dnsmasq_conf=/etc/x\nlocal_nameservers=127.0.0.1\n')
  }

  beforeEach(async () => {
    await symlink('net:[4026532000]', system.ownNetwork)
    await symlink('net:[4026531840]', system.machineNetwork)
    await withResolved()
    await openresolv()
  })

  test('neither is given the interface nor asked to forget it: theirs of the same index and name are not ours', async () => {
    const names = await open()
    await names.publish(WEB)
    await names.remove()
    expect(calls.filter((call) => call !== 'resolvconf --version')).toEqual([])
  })

  test('the status names the reason', async () => {
    expect((await open()).status()).toMatchObject({
      way: 'resolver-only',
      fault: `Programs of this machine do not find .mesh names: systemd-resolved serves another network namespace; openresolv serves another network namespace. ${HINT}`,
    })
  })

  test('nothing is wrong where its own resolv.conf names the resolver', async () => {
    await writeFile(system.resolvConf, 'nameserver 127.0.0.163\n')
    expect((await open()).status()).toMatchObject({ way: 'resolver-only', fault: undefined })
  })
})

test('in the network namespace of the machine its resolvers are used', async () => {
  await withResolved()
  await symlink('net:[4026531840]', system.ownNetwork)
  await symlink('net:[4026531840]', system.machineNetwork)
  expect((await open()).status()).toMatchObject({ way: 'systemd-resolved', fault: undefined })
})

describe('without split DNS', () => {
  test('the resolver answers, and the status recommends the hosts file', async () => {
    const names = await open()
    await names.publish(WEB)
    expect(names.status()).toEqual({
      way: 'resolver-only',
      listen: expect.stringMatching(/^127\.0\.0\.163:\d+$/),
      fault: `Programs of this machine do not find .mesh names: systemd-resolved does not run; openresolv is not installed. ${HINT}`,
    })
    expect(await lookUp(names, 'web-2.mesh')).toEqual(['100.64.0.2'])
    expect(log).toHaveLength(1)
  })

  test('nothing is recommended where resolv.conf names the resolver', async () => {
    await writeFile(system.resolvConf, 'search example.org\nnameserver 127.0.0.163\n')
    expect((await open()).status()).toMatchObject({ way: 'resolver-only', fault: undefined })
    expect(log).toEqual([])
  })

  test('a resolv.conf that cannot be read is in the status, and the resolver answers', async () => {
    await rm(system.resolvConf)
    await mkdir(system.resolvConf)
    const names = await open()
    await names.publish(WEB)
    expect(names.status()).toMatchObject({ way: 'resolver-only', fault: expect.stringContaining('EISDIR') })
    expect(await lookUp(names, 'web-2.mesh')).toEqual(['100.64.0.2'])
  })

  test('it is used once it runs, a minute later', async () => {
    const names = await open()
    await withResolved()
    await rm(join(system.interfacesFolder, 'ctl0'), { recursive: true })
    await names.publish(WEB)
    expect(names.status().way).toBe('resolver-only')
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000)
    onTestFinished(() => void vi.restoreAllMocks())
    await names.publish(WEB)
    expect(names.status()).toMatchObject({ way: 'systemd-resolved', fault: undefined })
  })

  test('a taken port is in the status, and names are no failure of the agent', async () => {
    const first = await open()
    const port = Number(first.status().listen?.split(':')[1])
    system = { ...system, resolverPort: port }
    const second = await open()
    await second.publish(WEB)
    expect(second.status()).toEqual({
      way: 'none',
      listen: undefined,
      fault: `Port ${port} is in use on 127.0.0.163 and the addresses after it. Another resolver of this machine has it: see which with ss -lup, or use --hosts.`,
    })
  })
})

describe('with the hosts file', () => {
  const block = (...lines: readonly string[]) =>
    ['# BEGIN names of the mesh on ctl0, written by ctl agent', ...lines, '# END names of the mesh on ctl0', ''].join(
      '\n',
    )
  const text = () => readFile(system.hostsFile, 'utf8')

  test('names are written there, and nothing listens', async () => {
    const names = await open('hosts')
    await names.publish(WEB)
    expect(await text()).toBe(HOSTS + block('100.64.0.2 web-2.mesh'))
    expect(names.status()).toEqual({ way: 'hosts-file', listen: undefined, fault: undefined })
    await names.remove()
    expect(await text()).toBe(HOSTS)
  })

  test('the last of many publications is the one that stays', async () => {
    const names = await open('hosts')
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => names.publish([{ name: `web-${n}`, address: '100.64.0.2' }])),
    )
    expect(await text()).toBe(HOSTS + block('100.64.0.2 web-19.mesh'))
  })

  test('hostile names do not reach it, and are logged once', async () => {
    const names = await open('hosts')
    const hostile = [
      { name: 'a\n127.0.0.1 bank.example', address: '100.64.0.3' },
      { name: 'localhost', address: '100.64.0.4' },
      { name: 'web-3', address: '100.64.0.5 bank.example' },
    ]
    await names.publish([...hostile, ...WEB])
    await names.publish([...hostile, ...WEB])
    expect(await text()).toBe(HOSTS + block('100.64.0.2 web-2.mesh'))
    expect(log).toHaveLength(3)
    expect(log[0]).toContain('"a\\n127.0.0.1 bank.example"')
  })

  test('a broken block is refused at the start', async () => {
    await writeFile(system.hostsFile, '# END names of the mesh on ctl0\n')
    await expect(open('hosts')).rejects.toMatchObject({ code: 'hosts_block_broken', exitCode: 6 })
  })

  test('a block that breaks later is in the status until it is mended', async () => {
    const names = await open('hosts')
    await writeFile(system.hostsFile, '# END names of the mesh on ctl0\n')
    await names.publish(WEB)
    await names.publish(WEB)
    expect(names.status()).toMatchObject({ way: 'hosts-file', fault: expect.stringContaining('is broken') })
    expect(log).toHaveLength(1)
    await writeFile(system.hostsFile, HOSTS)
    await names.publish([...WEB])
    expect(names.status().fault).toBeUndefined()
    expect(await text()).toContain('web-2.mesh')
  })

  test('a broken block refuses the removal', async () => {
    const names = await open('hosts')
    await writeFile(system.hostsFile, '# END names of the mesh on ctl0\n')
    await expect(names.remove()).rejects.toMatchObject({ code: 'hosts_block_broken' })
  })

  test('what is published during the removal or after it leaves nothing behind', async () => {
    const names = await open('hosts')
    await Promise.all([names.publish(WEB), names.remove(), names.publish(WEB)])
    await names.publish(WEB)
    expect(await text()).toBe(HOSTS)
  })

  test('closing leaves the names; the next run without it removes them', async () => {
    const names = await open('hosts')
    await names.publish(WEB)
    await names.close()
    expect(await text()).toContain('web-2.mesh')
    await open('auto')
    expect(await text()).toBe(HOSTS)
  })

  test('names of an earlier run stay until new ones are published', async () => {
    const killed = await open('hosts')
    await killed.publish(WEB)
    const names = await open('hosts')
    expect(await text()).toBe(HOSTS + block('100.64.0.2 web-2.mesh'))
    await names.publish([])
    expect(await text()).toBe(HOSTS + block())
  })

  test('a broken block is no failure of a run without it, only logged', async () => {
    await writeFile(system.hostsFile, '# END names of the mesh on ctl0\n')
    expect((await open('none')).status()).toEqual({ way: 'none', listen: undefined, fault: undefined })
    expect(log).toEqual([expect.stringContaining('is broken')])
  })

  test('what an earlier run configured of systemd-resolved is taken back', async () => {
    await withResolved()
    await open('hosts')
    expect(calls).toEqual(['resolvectl revert ctl0'])
  })
})

describe('the name of the interface', () => {
  test.each(['', '-d', 'a b', 'a\nb', '../x', 'a'.repeat(16)])('%j is refused', async (name) => {
    await expect(open('none', name)).rejects.toMatchObject({ code: 'usage' })
  })
})
