import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { unitNameOf, unitPath } from '../../../../../src/cli/agent/install/unit-path.ts'
import { unitText } from '../../../../../src/cli/agent/install/unit-text.ts'
import { requirement } from '../../../../support/run/requirements.mjs'

const FACTS = {
  node: '/usr/bin/node',
  program: '/usr/local/lib/ctl-mesh/1.2.3-0123456789ab/dist/agent/ctl-agent.cjs',
  stateDir: '/var/lib/ctl-agent',
  writesEtc: false,
  isUpgraded: false,
}

const settings = (text: string, name: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value ?? '')

describe('the unit of the agent', () => {
  test('starts the copy with the state folder', () => {
    expect(settings(unitText(FACTS), 'ExecStart')).toEqual([
      '/usr/bin/node /usr/local/lib/ctl-mesh/1.2.3-0123456789ab/dist/agent/ctl-agent.cjs agent run --state-dir /var/lib/ctl-agent',
    ])
  })

  test('keeps the memory of the agent small, as "ctl agent up" does', () => {
    expect(settings(unitText(FACTS), 'Environment')).toEqual(['NODE_OPTIONS=--max-semi-space-size=2'])
  })

  test('leaves wireguard-go running when the agent ends, and starts it again except where that is no use', () => {
    const text = unitText(FACTS)
    expect(settings(text, 'KillMode')).toEqual(['process'])
    expect(settings(text, 'Restart')).toEqual(['on-failure'])
    // Refused key: exit code 4.
    expect(settings(text, 'RestartPreventExitStatus')).toEqual(['2 4 5 6'])
    expect(settings(text, 'RestartForceExitStatus')).toEqual(['143'])
  })

  test('gives the agent the rights for networks, low ports and the user of haproxy, one device and its own folder', () => {
    const text = unitText(FACTS)
    expect(settings(text, 'CapabilityBoundingSet')).toEqual([
      'CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_SETUID CAP_SETGID',
    ])
    expect(settings(text, 'DeviceAllow')).toEqual(['/dev/net/tun rw'])
    expect(settings(text, 'ReadWritePaths')).toEqual(['/var/lib/ctl-agent -/run/resolvconf /proc/sys/net/ipv4/conf'])
  })

  test('lets the agent see the process that holds its lock, whose rights may be more', () => {
    expect(settings(unitText(FACTS), 'ProtectProc')).toEqual([])
  })

  test('lets the agent write to /etc where names are in a file there', () => {
    expect(settings(unitText({ ...FACTS, writesEtc: true }), 'ReadWritePaths')).toEqual([
      '/var/lib/ctl-agent -/run/resolvconf /proc/sys/net/ipv4/conf /etc',
    ])
  })

  test('lets the agent write to the folder of its file where there is an upgrade program', () => {
    expect(settings(unitText({ ...FACTS, isUpgraded: true }), 'ReadWritePaths')).toEqual([
      '/var/lib/ctl-agent -/run/resolvconf /proc/sys/net/ipv4/conf /usr/local/lib/ctl-mesh/1.2.3-0123456789ab/dist/agent',
    ])
  })

  test.skipIf(requirement('systemd-analyze') === undefined)('is one that systemd understands', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ctl-unit-'))
    const complaints = (text: string): readonly string[] => {
      const path = join(folder, 'ctl-agent.service')
      writeFileSync(path, text)
      const { stdout, stderr } = spawnSync(requirement('systemd-analyze') ?? '', ['verify', '--man=no', path], {
        encoding: 'utf8',
      })
      return `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
    }
    try {
      const text = unitText({ ...FACTS, node: '/bin/true' })
      expect(complaints(text)).toEqual([])
      expect(complaints(text.replace('KillMode=process', 'KillMode=proces'))).toHaveLength(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a path in a unit', () => {
  test.each([
    ['a blank', '/var/lib/ctl agent'],
    ['a line break', '/var/lib/ctl-agent\nExecStartPre=/bin/sh'],
    ['a specifier', '/var/lib/ctl-agent%h'],
    ['a variable', '/var/lib/$HOME'],
    ['a quote', '/var/lib/"ctl-agent"'],
    ['a backslash', '/var/lib/ctl\\x20agent'],
    ['a letter outside of ASCII', '/var/lib/ctl-agént'],
  ])('that has %s is refused, not escaped', (_, path) => {
    expect(() => unitPath(path, 'the state folder')).toThrow(/cannot be written into a unit of systemd/)
  })

  test.each(['var/lib/ctl-agent', '/var/lib/../ctl-agent', '/var//lib/ctl-agent', '/var/lib/ctl-agent/'])(
    '%s is refused: it is not absolute in its shortest form',
    (path) => {
      expect(() => unitPath(path, 'the state folder')).toThrow(
        `the state folder ${path} is no absolute path in its shortest form`,
      )
    },
  )

  test.each([
    ['/home/web/ctl-agent', '/home'],
    ['/root/ctl-agent', '/root'],
    ['/tmp/ctl-agent', '/tmp'],
    ['/run/ctl-agent', '/run'],
  ])('%s is refused: the service does not see it', (path, folder) => {
    expect(() => unitPath(path, 'the state folder')).toThrow(
      `the state folder ${path} is in ${folder}, which the service does not see`,
    )
  })

  test('of another name that begins alike is taken', () => {
    expect(unitPath('/homes/ctl-agent', 'the state folder')).toBe('/homes/ctl-agent')
  })
})

describe('the name of a unit', () => {
  test('is that of the state folder', () => {
    expect(unitNameOf('/var/lib/ctl-agent')).toBe('ctl-agent.service')
    expect(unitNameOf('/srv/ctl-agent-lab.2')).toBe('ctl-agent-lab.2.service')
  })

  test.each(['/var/lib/agent', '/var/lib/ctl-agent-', '/var/lib/ctl-agent-A', '/var/lib/ctl-agent@1'])(
    'is refused for %s',
    (path) => {
      expect(() => unitNameOf(path)).toThrow(`the state folder ${path} gives the unit no name`)
    },
  )
})
