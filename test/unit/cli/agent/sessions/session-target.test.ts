import { describe, expect, it } from 'vitest'
import { networksOf, readTarget, targetRule } from '../../../../../src/cli/agent/sessions/session-target.ts'

describe('The target of a session', () => {
  it.each([
    ['tcp', '127.0.0.1:5432', { host: '127.0.0.1', port: 5432 }],
    ['tcp', 'db.internal:5432', { host: 'db.internal', port: 5432 }],
    ['tcp', '[fd00::7]:443', { host: 'fd00::7', port: 443 }],
    ['tcp', 'localhost:80', { host: '127.0.0.1', port: 80 }],
    ['cluster_api', '127.0.0.1:6443', { host: '127.0.0.1', port: 6443 }],
    ['ssh', '127.0.0.1:2222', { host: '127.0.0.1', port: 2222 }],
    ['ssh', 'deploy', { host: '127.0.0.1', port: 22 }],
  ] as const)('of kind %s, %s, is host and port', (kind, text, target) => {
    expect(readTarget(kind, text)).toEqual(target)
  })

  it.each([
    ['tcp', 'deploy'],
    ['cluster_api', 'production'],
    ['tcp', '5432'],
    ['tcp', ':5432'],
    ['tcp', '127.0.0.1:0'],
    ['tcp', '127.0.0.1:65536'],
    ['tcp', '127.0.0.1:080'],
    ['tcp', 'fd00::7:443'],
    ['tcp', '[fe80::1%eth0]:443'],
    ['tcp', '[1:2]:443'],
    ['tcp', '127.0.0.1:22\nproxy'],
    ['tcp', 'a b:22'],
    ['ssh', 'deploy\n'],
    ['ssh', '10.0.0.1:x'],
  ] as const)('of kind %s is not %j', (kind, text) => {
    expect(readTarget(kind, text)).toBeUndefined()
  })
})

describe('Addresses that sessions may reach', () => {
  const alone = targetRule([])
  const all = targetRule(networksOf(['0.0.0.0/0', '::/0']))

  it('are 127.0.0.1 alone where nothing else is allowed', () => {
    expect(['127.0.0.1', '::ffff:127.0.0.1'].map(alone)).toEqual([true, true])
    expect(['127.0.0.2', '::1', '10.0.0.1', '192.168.1.1'].map(alone)).toEqual([false, false, false, false])
  })

  it('are those of the allowed networks', () => {
    const some = targetRule(networksOf(['10.20.0.0/16', 'fd00:20::/32', '::1/128']))
    expect(['10.20.255.1', '::ffff:10.20.0.1', 'fd00:20::1', '::1', '127.0.0.1'].every(some)).toBe(true)
    expect(['10.21.0.1', 'fd00:21::1', 'db.internal', ''].some(some)).toBe(false)
  })

  it.each([
    ['unspecified', ['0.0.0.0', '0.1.2.3', '::']],
    ['link-local', ['169.254.0.1', 'fe80::1', 'fe80::1%eth0', '::ffff:169.254.0.1', '64:ff9b::169.254.0.1']],
    ['multicast and broadcast', ['224.0.0.1', '239.255.255.250', 'ff02::1', '255.255.255.255']],
    ['metadata', ['169.254.169.254', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254', '::ffff:a9fe:a9fe']],
  ])('are never %s', (_, addresses) => {
    expect(addresses.filter(all)).toEqual([])
  })

  it('may be any other one', () => {
    expect(['10.0.0.1', '100.64.0.1', '8.8.8.8', '127.0.0.53', '::1', '2001:db8::1'].every(all)).toBe(true)
  })
})
