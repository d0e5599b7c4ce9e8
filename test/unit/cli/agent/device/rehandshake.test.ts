import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { DevicePeer } from '../../../../../src/cli/agent/device/device.ts'
import type { DeviceEdit, Driver, PeerEdit, PeerRecord } from '../../../../../src/cli/agent/device/driver.ts'
import { createRehandshake, type Rehandshake } from '../../../../../src/cli/agent/device/rehandshake/rehandshake.ts'
import { had, KEYS, recordOf } from '../../../../support/mesh/device-records.ts'

const [OLD, NEW, OTHER] = KEYS
const OWN_KEY = new Uint8Array(32).fill(5)
const FIRST = new Uint8Array(32).fill(6)

describe('after a change of keys', () => {
  let peers: Map<string, PeerRecord>
  let edits: { readonly atMs: number; readonly edit: DeviceEdit }[]
  let rehandshake: Rehandshake
  let isAway: boolean
  /** How long the device is silent before each of the next reads fails. */
  let silencesMs: number[]
  const startedAt = 1_764_306_000_000
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

  /** A device that does as it is asked, and has handshakes only where the test sets them. */
  const driver: Driver = {
    kind: 'wireguard-go',
    async read() {
      const silentMs = silencesMs.shift()
      if (silentMs !== undefined) await pause(silentMs)
      if (silentMs !== undefined) throw new Error('wireguard-go did not answer')
      return recordOf(...peers.values())
    },
    async edit(edit) {
      if (isAway) throw new Error('wireguard-go did not answer')
      edits.push({ atMs: Date.now() - startedAt, edit })
      for (const peer of edit.peers ?? []) applyEdit(peer)
    },
  }
  const applyEdit = ({ publicKey, isRemoved, isAdded, allowedIps, ...facts }: PeerEdit) => {
    const before = isRemoved === true ? undefined : peers.get(publicKey)
    if (isRemoved === true) peers.delete(publicKey)
    if (before === undefined && isAdded !== true) return
    const base = before ?? had({ publicKey, allowedIps: [], endpoint: undefined })
    peers.set(publicKey, { ...base, ...facts, ...(allowedIps === undefined ? {} : { allowedIps: allowedIps.wanted }) })
  }
  const completeHandshake = (publicKey: string) => {
    const peer = peers.get(publicKey)
    if (peer !== undefined) peers.set(publicKey, { ...peer, latestHandshakeMs: Date.now() })
  }
  const start = (...present: readonly PeerRecord[]) => {
    peers = new Map(present.map((peer) => [peer.publicKey, peer]))
    edits = []
    isAway = false
    silencesMs = []
    rehandshake = createRehandshake(driver, { now: Date.now, steady: () => performance.now(), random: () => 0 })
  }
  const additions = () => edits.map(({ atMs, edit }) => [atMs, edit.peers?.filter((peer) => peer.isAdded).length ?? 0])

  beforeEach(() => void vi.useFakeTimers({ now: startedAt }))
  afterEach(() => {
    rehandshake.stop()
    vi.useRealTimers()
  })

  describe('of the own one', () => {
    it('starts a handshake with each peer that has a session or an interval, in one transaction with the key', async () => {
      start(
        had({ publicKey: OLD, latestHandshakeMs: startedAt - 170_000, allowedIps: ['10.7.0.2/32'] }),
        had({ publicKey: NEW, keepaliveSeconds: 25, allowedIps: ['10.7.0.3/32'] }),
        had({ publicKey: OTHER, latestHandshakeMs: startedAt - 190_000, allowedIps: ['10.7.0.4/32'] }),
      )
      await rehandshake.setPrivateKey(OWN_KEY)
      const added = { isRemoved: true, isAdded: true, endpoint: '10.99.1.2:51820', keepaliveSeconds: 25 }
      expect(edits).toEqual([
        {
          atMs: 0,
          edit: {
            privateKey: OWN_KEY,
            peers: [
              { publicKey: OLD, ...added, allowedIps: { wanted: ['10.7.0.2/32'] } },
              { publicKey: NEW, ...added, allowedIps: { wanted: ['10.7.0.3/32'] } },
            ],
          },
        },
      ])
      expect((await rehandshake.read()).peers.map((peer) => peer.keepaliveSeconds)).toEqual([0, 25, 0].toSorted())
    })

    it('repeats it after 300 ms and then less often, for 10 s, and gives the peer its interval back', async () => {
      start(had({ publicKey: OLD, latestHandshakeMs: startedAt }))
      await rehandshake.setPrivateKey(OWN_KEY)
      await vi.advanceTimersByTimeAsync(60_000)
      expect(additions()).toEqual([
        [0, 1],
        [300, 1],
        [600, 1],
        [900, 1],
        [1_500, 1],
        [2_100, 1],
        [3_300, 1],
        [5_700, 1],
        [10_020, 0],
      ])
      expect(peers.get(OLD)?.keepaliveSeconds).toBe(0)
      expect(vi.getTimerCount()).toBe(0)
    })

    it('ends with the handshake', async () => {
      start(had({ publicKey: OLD, latestHandshakeMs: startedAt }))
      await rehandshake.setPrivateKey(OWN_KEY)
      await vi.advanceTimersByTimeAsync(400)
      completeHandshake(OLD)
      await vi.advanceTimersByTimeAsync(60_000)
      expect(additions()).toEqual([
        [0, 1],
        [300, 1],
        [420, 0],
      ])
      expect(peers.get(OLD)).toMatchObject({ keepaliveSeconds: 0, allowedIps: ['10.7.0.2/32'] })
    })

    it('does nothing where the key is the same, and to a peer without an endpoint', async () => {
      start(had({ publicKey: OLD, latestHandshakeMs: startedAt, endpoint: undefined }))
      await rehandshake.setPrivateKey(new Uint8Array(32).fill(9))
      expect(edits).toEqual([])
      await rehandshake.setPrivateKey(OWN_KEY)
      expect(edits).toEqual([{ atMs: 0, edit: { privateKey: OWN_KEY, peers: [] } }])
    })
  })

  describe('of a peer', () => {
    const wanted: DevicePeer = {
      publicKey: NEW,
      presharedKey: undefined,
      endpoint: undefined,
      allowedIps: ['10.7.0.2/32'],
      keepaliveSeconds: 0,
    }
    const session = () => start(had({ publicKey: OLD, latestHandshakeMs: startedAt - 1_000, receivedBytes: 3 }))
    const succeed = () => rehandshake.change({ remove: [OLD], put: [wanted] })

    it('keeps the session of the old key until the new one has a handshake', async () => {
      session()
      await succeed()
      expect(peers.get(OLD)).toMatchObject({ allowedIps: ['10.7.0.2/32'] })
      expect(peers.get(NEW)).toMatchObject({ allowedIps: [], endpoint: '10.99.1.2:51820' })
      completeHandshake(NEW)
      await vi.advanceTimersByTimeAsync(50)
      expect([...peers.keys()]).toEqual([NEW])
      expect(peers.get(NEW)?.allowedIps).toEqual(['10.7.0.2/32'])
      await vi.advanceTimersByTimeAsync(60_000)
      expect(edits).toHaveLength(2)
    })

    it('shows it once, by its new key', async () => {
      session()
      await succeed()
      expect((await rehandshake.read()).peers).toEqual([
        had({ publicKey: NEW, latestHandshakeMs: startedAt - 1_000, receivedBytes: 3 }),
      ])
    })

    it('takes the new key after 3 s without a handshake, and starts one', async () => {
      session()
      await succeed()
      await vi.advanceTimersByTimeAsync(3_000)
      expect([...peers.keys()]).toEqual([OLD, NEW])
      await vi.advanceTimersByTimeAsync(50)
      expect([...peers.keys()]).toEqual([NEW])
      expect(peers.get(NEW)).toMatchObject({ allowedIps: ['10.7.0.2/32'], keepaliveSeconds: 25 })
      expect(additions().at(-1)).toEqual([3_020, 1])
    })

    it('removes both keys where the peer is removed meanwhile', async () => {
      session()
      await succeed()
      await rehandshake.change({ remove: [NEW], put: [] })
      expect([...peers.keys()]).toEqual([])
    })

    it('gives the allowed IP to another peer where that is put meanwhile', async () => {
      session()
      await succeed()
      await rehandshake.change({ remove: [], put: [{ ...wanted, publicKey: OTHER }] })
      expect([...peers.keys()].toSorted()).toEqual([NEW, OTHER].toSorted())
      expect(peers.get(OTHER)?.allowedIps).toEqual(['10.7.0.2/32'])
    })

    it('keeps the preshared key that the new one has until it is used, since the peer knows of no other yet', async () => {
      session()
      await rehandshake.change({ remove: [OLD], put: [{ ...wanted, presharedKey: FIRST }] })
      await rehandshake.change({ remove: [], put: [{ ...wanted, presharedKey: OWN_KEY }] })
      expect(peers.get(NEW)?.presharedKey).toEqual(FIRST)
      completeHandshake(NEW)
      await vi.advanceTimersByTimeAsync(50)
      expect([...peers.keys()]).toEqual([NEW])
      expect(peers.get(NEW)?.presharedKey).toEqual(OWN_KEY)
    })

    it('takes the preshared key that waits together with the own new key', async () => {
      session()
      await rehandshake.change({ remove: [OLD], put: [{ ...wanted, presharedKey: FIRST }] })
      await rehandshake.change({ remove: [], put: [{ ...wanted, presharedKey: OWN_KEY }] })
      await rehandshake.setPrivateKey(FIRST)
      expect(peers.get(NEW)?.presharedKey).toEqual(OWN_KEY)
    })

    it('takes a preshared key at once that comes after the own new key', async () => {
      session()
      await rehandshake.change({ remove: [OLD], put: [{ ...wanted, presharedKey: FIRST }] })
      await rehandshake.setPrivateKey(FIRST)
      await rehandshake.change({ remove: [], put: [{ ...wanted, presharedKey: OWN_KEY }] })
      expect(peers.get(NEW)?.presharedKey).toEqual(OWN_KEY)
    })

    it('gets its interval with its new key, also where the own key changes before that is used', async () => {
      session()
      await rehandshake.change({ remove: [OLD], put: [{ ...wanted, keepaliveSeconds: 25 }] })
      await rehandshake.setPrivateKey(OWN_KEY)
      await vi.advanceTimersByTimeAsync(100)
      completeHandshake(NEW)
      await vi.advanceTimersByTimeAsync(60_000)
      expect([...peers.values()]).toMatchObject([{ publicKey: NEW, allowedIps: ['10.7.0.2/32'], keepaliveSeconds: 25 }])
    })

    it('takes over at the next look where the device did not take the edit', async () => {
      session()
      await succeed()
      completeHandshake(NEW)
      isAway = true
      await vi.advanceTimersByTimeAsync(50)
      expect([...peers.keys()]).toEqual([OLD, NEW])
      isAway = false
      await vi.advanceTimersByTimeAsync(50)
      expect([...peers.keys()]).toEqual([NEW])
      expect(peers.get(NEW)?.allowedIps).toEqual(['10.7.0.2/32'])
    })

    it('takes over within 300 ms of a read that failed after 5 s', async () => {
      session()
      await succeed()
      silencesMs = [5_000]
      await vi.advanceTimersByTimeAsync(1_000)
      completeHandshake(NEW)
      await vi.advanceTimersByTimeAsync(4_000)
      expect([...peers.keys()]).toEqual([OLD, NEW])
      await vi.advanceTimersByTimeAsync(300)
      expect([...peers.keys()]).toEqual([NEW])
    })

    it('takes the new key after 3 s where the clock of the machine is set back by an hour meanwhile', async () => {
      session()
      await succeed()
      vi.setSystemTime(startedAt - 3_600_000)
      await vi.advanceTimersByTimeAsync(3_050)
      expect([...peers.keys()]).toEqual([NEW])
    })

    it('does not look less often because another operation keeps the device busy', async () => {
      session()
      await succeed()
      silencesMs = [2_000]
      const reading = rehandshake.read().catch(() => undefined)
      await vi.advanceTimersByTimeAsync(2_010)
      await reading
      completeHandshake(NEW)
      await vi.advanceTimersByTimeAsync(40)
      expect([...peers.keys()]).toEqual([NEW])
    })

    it('replaces it at once where no packet went to the old key, or the new one has other allowed IPs', async () => {
      start(had({ publicKey: OLD, latestHandshakeMs: startedAt - 181_000 }))
      await succeed()
      expect([...peers.keys()]).toEqual([NEW])
      await vi.advanceTimersByTimeAsync(60_000)
      expect(edits).toHaveLength(1)
      session()
      await rehandshake.change({ remove: [OLD], put: [{ ...wanted, allowedIps: ['10.7.0.3/32'] }] })
      expect([...peers.keys()]).toEqual([NEW])
    })

    it.each([
      ['has an interval', { keepaliveSeconds: 25 }],
      ['sent packets and got no handshake', { sentBytes: 148 }],
    ])('repeats the handshake with the new key where the old one has no session and %s', async (_, facts) => {
      start(had({ publicKey: OLD, ...facts }))
      await succeed()
      expect([...peers.values()]).toMatchObject([
        { publicKey: NEW, endpoint: '10.99.1.2:51820', allowedIps: ['10.7.0.2/32'], keepaliveSeconds: 25 },
      ])
      expect((await rehandshake.read()).peers).toMatchObject([{ publicKey: NEW, keepaliveSeconds: 0 }])
      await vi.advanceTimersByTimeAsync(620)
      expect(additions()).toEqual([
        [0, 1],
        [300, 1],
        [600, 1],
      ])
      completeHandshake(NEW)
      await vi.advanceTimersByTimeAsync(60_000)
      expect(edits).toHaveLength(4)
      expect([...peers.values()]).toMatchObject([{ publicKey: NEW, keepaliveSeconds: 0 }])
    })

    it('repeats it where the handshake after the change of the own key was not answered', async () => {
      session()
      await rehandshake.setPrivateKey(OWN_KEY)
      await vi.advanceTimersByTimeAsync(250)
      await succeed()
      expect([...peers.keys()]).toEqual([NEW])
      await vi.advanceTimersByTimeAsync(620)
      expect(additions()).toEqual([
        [0, 1],
        [250, 1],
        [560, 1],
        [860, 1],
      ])
      expect([...peers.keys()]).toEqual([NEW])
    })

    it('does not repeat a handshake that the device cannot begin without an endpoint', async () => {
      start(had({ publicKey: OLD, keepaliveSeconds: 25, endpoint: undefined }))
      await succeed()
      await vi.advanceTimersByTimeAsync(60_000)
      expect(edits).toHaveLength(1)
      expect([...peers.values()]).toMatchObject([{ publicKey: NEW, allowedIps: ['10.7.0.2/32'], keepaliveSeconds: 0 }])
    })
  })

  describe('a peer that is woken', () => {
    const atOnce = (publicKey: string, ...seconds: readonly number[]) => [
      { publicKey, endpoint: '10.99.1.2:51820', keepaliveSeconds: 0 },
      ...seconds.map((keepaliveSeconds) => ({ publicKey, keepaliveSeconds })),
    ]

    it('is sent a packet in its session, and keeps its interval', async () => {
      start(
        had({ publicKey: OLD, latestHandshakeMs: startedAt, keepaliveSeconds: 25 }),
        had({ publicKey: NEW, latestHandshakeMs: startedAt }),
      )
      await rehandshake.wake([OLD, NEW])
      expect(edits).toEqual([{ atMs: 0, edit: { peers: [...atOnce(OLD, 25), ...atOnce(NEW, 25, 0)] } }])
      await vi.advanceTimersByTimeAsync(60_000)
      expect(edits).toHaveLength(1)
    })

    it('is sent handshakes without a session, until one is completed', async () => {
      start(had({ publicKey: OLD, latestHandshakeMs: startedAt - 181_000 }))
      await rehandshake.wake([OLD])
      await vi.advanceTimersByTimeAsync(400)
      expect(additions()).toEqual([
        [0, 1],
        [300, 1],
      ])
      completeHandshake(OLD)
      await vi.advanceTimersByTimeAsync(60_000)
      expect(additions().filter(([, added]) => added === 1)).toHaveLength(2)
      expect(peers.get(OLD)?.keepaliveSeconds).toBe(0)
    })

    it('is left alone without an endpoint, and others are, too', async () => {
      start(had({ publicKey: OLD, endpoint: undefined }), had({ publicKey: NEW, latestHandshakeMs: startedAt }))
      await rehandshake.wake([OLD, OTHER])
      expect(edits).toEqual([])
    })
  })
})
