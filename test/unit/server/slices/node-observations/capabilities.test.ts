import { describe, expect, it } from 'vitest'
import {
  capabilitiesOf,
  fieldsChanged,
  isHostKeyChanged,
} from '../../../../../src/server/slices/node-observations/capabilities.ts'

const A = 'a1'.repeat(32)
const B = 'b2'.repeat(32)
const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
const KEY = `SHA256:${'k'.repeat(43)}`
const OTHER_KEY = `SHA256:${'o'.repeat(43)}`

const first = capabilitiesOf({ binary_version: '1', binary_checksum: A }, undefined)
const full = capabilitiesOf(
  {
    binary_version: '1',
    binary_checksum: A,
    ssh_host_key_fingerprint: KEY,
    architecture: 'x86_64',
    hooks: [
      { name: 'restore', checksum: B },
      { name: 'backup', checksum: A },
    ],
  },
  undefined,
)

describe('What a node can do', () => {
  it('has one form, however it was spelt', () => {
    const spelt = capabilitiesOf(
      {
        binary_version: '1',
        binary_checksum: base64(A),
        ssh_host_key_fingerprint: KEY,
        architecture: 'x86_64',
        hooks: [
          { name: 'backup', checksum: A.toUpperCase() },
          { name: 'restore', checksum: base64(B) },
        ],
      },
      undefined,
    )
    expect(spelt).toEqual(full)
    expect(full.hooks.map(({ name }) => name)).toEqual(['backup', 'restore'])
    expect(fieldsChanged(full, spelt)).toEqual([])
  })

  it('names what a first report says, and not what it leaves out', () => {
    expect(fieldsChanged(undefined, first)).toEqual(['binary_checksum', 'binary_version'])
    expect(fieldsChanged(undefined, full)).toEqual([
      'architecture',
      'binary_checksum',
      'binary_version',
      'hooks',
      'ssh_host_key_fingerprint',
    ])
  })

  it.each([
    [{ binary_version: '2' }, ['binary_version']],
    [{ binary_checksum: B }, ['binary_checksum']],
    [{ hooks: [] }, ['hooks']],
    [{ hooks: undefined }, ['hooks']],
    [{ hooks: [{ name: 'backup', checksum: B }] }, ['hooks']],
    [{ ssh_host_key_fingerprint: OTHER_KEY }, ['ssh_host_key_fingerprint']],
    [{ ssh_host_key_fingerprint: undefined }, []],
    [{ architecture: 'aarch64' }, ['architecture']],
    [{ architecture: undefined }, []],
    [{}, []],
  ])('names what differs: %j', (members, expected) => {
    const known = { ...full, ssh_host_key_fingerprint: KEY, architecture: 'x86_64' }
    const { hooks, ssh_host_key_fingerprint, architecture, ...rest } = { ...known, ...members }
    const body = {
      ...rest,
      ...(hooks !== undefined && { hooks: [...hooks] }),
      ...(ssh_host_key_fingerprint !== undefined && { ssh_host_key_fingerprint }),
      ...(architecture !== undefined && { architecture }),
    }
    expect(fieldsChanged(full, capabilitiesOf(body, full))).toEqual(expected)
  })

  it('has another host key only where one was known', () => {
    const keyed = { ...first, ssh_host_key_fingerprint: KEY }
    expect(isHostKeyChanged(undefined, keyed)).toBe(false)
    expect(isHostKeyChanged(first, keyed)).toBe(false)
    expect(isHostKeyChanged(keyed, keyed)).toBe(false)
    expect(isHostKeyChanged(keyed, { ...first, ssh_host_key_fingerprint: OTHER_KEY })).toBe(true)
  })

  it('keeps its host key while reports leave it out, so that a later one is still seen to differ', () => {
    const silent = capabilitiesOf({ binary_version: '1', binary_checksum: A }, full)
    expect(silent.ssh_host_key_fingerprint).toBe(KEY)
    const changed = { binary_version: '1', binary_checksum: A, ssh_host_key_fingerprint: OTHER_KEY }
    expect(isHostKeyChanged(silent, capabilitiesOf(changed, silent))).toBe(true)
  })
})
