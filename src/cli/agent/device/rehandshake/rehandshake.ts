import type { DeviceChange, DevicePeer, EndpointMove } from '../device.ts'
import type { DeviceRecord, Driver, PeerRecord } from '../driver.ts'
import { sameKey } from '../keys.ts'
import { nudge, peerEdits } from '../peer-edits.ts'
import { type NewKey, newKeysOf } from './new-keys.ts'
import type { RehandshakeClock } from './rehandshake-clock.ts'
import { createRenewals } from './renewals.ts'
import { hasSession } from '../session-age.ts'
import { createSuccessions, type Settlement } from './successions.ts'

/** Until a new key of a peer is found to be used, no packet passes: TCP waits longer with each one that is lost. */
const POLL_MS = 20
/** Reading the device takes at most this part of the time, unless a read takes longer than that part of `POLL_MS_MAX`. */
const READING_SHARE = 0.25
/**
 * The longest pause between two looks, however long the last one took. A read may fail after seconds; a pause in proportion would delay
 * handshakes and new keys by that much more. Shorter than the 300 ms that the first try of a handshake is given.
 */
const POLL_MS_MAX = 250

/** Changes of keys and peers by which no open connection is lost (decisions of the mesh, "Rotation"). */
export interface Rehandshake {
  read(): Promise<DeviceRecord>
  /** Replaces the own key and starts a handshake with each peer that has a session or a keepalive interval. */
  setPrivateKey(key: Uint8Array): Promise<void>
  /**
   * A peer with a session that gets a new key keeps its old one until it has used the new one, for at most 3 s. Without a session, the
   * handshake with the new key is repeated where the device tried one with the old key.
   */
  change(change: DeviceChange): Promise<void>
  /** Sends a packet to each of these peers that has an endpoint; without a session a handshake, which is repeated. */
  wake(publicKeys: readonly string[]): Promise<void>
  /** Gives peers another endpoint, and sends there in the session or for a new one. */
  move(moves: readonly EndpointMove[]): Promise<void>
  /** The device lost its configuration, and with it what was to be repeated. */
  forget(): void
  stop(): void
}

/**
 * Watches handshakes after changes of keys. wireguard-go is silent for 5 s after a handshake that was not answered, so a peer
 * without one is removed and added again, for 10 s at most.
 */
export function createRehandshake(driver: Driver, clock: RehandshakeClock): Rehandshake {
  const renewals = createRenewals(clock)
  const successions = createSuccessions(clock)
  const serially = createQueue()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  const watch = (delayMs = POLL_MS) => {
    if (isStopped || timer !== undefined || renewals.size + successions.size === 0) return
    timer = setTimeout(() => void tick(), delayMs).unref()
  }
  const tick = async () => {
    let workMs = 0
    const timed = async () => {
      const startedAt = clock.steady()
      await repeat().finally(() => (workMs = clock.steady() - startedAt))
    }
    // A device that does not answer is started again, which forgets what is watched; or what was due is due at the next look.
    await serially(timed).catch(() => undefined)
    timer = undefined
    watch(Math.min(POLL_MS_MAX, Math.max(POLL_MS, workMs / READING_SHARE)))
  }
  const repeat = async () => {
    const record = await driver.read()
    const due = successions.due(record)
    await settle(due)
    const current = due.edits.length > 0 ? await driver.read() : record
    const lateOnes = current.peers.filter((peer) => due.late.includes(peer.publicKey) && peer.endpoint !== undefined)
    const peers = [...renewals.due(current), ...renewals.begin(lateOnes)]
    if (peers.length > 0) await driver.edit({ peers })
  }
  const settle = async ({ edits, newKeys }: Settlement) => {
    if (edits.length > 0) await driver.edit({ peers: edits })
    successions.end(newKeys)
  }

  return {
    async read() {
      const record = await serially(() => driver.read())
      const peers = record.peers.map((peer) => ({
        ...peer,
        keepaliveSeconds: renewals.keepaliveOf(peer.publicKey) ?? peer.keepaliveSeconds,
      }))
      return { ...record, peers: successions.merged(peers) }
    },
    async setPrivateKey(privateKey) {
      await serially(async () => {
        const record = await driver.read()
        if (sameKey(record.privateKey, privateKey)) return
        const isUsed = (peer: DeviceRecord['peers'][number]) =>
          hasSession(peer, clock.now()) || peer.keepaliveSeconds > 0 || successions.hasKey(peer.publicKey)
        const used = record.peers.filter((peer) => peer.endpoint !== undefined && isUsed(peer))
        await driver.edit({ privateKey, peers: renewals.begin(successions.ownKeyChanges(used)) })
      })
      watch()
    },
    async change(change) {
      await serially(async () => {
        await settle(successions.conflicting(change))
        const record = await driver.read()
        const rest = successions.begin(record, change)
        const unanswered = newKeysOf(record, rest, isUnanswered).flatMap(withEndpoint)
        for (const key of change.remove) renewals.delete(key)
        for (const peer of change.put) renewals.setKeepalive(peer.publicKey, peer.keepaliveSeconds)
        const isRenewed = new Set(unanswered.map((peer) => peer.publicKey))
        const put = rest.put.filter((peer) => !isRenewed.has(peer.publicKey))
        const peers = [...peerEdits(record, { ...rest, put }), ...renewals.begin(unanswered)]
        if (peers.length > 0) await driver.edit({ peers })
      })
      watch()
    },
    async wake(publicKeys) {
      const keys = new Set(publicKeys)
      await serially(async () => {
        const { peers } = await driver.read()
        const woken = peers.filter(
          ({ publicKey, endpoint }) => keys.has(publicKey) && endpoint !== undefined && !successions.hasKey(publicKey),
        )
        const silent = woken.filter((peer) => !hasSession(peer, clock.now()))
        const others = woken.filter((peer) => hasSession(peer, clock.now()))
        const edits = [...renewals.begin(silent), ...others.flatMap(nudge)]
        if (edits.length > 0) await driver.edit({ peers: edits })
      })
      watch()
    },
    async move(moves) {
      const byKey = new Map(moves.map((move) => [move.publicKey, move]))
      await serially(async () => {
        const { peers } = await driver.read()
        const moved = peers.flatMap((peer) => {
          const move = successions.hasKey(peer.publicKey) ? undefined : byKey.get(peer.publicKey)
          return move === undefined ? [] : [{ isRenewed: move.isRenewed, peer: { ...peer, endpoint: move.endpoint } }]
        })
        const isDue = ({ isRenewed, peer }: (typeof moved)[number]) => isRenewed || !hasSession(peer, clock.now())
        const renewed = renewals.begin(moved.filter(isDue).map(({ peer }) => peer))
        const inSession = moved.filter((one) => !isDue(one)).flatMap(({ peer }) => nudge(peer))
        if (renewed.length + inSession.length > 0) await driver.edit({ peers: [...renewed, ...inSession] })
      })
      watch()
    },
    forget() {
      renewals.clear()
      successions.clear()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/**
 * Whether the device tries to have a session and has none. A peer without packets is left alone: a new key is no reason for a
 * handshake with it.
 */
function isUnanswered({ keepaliveSeconds, latestHandshakeMs, sentBytes }: PeerRecord): boolean {
  return keepaliveSeconds > 0 || (latestHandshakeMs === undefined && sentBytes > 0)
}

/** Without an endpoint the device cannot begin a handshake. */
function withEndpoint({ old, peer }: NewKey): readonly DevicePeer[] {
  const endpoint = peer.endpoint ?? old.endpoint
  return endpoint === undefined ? [] : [{ ...peer, endpoint }]
}

/** Runs one operation after another; one that fails does not keep the next from running. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(operation: () => Promise<T>): Promise<T> => {
    const result = last.then(operation, operation)
    last = result.catch(() => undefined)
    return result
  }
}
