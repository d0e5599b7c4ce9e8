import type { ReadBridge } from './own-bridges.ts'
import { privateKeyIn, publicKeyOf } from '../keys/wireguard-key.ts'

/** Public keys by the slug of their user-access provider, in base64. */
export type ProviderKeys = Readonly<Record<string, string>>

/**
 * The public keys of the user-access providers of kind `wireguard`, which devices of people need. A provider whose secret is
 * missing, or is no private key, has none.
 */
export function providerKeysOf({ config }: ReadBridge, secrets: ReadonlyMap<string, Uint8Array>): ProviderKeys {
  const { user_access: providers } = JSON.parse(config) as { readonly user_access: readonly unknown[] }
  return Object.fromEntries(providers.flatMap((provider) => keyOf(provider, secrets)))
}

function keyOf(
  provider: unknown,
  secrets: ReadonlyMap<string, Uint8Array>,
): readonly (readonly [slug: string, key: string])[] {
  const { kind, slug, auth_secret_ref: ref } = provider as Readonly<Record<string, unknown>>
  if (kind !== 'wireguard' || typeof slug !== 'string' || typeof ref !== 'string') return []
  const secret = secrets.get(ref)
  const key = secret === undefined ? undefined : privateKeyIn(secret)
  return key === undefined ? [] : [[slug, publicKeyOf(key)]]
}
