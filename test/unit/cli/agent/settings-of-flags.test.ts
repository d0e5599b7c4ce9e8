import { describe, expect, test } from 'vitest'
import { machineOf, nodeNameOf, serverOf } from '../../../../src/cli/agent/settings-of-flags.ts'

describe('the settings of an agent', () => {
  test('are those of the flags, else as before, else the defaults', () => {
    const before = machineOf({ interface: 'mesh0', 'listen-port': 5000, hosts: true })
    expect(before).toEqual({
      interface_name: 'mesh0',
      listen_port: 5000,
      mtu: 1420,
      is_userspace: false,
      names: 'hosts',
    })
    expect(machineOf({ mtu: 1380 }, before)).toEqual({ ...before, mtu: 1380 })
  })

  test('take the way of the names that is given last, also back to that of the beginning', () => {
    const before = machineOf({ hosts: true })
    expect(machineOf({ names: 'auto' }, before).names).toBe('auto')
    expect(machineOf({ names: 'hosts', hosts: true }).names).toBe('hosts')
    expect(machineOf({ names: 'none' }, before).names).toBe('none')
  })

  test('keep the networks that sessions may reach until others are given, or none', () => {
    const before = machineOf({ 'allow-session-targets': ['10.20.0.0/16', 'fd00::/8'] })
    expect(before.session_targets).toEqual(['10.20.0.0/16', 'fd00::/8'])
    expect(machineOf({}, before)).toEqual(before)
    expect(machineOf({ 'allow-session-targets': ['10.30.0.0/16'] }, before).session_targets).toEqual(['10.30.0.0/16'])
    expect(machineOf({ 'allow-session-targets': ['none'] }, before)).not.toHaveProperty('session_targets')
  })

  test('keep the address of ingress until another one is given', () => {
    const before = machineOf({ 'ingress-listen': '203.0.113.7:443' })
    expect(before.ingress_listen).toBe('203.0.113.7:443')
    expect(machineOf({}, before)).toEqual(before)
    expect(machineOf({ 'ingress-listen': '[2001:db8::7]:8443' }, before).ingress_listen).toBe('[2001:db8::7]:8443')
    expect(machineOf({ 'ingress-listen': ':443' }, before)).not.toHaveProperty('ingress_listen')
  })

  test.each([
    [{ 'ingress-listen': '443' }, '--ingress-listen 443'],
    [{ 'ingress-listen': 'edge.example.org:443' }, '--ingress-listen'],
    [{ 'ingress-listen': '203.0.113.7:0' }, '--ingress-listen'],
    [{ 'ingress-listen': '203.0.113.7:65536' }, '--ingress-listen'],
    [{ 'ingress-listen': '2001:db8::7:443' }, '--ingress-listen'],
    [{ 'ingress-listen': ':443\n  mode http' }, '--ingress-listen'],
    [{ interface: 'ctl0; rm' }, '--interface'],
    [{ interface: 'a-name-of-16-char' }, '--interface'],
    [{ 'listen-port': 0 }, '--listen-port'],
    [{ 'listen-port': 65_536 }, '--listen-port'],
    [{ mtu: 100 }, '--mtu'],
    [{ hosts: true, 'no-names': true }, '--hosts and --no-names'],
    [{ hosts: true, names: 'auto' }, '--names, --hosts and --no-names'],
    [{ 'allow-session-targets': ['10.0.0.0/8', '10.0.0.1'] }, '--allow-session-targets 10.0.0.1'],
    [{ 'allow-session-targets': ['10.0.0.1/8'] }, '--allow-session-targets 10.0.0.1/8'],
    [{ 'allow-session-targets': ['db.internal/32'] }, '--allow-session-targets db.internal/32'],
  ])('refuse %j', (flags, what) => {
    expect(() => machineOf(flags)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(what) as string }),
    )
  })

  test.each(['http://127.0.0.1:7443', 'http://localhost', 'http://[::1]:80', 'https://ctl.example.org/'])(
    'take the server %s',
    async (server) => {
      expect(await serverOf({ server })).toEqual({ url: server.replace(/\/$/, '') })
    },
  )

  test.each([
    ['http://ctl.example.org', 'plain HTTP'],
    ['ctl.example.org', 'not an http: or https: URL'],
    ['ftp://ctl.example.org', 'not an http: or https: URL'],
  ])('refuse the server %s', async (server, why) => {
    await expect(serverOf({ server })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(why) as string,
    })
  })

  test('take plain HTTP to another machine where that is asked for', async () => {
    expect(await serverOf({ server: 'http://10.0.0.1', 'insecure-http': true })).toEqual({ url: 'http://10.0.0.1' })
  })

  test('trust a server as before, until a flag says otherwise or it is another one', async () => {
    const before = { url: 'https://ctl.example.org:7443', pinned_ca: 'PEM' }
    expect(await serverOf({ server: 'https://ctl.example.org:7443/' }, before)).toEqual(before)
    const other = 'https://other.example.org'
    expect(await serverOf({ server: other }, before)).toEqual({ url: other })
    const unread = serverOf({ server: before.url, 'ca-file': '/nonexistent/ca.pem' }, before)
    await expect(unread).rejects.toMatchObject({ exitCode: 2 })
    const plain = { url: 'http://10.0.0.1' }
    expect(await serverOf({ server: plain.url }, plain)).toEqual(plain)
  })

  test.each([
    [{ 'ca-sha256': 'ff' }, 'https://ctl.example.org', 'SHA-256'],
    [{ 'ca-sha256': 'ff'.repeat(32) }, 'http://127.0.0.1', 'certificate'],
    [{ 'ca-sha256': 'ff'.repeat(32), 'ca-file': 'x' }, 'https://ctl.example.org', 'exclude'],
    [{ 'ca-file': '/nonexistent/ca.pem' }, 'https://ctl.example.org', 'cannot be read'],
  ])('refuse %j with %s', async (flags, server, why) => {
    await expect(serverOf({ ...flags, server })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(why) as string,
    })
  })
})

describe('the name of a node', () => {
  test.each([
    ['Web_01.example.org', 'web-01'],
    ['-x-', 'x'],
    ['a'.repeat(70), 'a'.repeat(63)],
    [`${'a'.repeat(62)}_b`, 'a'.repeat(62)],
  ])('is made of the host name %s', (host, name) => {
    expect(nodeNameOf({}, undefined, host)).toBe(name)
  })

  test('is the former one of a node that is enrolled again, unless another is given', () => {
    expect(nodeNameOf({}, 'web-5', 'box.example.org')).toBe('web-5')
    expect(nodeNameOf({ name: 'web-6' }, 'web-5', 'box.example.org')).toBe('web-6')
  })

  test('is refused where the host name makes none', () => {
    expect(() => nodeNameOf({}, undefined, '日本.example')).toThrow(expect.objectContaining({ exitCode: 2 }))
  })

  test.each(['Web', 'web_1', '-web', 'web-', 'web.mesh', 'w'.repeat(64)])('is not %s', (name) => {
    expect(() => nodeNameOf({ name })).toThrow(expect.objectContaining({ exitCode: 2 }))
  })
})
