import type { Logger } from 'pino'
import { bindProvider, unbindProvider } from '../adapters/bundled-provider/binding.ts'
import { createBundledProvider, type BundledProvider } from '../adapters/bundled-provider/bundled-provider.ts'
import { isFirstPasswordPending } from './first-administrator.ts'
import type { Backend } from './backend.ts'
import type { Config } from '../config/config.ts'
import { removeSpentPassword } from '../first-run/administrator.ts'
import { createClientAddress } from '../http/client-address.ts'
import { networkOf } from '../http/limits/rate-limits.ts'
import { createTokenBuckets } from '../http/limits/token-buckets.ts'
import type { PasswordHashing } from '../slices/local-accounts/password-hash.ts'
import { createLocalSignIn } from '../slices/local-accounts/sign-in.ts'
import type { Sessions } from '../ports/sessions.ts'
import type { AuditEntry } from '../ports/unit-of-work.ts'
import type { Users } from '../ports/users.ts'

export interface LocalProviderDeps {
  readonly backend: Backend
  readonly config: Config
  /** The origin under which clients reach the server. */
  readonly baseUrl: string
  readonly users: Users
  readonly sessions: Sessions
  readonly hashing: PasswordHashing
  readonly log: Logger
  /** Takes audit rows that nobody waits for. */
  readonly onRefused: (entry: AuditEntry) => void
}

/** The provider by which people sign in to local accounts. */
export interface LocalProvider {
  readonly routes: BundledProvider
  /** Hears that a person has replaced their password. */
  readonly onPasswordChanged: () => void
}

/** Networks with a bucket of their own; a bucket takes about 100 bytes. */
const NETWORKS_MAX = 131_072

/** Creates the provider of local accounts. Its library is loaded at the first request. */
export function createLocalProvider({ backend, config, ...deps }: LocalProviderDeps): LocalProvider {
  const onPasswordChanged = (): void => {
    const pending = { isPending: () => isFirstPasswordPending(backend) }
    void removeSpentPassword(config.initialPasswordFile, pending).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'the file with the one-time password could not be removed')
    })
  }
  const signIn = createLocalSignIn({ ...backend, ...deps, onPasswordChanged })
  const clientAddress = createClientAddress(config.trustedProxies)
  const buckets = config.rates.signIn.count === 0 ? undefined : createTokenBuckets(config.rates.signIn, NETWORKS_MAX)
  return {
    onPasswordChanged,
    routes: createBundledProvider({
      ...backend,
      ...deps,
      signIn,
      clientAddress: ({ socket, headers }) => {
        const forwarded = headers['x-forwarded-for']
        return clientAddress(socket.remoteAddress, typeof forwarded === 'string' ? forwarded : undefined)
      },
      takeAddress: (address) => buckets?.take(networkOf(address), backend.clock.now()) ?? 0,
    }),
  }
}

/** Makes or mends the binding of the provider, or lets nobody sign in with it where the provider is off. */
export async function settleBinding(
  { datastore, ids, clock }: Backend,
  config: Config,
  baseUrl: string,
): Promise<void> {
  const at = new Date(clock.now())
  await datastore.transaction('worker', (tx) =>
    config.hasBundledProvider ? bindProvider(tx, baseUrl, { ids, at }) : unbindProvider(tx, at),
  )
}
