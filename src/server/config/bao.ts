import { resolve } from 'node:path'
import { ConfigError } from './config-error.ts'
import { isLoopback } from './values.ts'

/** How the server logs in to OpenBao or Vault. `mount` is the path of the auth method. */
export type BaoLoginSettings =
  | { readonly kind: 'token'; readonly tokenFile: string }
  | { readonly kind: 'approle'; readonly mount: string; readonly roleId: string; readonly secretIdFile: string }
  | { readonly kind: 'kubernetes'; readonly mount: string; readonly role: string; readonly jwtFile: string }

/** How one service on OpenBao or Vault is reached. */
export interface BaoSettings {
  /** An origin. */
  readonly url: string
  readonly namespace: string | undefined
  /** Certificate authorities to trust instead of the well-known ones. */
  readonly caPath: string | undefined
  readonly login: BaoLoginSettings
}

/** The options of one service; undefined where one is not set. */
export interface BaoValues {
  readonly namespace: string | undefined
  readonly ca: string | undefined
  readonly plaintext: boolean | undefined
  readonly tokenFile: string | undefined
  readonly roleId: string | undefined
  readonly secretIdFile: string | undefined
  readonly kubernetesRole: string | undefined
  readonly jwtFile: string | undefined
  readonly loginMount: string | undefined
}

/** How refusals speak of the service. */
export interface BaoNaming {
  /** Flags begin with `--<prefix>-`. */
  readonly prefix: 'secret-store' | 'signer'
  readonly name: 'secret store' | 'signer'
  /** What would cross the network in the clear. */
  readonly carries: 'secrets' | 'its token'
}

/** Where Kubernetes puts the token of the service account. */
const JWT_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/** Whether any option of the service is set. */
export function isAnySet(values: BaoValues): boolean {
  return Object.values(values).some((value) => value !== undefined && value !== false)
}

/** Whether an option that chooses a login is set. */
export function hasLogin({ tokenFile, roleId, secretIdFile, kubernetesRole, jwtFile, loginMount }: BaoValues): boolean {
  return [tokenFile, roleId, secretIdFile, kubernetesRole, jwtFile, loginMount].some((value) => value !== undefined)
}

/** Undefined without a login. */
export function baoSettings(url: string, values: BaoValues): BaoSettings | undefined {
  const login = loginOf(values)
  if (login === undefined) return undefined
  return { url, namespace: values.namespace, caPath: values.ca && resolve(values.ca), login }
}

function loginOf(values: BaoValues): BaoLoginSettings | undefined {
  const { tokenFile, roleId, secretIdFile, kubernetesRole: role, jwtFile = JWT_FILE } = values
  if (tokenFile !== undefined) return { kind: 'token', tokenFile: resolve(tokenFile) }
  if (roleId !== undefined && secretIdFile !== undefined) {
    const { loginMount: mount = 'approle' } = values
    return { kind: 'approle', mount, roleId, secretIdFile: resolve(secretIdFile) }
  }
  const { loginMount: mount = 'kubernetes' } = values
  return role === undefined ? undefined : { kind: 'kubernetes', mount, role, jwtFile: resolve(jwtFile) }
}

/** @throws ConfigError where the options contradict each other, or one lacks another. */
export function refuseHalfBao(url: string, values: BaoValues, naming: BaoNaming): void {
  refuseLogins(values, naming)
  refuseTransport(url, values, naming)
}

function refuseLogins(values: BaoValues, { prefix, name }: BaoNaming): void {
  const { tokenFile, roleId, secretIdFile, kubernetesRole: role, jwtFile, loginMount } = values
  const logins = [tokenFile, roleId ?? secretIdFile, role ?? jwtFile].filter((one) => one !== undefined).length
  const flag = `--${prefix}`
  const refuse = (sentence: string): never => {
    throw new ConfigError(1, sentence)
  }
  if (logins === 0)
    refuse(
      `The ${name} needs a login: give ${flag}-token-file, ${flag}-role-id with ${flag}-secret-id-file, or ${flag}-kubernetes-role.`,
    )
  if (logins > 1)
    refuse(`The ${name} takes one login: a token file, an AppRole or a Kubernetes role; keep one of them.`)
  if ((roleId === undefined) !== (secretIdFile === undefined))
    refuse(`An AppRole needs both ${flag}-role-id and ${flag}-secret-id-file; one of them is missing.`)
  if (jwtFile !== undefined && role === undefined)
    refuse(`${flag}-jwt-file is for the Kubernetes login, which needs ${flag}-kubernetes-role.`)
  if (loginMount !== undefined && tokenFile !== undefined)
    refuse(`${flag}-login-mount is for AppRole and Kubernetes, and a token file needs no login; leave it out.`)
}

/** The token and the secrets must not cross a network in the clear by accident. */
function refuseTransport(url: string, { ca, plaintext }: BaoValues, { prefix, name, carries }: BaoNaming): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:') {
    if (plaintext === true)
      throw new ConfigError(1, `--${prefix}-plaintext is without TLS and https:// is with it; keep one of them.`)
    return
  }
  if (ca !== undefined) throw new ConfigError(1, `--${prefix}-ca is for TLS and http:// is without; keep one of them.`)
  if (plaintext === true || isLoopback(hostname.replaceAll(/^\[|\]$/g, ''))) return
  throw new ConfigError(
    1,
    `A ${name} on ${hostname} without TLS would carry ${carries} in the clear; give https://${hostname}, or --${prefix}-plaintext if that is meant.`,
  )
}
