import {
  baoSettings,
  hasLogin,
  isAnySet,
  refuseHalfBao,
  type BaoNaming,
  type BaoSettings,
  type BaoValues,
} from './bao.ts'
import { ConfigError } from './config-error.ts'
import { baoValuesOfStore, type SecretStoreValues } from './secret-store.ts'
import type { TransitUrl } from './values.ts'

/** The key of a Transit engine that signs, and how to connect to it. */
interface TransitSettings extends BaoSettings {
  /** Path of the engine. */
  readonly mount: string
  /** Name of the key. */
  readonly key: string
}

/** What signs. */
export interface SignerSettings {
  /** Undefined: no key of a Transit engine is known to the server. */
  readonly transit: TransitSettings | undefined
  /** Where new keys come from. */
  readonly source: 'sealed' | 'transit'
  /** Whether the keys may come from another signer so far. */
  readonly isMoving: boolean
}

/** The options of the signer; undefined where one is not set. */
interface SignerValues extends SecretStoreValues {
  readonly signerUrl: TransitUrl | undefined
  readonly signerAdopt: 'sealed' | 'transit' | undefined
  readonly signerNamespace: string | undefined
  readonly signerCa: string | undefined
  readonly signerPlaintext: boolean | undefined
  readonly signerTokenFile: string | undefined
  readonly signerRoleId: string | undefined
  readonly signerSecretIdFile: string | undefined
  readonly signerKubernetesRole: string | undefined
  readonly signerJwtFile: string | undefined
  readonly signerLoginMount: string | undefined
}

const NAMING: BaoNaming = { prefix: 'signer', name: 'signer', carries: 'its token' }

export function signerOf(values: SignerValues): SignerSettings {
  const { signerUrl: url, signerAdopt: adopt } = values
  const settings = url && baoSettings(url.origin, withDefaults(url, values))
  const transit = settings && url && { ...settings, mount: url.mount, key: url.key }
  const source = adopt ?? (transit === undefined ? 'sealed' : 'transit')
  return { transit, source, isMoving: adopt !== undefined }
}

/** @throws ConfigError where options of the signer contradict each other, or one lacks another. */
export function refuseHalfSigner(values: SignerValues): void {
  const { signerUrl: url, signerAdopt: adopt } = values
  if (url !== undefined) refuseHalfBao(url.origin, withDefaults(url, values), NAMING)
  else if (isAnySet(ownValues(values)) || adopt === 'transit')
    throw new ConfigError(1, 'Signer options require --signer-url; it is missing.')
}

/**
 * The options of the signer, with those of a secret store at the same origin in their place where they are not set. A
 * namespace belongs to its login: a signer with a login of its own takes none from the secret store.
 */
function withDefaults({ origin }: TransitUrl, values: SignerValues): BaoValues {
  const own = ownValues(values)
  if (values.secretStoreUrl !== origin) return own
  const store = baoValuesOfStore(values)
  const transport = { ca: own.ca ?? store.ca, plaintext: own.plaintext === true || store.plaintext === true }
  if (hasLogin(own)) return { ...own, ...transport }
  return { ...store, ...transport, namespace: own.namespace ?? store.namespace }
}

function ownValues(values: SignerValues): BaoValues {
  return {
    namespace: values.signerNamespace,
    ca: values.signerCa,
    plaintext: values.signerPlaintext,
    tokenFile: values.signerTokenFile,
    roleId: values.signerRoleId,
    secretIdFile: values.signerSecretIdFile,
    kubernetesRole: values.signerKubernetesRole,
    jwtFile: values.signerJwtFile,
    loginMount: values.signerLoginMount,
  }
}
