/** The default return path of a sign-in. */
export const HOME_PATH = '/'

/** A placeholder for this server's origin: a path that leaves it would leave any origin. */
const SOME_ORIGIN = 'https://origin.invalid'

/**
 * The path on this origin that a sign-in returns to, ready for a `Location` field; `/` for anything else, so that no
 * sign-in ends on somebody else's page. Browsers take `\` for `/`, drop tabs and line breaks, and read `//` as a host.
 */
export function returnPathOf(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/(?![/\\])/.test(wanted) || /[\\\p{Cc}\p{Zl}\p{Zp}]/u.test(wanted)) return HOME_PATH
  if (!URL.canParse(wanted, SOME_ORIGIN)) return HOME_PATH
  const { origin, pathname, search, hash } = new URL(wanted, SOME_ORIGIN)
  // `/.//host` was normalized to `//host`.
  return origin === SOME_ORIGIN && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : HOME_PATH
}
