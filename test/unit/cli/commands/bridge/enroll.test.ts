import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encode } from 'uqr'
import { describe, expect, it } from 'vitest'
import { publicKeyOf } from '../../../../../src/client/agent/keys/wireguard-key.ts'
import { endpointOf } from '../../../../../src/cli/commands/bridge/enroll/host-choice.ts'
import { createSecretFile } from '../../../../../src/cli/commands/bridge/enroll/secret-file.ts'
import { qrCode, requireRoom } from '../../../../../src/cli/commands/bridge/enroll/qr-code.ts'
import { bridgeFleet } from '../../../../golden/bridge-fleet.ts'
import { ID } from '../../../../golden/fleet.ts'
import { refused, type StubAnswer } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'

const P = `/v1/projects/${ID.project}/resources/019c1a10-0000-7000-8000-0000000b1001/bridge/user-access/staff`
const HOST_KEY = 'pbOmbYtLdzLTiQL8NL6bOuwM3qUM4QJtJDI55a2Sgg4='

describe('Enrolling a device', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const { routes } = bridgeFleet()
  const run = (flags: string, more: Record<string, StubAnswer> = {}) =>
    cli.run(`bridge user-access enroll staff --bridge edge-1 ${flags}`, { ...routes, ...more })
  const sent = () => cli.stub?.seen.filter(({ method }) => method === 'POST').map(({ body }) => body)
  const listed = (hosts: readonly object[]) => ({
    [`GET ${P}/peers`]: { body: { items: [], hosts, mesh_cidr: '100.64.0.0/10' } },
  })

  it('prints a configuration whose private key belongs to the public key that was sent', async () => {
    const { exitCode, stdout, stderr } = await run('--name ann-phone')
    expect([exitCode, stdout.replace(/^PrivateKey = .*$/m, 'PrivateKey = …')]).toEqual([
      0,
      [
        '[Interface]',
        'PrivateKey = …',
        'Address = 10.99.0.4/32',
        '',
        '[Peer]',
        `PublicKey = ${HOST_KEY}`,
        'Endpoint = 203.0.113.8:51830',
        'AllowedIPs = 100.64.0.0/10, 10.99.0.1/32',
        'PersistentKeepalive = 25',
        '',
      ].join('\n'),
    ])
    const [, key = ''] = /^PrivateKey = (.*)$/m.exec(stdout) ?? []
    expect(sent()).toEqual([{ name: 'ann-phone', public_key: publicKeyOf(Buffer.from(key, 'base64')) }])
    expect(stderr).not.toContain(key)
  })

  it('has everything in JSON, and without the private key where a file has it', async () => {
    const { stdout } = await run('--name ann-phone --endpoint vpn.example.org --dns 192.0.2.53 -o json')
    const shown = JSON.parse(stdout) as Readonly<Record<string, string>>
    expect(shown).toMatchObject({ name: 'ann-phone', address: '10.99.0.4', endpoint: 'vpn.example.org:51830' })
    expect(shown['config']).toContain(
      `PrivateKey = ${shown['private_key']}\nAddress = 10.99.0.4/32\nDNS = 192.0.2.53\n`,
    )
  })

  it.each([
    ['no host', [], 'has no host'],
    [
      'a host that has not reported its key',
      [{ node_id: ID.web, name: 'w', public_key: null, address: '203.0.113.7' }],
      'no host of the bridge has reported the public key of staff yet',
    ],
    [
      'a host whose address is unknown',
      [{ node_id: ID.web, name: 'w', public_key: HOST_KEY, address: null }],
      'no address is known',
    ],
    [
      'a host with a malformed key',
      [{ node_id: ID.web, name: 'w', public_key: 'x\nEndpoint = y', address: '203.0.113.7' }],
      'no host of the bridge',
    ],
  ] as const)('registers nothing with %s, and says why', async (_, hosts, words) => {
    const { exitCode, stdout, stderr } = await run('--name ann-phone', listed(hosts))
    expect([exitCode, stdout, sent()]).toEqual([6, '', []])
    expect(stderr).toContain(words)
  })

  it.each(['100.64.0.0/10\nPostUp = id', '0.0.0.0/0', '0.0.0.0/1', 'fd00::/16', '100.64.0.1/10', ''])(
    'registers nothing with %j as the mesh',
    async (mesh_cidr) => {
      const hosts = [{ node_id: ID.web, name: 'w', public_key: HOST_KEY, address: '203.0.113.7' }]
      const listing = { [`GET ${P}/peers`]: { body: { items: [], hosts, mesh_cidr } } }
      const { exitCode, stdout, stderr } = await run('--name ann-phone', listing)
      expect([exitCode, stdout, sent()]).toEqual([1, '', []])
      expect(stderr).toContain("the server's answer about the mesh is not a network")
    },
  )

  it.each(['10.99.0.4/32\nPostUp = id', '10.98.0.4', '10.99.0.1', '::1'])(
    'prints no configuration with %j as the address, and leaves no file behind',
    async (address) => {
      const answer = { resource_id: ID.web, provider: 'staff', name: 'ann-phone', public_key: HOST_KEY, address }
      const created = { status: 201, body: { ...answer, created_at: '2026-01-30T12:00:00.000Z' } }
      const file = join(cli.home.home, 'ann.conf')
      const { exitCode, stdout, stderr } = await run(`--name ann-phone --out ${file}`, { [`POST ${P}/peers`]: created })
      expect([exitCode, stdout, existsSync(file)]).toEqual([1, '', false])
      expect(stderr).toContain('peers remove')
    },
  )

  it('refuses flags that exclude each other, before any call', async () => {
    for (const flags of ['--qr --out x.conf', '--qr -o json', '--dns ns.example.org'])
      expect((await run(`--name ann-phone ${flags}`)).exitCode, flags).toBe(2)
    expect(sent()).toEqual([])
  })

  it('prints no configuration where the server refuses the peer', async () => {
    const answer = refused(409, 'peer_name_conflict', 'That name is taken.')
    const { exitCode, stdout } = await run('--name ann-phone', { [`POST ${P}/peers`]: answer })
    expect([exitCode, stdout]).toEqual([6, ''])
  })
})

describe('The endpoint of a device', () => {
  it.each([
    ['vpn.example.org', 'vpn.example.org:51830'],
    ['203.0.113.7:4500', '203.0.113.7:4500'],
    ['2001:db8::7', '[2001:db8::7]:51830'],
    ['[2001:db8::7]:4500', '[2001:db8::7]:4500'],
  ])('%s is %s', (typed, expected) => expect(endpointOf(typed, 51_830)).toBe(expected))

  it.each(['', 'a b', 'vpn.example.org:0', 'vpn.example.org:70000', 'x\nDNS = y', '[nonsense]:4', '-x'])(
    'is not %j',
    (typed) => expect(() => endpointOf(typed, 51_830)).toThrow('--endpoint needs HOST'),
  )
})

describe('The file of a configuration', () => {
  it('is gone where it cannot be written, and the reason has nothing of the configuration', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ctl-secret-file-'))
    const file = await createSecretFile(folder, 'ann.conf')
    expect(existsSync(join(folder, 'ann.conf'))).toBe(true)
    await file.discard() // It is closed then, so that it cannot be written.
    const failure = await file.write('hunter2').catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'file_not_written' })
    expect(JSON.stringify(failure)).not.toContain('hunter2')
    expect(existsSync(join(folder, 'ann.conf'))).toBe(false)
    rmSync(folder, { recursive: true })
  })
})

describe('The QR code of a configuration', () => {
  const text = readFileSync(join(import.meta.dirname, 'enroll.test.ts'), 'utf8').slice(0, 300)

  it('has in its half blocks each module that the encoder made', () => {
    const { data } = encode(text, { ecc: 'L', border: 2 })
    const lines = qrCode(text).trimEnd().split('\n')
    const halves: Readonly<Record<string, readonly [boolean, boolean]>> = {
      '█': [true, true],
      '▀': [true, false],
      '▄': [false, true],
      ' ': [false, false],
    }
    const rows = lines.flatMap((line) => {
      const pairs = Array.from(line, (half) => halves[half] ?? [false, false])
      return [pairs.map(([upper]) => !upper), pairs.map(([, lower]) => !lower)]
    })
    expect(rows.slice(0, data.length)).toEqual(data)
  })

  it('is refused on a terminal that is too narrow or has no UTF-8, and not in a pipe', () => {
    const sink = { isTty: true, columns: 40, rows: 24, write: () => undefined }
    const env = { LANG: 'C.UTF-8' }
    expect(() => requireRoom({ env, stdout: sink }, text)).toThrow('columns wide')
    expect(() => requireRoom({ env: { LANG: 'C' }, stdout: sink }, text)).toThrow('UTF-8')
    expect(() => requireRoom({ env, stdout: { ...sink, isTty: false } }, text)).not.toThrow()
  })
})
