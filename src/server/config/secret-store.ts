import { resolve } from 'node:path'
import { ConfigError } from './config-error.ts'
import { isLoopback } from './values.ts'

/** How the server logs in to OpenBao or Vault. `mount` is the path of the auth method. */
export type SecretStoreLogin =
  | { readonly kind: 'token'; readonly tokenFile: string }
  | { readonly kind: 'approle'; readonly mount: string; readonly roleId: string; readonly secretIdFile: string }
  | { readonly kind: 'kubernetes'; readonly mount: string; readonly role: string; readonly jwtFile: string }

/** The OpenBao or Vault that keeps the secrets, and how to connect to it. */
export interface SecretStoreSettings {
  /** An origin. */
  readonly url: string
  /** Path of a KV engine of version 2. */
  readonly mount: string
  readonly namespace: string | undefined
  /** Certificate authorities to trust instead of the well-known ones. */
  readonly caPath: string | undefined
  readonly login: SecretStoreLogin
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
/** Where Kubernetes puts the token of the service account. */
const JWT_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/** Undefined: secrets are kept in the datastore. */
export function secretStoreOf(values: SecretStoreValues): SecretStoreSettings | undefined {
  const { secretStoreUrl: url, secretStoreCa: ca } = values
  const login = loginOf(values)
  if (url === undefined || login === undefined) return undefined
  const { secretStoreMount: mount = MOUNT, secretStoreNamespace: namespace } = values
  return { url, mount, namespace, caPath: ca && resolve(ca), login }
}

function loginOf(values: SecretStoreValues): SecretStoreLogin | undefined {
  const { secretStoreTokenFile: tokenFile, secretStoreRoleId: roleId, secretStoreSecretIdFile: secretId } = values
  const { secretStoreKubernetesRole: role, secretStoreJwtFile: jwtFile = JWT_FILE } = values
  if (tokenFile !== undefined) return { kind: 'token', tokenFile: resolve(tokenFile) }
  if (roleId !== undefined && secretId !== undefined) {
    const { secretStoreLoginMount: mount = 'approle' } = values
    return { kind: 'approle', mount, roleId, secretIdFile: resolve(secretId) }
  }
  const { secretStoreLoginMount: mount = 'kubernetes' } = values
  return role === undefined ? undefined : { kind: 'kubernetes', mount, role, jwtFile: resolve(jwtFile) }
}

/** Options that mean nothing without a URL. The values of the caller have other options beside them. */
const OF_URL = [
  'secretStoreMount',
  'secretStoreNamespace',
  'secretStoreCa',
  'secretStorePlaintext',
  'secretStoreTokenFile',
  'secretStoreRoleId',
  'secretStoreSecretIdFile',
  'secretStoreKubernetesRole',
  'secretStoreJwtFile',
  'secretStoreLoginMount',
] as const satisfies readonly (keyof SecretStoreValues)[]

/** @throws ConfigError where options of the secret store contradict each other, or one lacks another. */
export function refuseHalfSecretStore(values: SecretStoreValues): void {
  const { secretStoreUrl: url } = values
  const isSaid = OF_URL.some((name) => values[name] !== undefined && values[name] !== false)
  if (url === undefined) {
    if (isSaid) throw new ConfigError(1, 'Secret store options require --secret-store-url; it is missing.')
    return
  }
  refuseLogins(values)
  refuseTransport(values, url)
}

function refuseLogins(values: SecretStoreValues): void {
  const { secretStoreTokenFile: token, secretStoreRoleId: roleId, secretStoreSecretIdFile: secretId } = values
  const { secretStoreKubernetesRole: role, secretStoreJwtFile: jwt, secretStoreLoginMount: mount } = values
  const logins = [token, roleId ?? secretId, role ?? jwt].filter((one) => one !== undefined).length
  const refuse = (sentence: string): never => {
    throw new ConfigError(1, sentence)
  }
  if (logins === 0)
    refuse(
      'The secret store needs a login: give --secret-store-token-file, --secret-store-role-id with --secret-store-secret-id-file, or --secret-store-kubernetes-role.',
    )
  if (logins > 1)
    refuse('The secret store takes one login: a token file, an AppRole or a Kubernetes role; keep one of them.')
  if ((roleId === undefined) !== (secretId === undefined))
    refuse('An AppRole needs both --secret-store-role-id and --secret-store-secret-id-file; one of them is missing.')
  if (jwt !== undefined && role === undefined)
    refuse('--secret-store-jwt-file is for the Kubernetes login, which needs --secret-store-kubernetes-role.')
  if (mount !== undefined && token !== undefined)
    refuse('--secret-store-login-mount is for AppRole and Kubernetes, and a token file needs no login; leave it out.')
}

/** The token and the secrets must not cross a network in the clear by accident. */
function refuseTransport(
  { secretStoreCa: ca, secretStorePlaintext: isPlainMeant }: SecretStoreValues,
  text: string,
): void {
  const { protocol, hostname } = new URL(text)
  if (protocol === 'https:') {
    if (isPlainMeant === true)
      throw new ConfigError(1, '--secret-store-plaintext is without TLS and https:// is with it; keep one of them.')
    return
  }
  if (ca !== undefined)
    throw new ConfigError(1, '--secret-store-ca is for TLS and http:// is without; keep one of them.')
  if (isPlainMeant === true || isLoopback(hostname.replaceAll(/^\[|\]$/g, ''))) return
  throw new ConfigError(
    1,
    `A secret store on ${hostname} without TLS would carry secrets in the clear; give https://${hostname}, or --secret-store-plaintext if that is meant.`,
  )
}
