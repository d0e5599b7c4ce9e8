import { describe, expect, it } from 'vitest'
import type { DevicePeer } from '../../../../../src/cli/agent/device/device.ts'
import { peerEdits } from '../../../../../src/cli/agent/device/peer-edits.ts'
import { had, KEYS, recordOf } from '../../../../support/mesh/device-records.ts'

const [KEY, OTHER] = KEYS
const SECRET = new Uint8Array(32).fill(7)
const wanted: DevicePeer = {
  publicKey: KEY,
  presharedKey: SECRET,
  endpoint: undefined,
  allowedIps: ['10.7.0.2/32'],
  keepaliveSeconds: 25,
}
const device = recordOf(had({ publicKey: KEY, presharedKey: SECRET, keepaliveSeconds: 25 }))
const edits = (peer: Partial<DevicePeer>, remove: readonly string[] = []) =>
  peerEdits(device, { put: [{ ...wanted, ...peer }], remove })

describe('a change of peers', () => {
  it.each([
    ['as it is', {}],
    ['with its endpoint', { endpoint: '10.99.1.2:51820' }],
    ['with its allowed IPs in another spelling', { allowedIps: ['10.7.0.2/32', '10.7.0.2/32'] }],
  ])('does not touch a peer that is put %s', (_how, peer) => {
    expect(edits(peer)).toEqual([])
  })

  it('changes only the preshared key, the endpoint or the interval of a peer, so that its session goes on', () => {
    const changed = new Uint8Array(32).fill(8)
    expect(edits({ presharedKey: changed })).toEqual([{ publicKey: KEY, presharedKey: changed }])
    expect(edits({ presharedKey: undefined })).toEqual([{ publicKey: KEY, presharedKey: new Uint8Array(32) }])
    expect(edits({ endpoint: '10.99.1.9:1' })).toEqual([{ publicKey: KEY, endpoint: '10.99.1.9:1' }])
    expect(edits({ keepaliveSeconds: 0 })).toEqual([{ publicKey: KEY, keepaliveSeconds: 0 }])
  })

  it('adds allowed IPs without taking those away that stay, and replaces all where one goes', () => {
    expect(edits({ allowedIps: ['10.7.0.2/32', '10.8.0.0/24'] })).toEqual([
      { publicKey: KEY, allowedIps: { wanted: ['10.7.0.2/32', '10.8.0.0/24'], added: ['10.8.0.0/24'] } },
    ])
    expect(edits({ allowedIps: ['10.8.0.0/24'] })).toEqual([
      { publicKey: KEY, allowedIps: { wanted: ['10.8.0.0/24'] } },
    ])
  })

  it('removes peers that the device has, and those only', () => {
    expect(peerEdits(device, { put: [], remove: [KEY, OTHER] })).toEqual([{ publicKey: KEY, isRemoved: true }])
  })

  it('removes and adds a peer that is in both, with the endpoint that the device has', () => {
    expect(edits({}, [KEY])).toEqual([
      {
        publicKey: KEY,
        isRemoved: true,
        isAdded: true,
        presharedKey: SECRET,
        endpoint: '10.99.1.2:51820',
        keepaliveSeconds: 25,
        allowedIps: { wanted: ['10.7.0.2/32'] },
      },
    ])
  })

  it('adds a peer with what it has', () => {
    const plain = { ...wanted, publicKey: OTHER, presharedKey: undefined, keepaliveSeconds: 0 }
    expect(peerEdits(device, { put: [plain], remove: [] })).toEqual([
      { publicKey: OTHER, isAdded: true, allowedIps: { wanted: ['10.7.0.2/32'] } },
    ])
  })
})
