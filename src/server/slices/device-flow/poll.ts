import { createHash } from 'node:crypto'
import type { Datastore } from '../../ports/datastore.ts'
import { nextInterval, pollOutcome, type PollOutcome } from './device-sign-in.ts'
import * as store from './store.ts'

/** A poll of a device. */
export interface Poll {
  /** SHA-256 of the device code. */
  readonly hash: Buffer
  readonly clientId: string | undefined
  readonly nowMs: number
}

/** Device codes are 256 random bits: their hash needs no key and no salt. */
export function hashOf(deviceCode: string): Buffer {
  return createHash('sha256').update(deviceCode).digest()
}

/**
 * The answer to a device's poll. The time of the poll, and the longer interval after one that came too early, are stored
 * whatever the answer is; a poll that changes nothing writes nothing.
 */
export function askedFor(datastore: Datastore, { hash, clientId, nowMs }: Poll): Promise<PollOutcome> {
  return datastore.transaction('interactive', async (tx) => {
    const signIn = await store.lockByDeviceCode(tx, hash)
    const outcome = pollOutcome(signIn, clientId, nowMs)
    if (signIn === undefined || (outcome !== 'authorization_pending' && outcome !== 'slow_down')) return outcome
    const intervalSeconds = nextInterval(outcome, signIn.interval_seconds)
    await store.notePoll(tx, signIn.id, { at: new Date(nowMs), intervalSeconds })
    return outcome
  })
}
