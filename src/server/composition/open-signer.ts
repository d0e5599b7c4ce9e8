import type { Logger } from 'pino'
import { createSealedKeys } from '../adapters/sealed-signer/sealed-keys.ts'
import type { KeySource } from '../adapters/signing-keys/key-source.ts'
import { openSignerOver, type FollowingSigner } from '../adapters/signing-keys/open-signer.ts'
import { assertUsable } from '../adapters/signing-keys/settle-signer.ts'
import { systemClock } from '../adapters/system/clock.ts'
import type { Config } from '../config/config.ts'
import type { SignerSettings } from '../config/signer.ts'
import type { Clock } from '../ports/clock.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { Sealing } from '../ports/keyring.ts'
import { baoAddressOf } from './bao-address.ts'
import { throttledReporter } from './throttled-reporter.ts'

export interface SignerGround {
  readonly datastore: Datastore
  readonly sealing: Sealing
  readonly clock: Clock
  readonly log: Logger
}

const REPORT_EVERY_MS = 60_000

/**
 * Opens the signer that the configuration names. A key of Transit can be away while the server starts, unless it has to
 * give a new key. What OpenBao needs is loaded only where it is configured.
 *
 * @throws BootError in one sentence where the keys come from another signer, or the key cannot be used.
 */
export async function openConfiguredSigner(
  { signer }: Pick<Config, 'signer'>,
  { datastore, sealing, clock, log }: SignerGround,
): Promise<FollowingSigner> {
  const sealed = createSealedKeys(sealing)
  const transit = await transitKeys(signer, clock, log)
  const source = signer.source === 'transit' && transit !== undefined ? transit : sealed
  const former = [sealed, transit].filter((one): one is KeySource => one !== undefined && one !== source)
  const warn = (message: string, error?: unknown): void => log.warn({ err: error }, message)
  try {
    return await openSignerOver({ datastore, clock, source, former, isMoving: signer.isMoving, warn })
  } catch (error) {
    await transit?.remote?.close()
    throw error
  }
}

/** Asserts that the key of Transit can sign, if one is configured. @throws BootError in one sentence. */
export async function checkSigner({ signer }: Pick<Config, 'signer'>, log: Logger): Promise<void> {
  const transit = await transitKeys(signer, systemClock, log)
  if (transit === undefined) return
  try {
    await assertUsable(transit)
  } finally {
    await transit.remote?.close()
  }
}

async function transitKeys({ transit }: SignerSettings, clock: Clock, log: Logger): Promise<KeySource | undefined> {
  if (transit === undefined) return undefined
  const { createTransitKeys } = await import('../adapters/transit-signer/transit-keys.ts')
  const report = throttledReporter(
    (message, error) => log.error({ err: error }, message),
    REPORT_EVERY_MS,
    () => performance.now(),
  )
  const { mount, key, login } = transit
  return createTransitKeys({
    address: baoAddressOf(transit, '--signer-ca'),
    place: { mount, key },
    login,
    clock,
    onFailure: (error) => report('the signer cannot be used; it is tried again', error),
  })
}
