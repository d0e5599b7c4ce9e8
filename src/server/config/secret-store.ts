import { baoSettings, isAnySet, refuseHalfBao, type BaoNaming, type BaoSettings, type BaoValues } from './bao.ts'
import { ConfigError } from './config-error.ts'

/** The OpenBao or Vault that keeps the secrets, and how to connect to it. */
export interface SecretStoreSettings extends BaoSettings {
  /** Path of a KV engine of version 2. */
  readonly mount: string
}

/** The options of the secret store; undefined where one is not set. */
export interface SecretStoreValues {
  readonly secretStoreUrl: string | undefined
  readonly secretStoreMount: string | undefined
  readonly secretStoreNamespace: string | undefined
  readonly secretStoreCa: string | undefined
  readonly secretStorePlaintext: boolean | undefined
  readonly secretStoreTokenFile: string | undefined
  readonly secretStoreRoleId: string | undefined
  readonly secretStoreSecretIdFile: string | undefined
  readonly secretStoreKubernetesRole: string | undefined
  readonly secretStoreJwtFile: string | undefined
  readonly secretStoreLoginMount: string | undefined
}

const MOUNT = 'secret'
const NAMING: BaoNaming = { prefix: 'secret-store', name: 'secret store', carries: 'secrets' }

/** Undefined: secrets are kept in the datastore. */
export function secretStoreOf(values: SecretStoreValues): SecretStoreSettings | undefined {
  const { secretStoreUrl: url, secretStoreMount: mount = MOUNT } = values
  const settings = url === undefined ? undefined : baoSettings(url, baoValuesOfStore(values))
  return settings && { ...settings, mount }
}

/** The options that say how the secret store is reached. */
export function baoValuesOfStore(values: SecretStoreValues): BaoValues {
  return {
    namespace: values.secretStoreNamespace,
    ca: values.secretStoreCa,
    plaintext: values.secretStorePlaintext,
    tokenFile: values.secretStoreTokenFile,
    roleId: values.secretStoreRoleId,
    secretIdFile: values.secretStoreSecretIdFile,
    kubernetesRole: values.secretStoreKubernetesRole,
    jwtFile: values.secretStoreJwtFile,
    loginMount: values.secretStoreLoginMount,
  }
}

/** @throws ConfigError where options of the secret store contradict each other, or one lacks another. */
export function refuseHalfSecretStore(values: SecretStoreValues): void {
  const { secretStoreUrl: url, secretStoreMount: mount } = values
  const bao = baoValuesOfStore(values)
  if (url !== undefined) refuseHalfBao(url, bao, NAMING)
  else if (mount !== undefined || isAnySet(bao))
    throw new ConfigError(1, 'Secret store options require --secret-store-url; it is missing.')
}
