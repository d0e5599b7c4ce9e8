import type { Logger } from 'pino'
import { createSealedSecrets } from '../adapters/sealed-secrets/sealed-secrets.ts'
import type { Config } from '../config/config.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { Sealing } from '../ports/keyring.ts'
import type { SecretStore } from '../ports/secret-store.ts'
import { baoAddressOf } from './bao-address.ts'
import { throttledReporter } from './throttled-reporter.ts'

/** A store and what only some of them have to close. */
export interface OpenedSecrets extends SecretStore {
  close?(): Promise<void>
}

export interface SecretsGround {
  readonly datastore: Datastore
  readonly sealing: Sealing
  readonly log: Logger
}

const REPORT_EVERY_MS = 60_000

/**
 * Opens the secret store that the configuration names. The connection is made by the first call: while the store is away
 * the server starts, and readiness reports it. What OpenBao needs is loaded only where it is configured.
 *
 * @throws BootError in one sentence for a file of certificates that cannot be read.
 */
export async function openSecretStore(
  { secretStore }: Pick<Config, 'secretStore'>,
  { datastore, sealing, log }: SecretsGround,
): Promise<OpenedSecrets> {
  if (secretStore === undefined) return createSealedSecrets({ datastore, sealing })
  const { createOpenBao } = await import('../adapters/openbao/openbao.ts')
  const { mount, login } = secretStore
  const report = throttledReporter(
    (message, error) => log.error({ err: error }, message),
    REPORT_EVERY_MS,
    () => performance.now(),
  )
  return createOpenBao({
    address: baoAddressOf(secretStore, '--secret-store-ca'),
    mount,
    login,
    onFailure: (error) => report('the login to the secret store could not be renewed; it is tried again', error),
  })
}
