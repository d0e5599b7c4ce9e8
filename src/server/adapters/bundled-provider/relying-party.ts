import { PROVIDER_PATH } from '../../ports/local-sign-in.ts'

/** The only client of the bundled provider: the server that it is bundled with. */
export const CLIENT_ID = 'ctl'

/** The path below which the provider is served. */
export const MOUNT_PATH = PROVIDER_PATH

/** @param baseUrl an origin, without a slash at its end */
export function issuerOf(baseUrl: string): string {
  return `${baseUrl}${MOUNT_PATH}`
}

/** The redirect URI of the server. */
export function redirectUriOf(baseUrl: string): string {
  return `${baseUrl}/v1/auth/callback`
}
