/** Where a sign-in goes that names no place to come back to. */
export const HOME_PATH = '/'

/** Stands for whatever origin this server has: a path that leads off it leads off any. */
const SOME_ORIGIN = 'https://origin.invalid'

/**
 * The path on this origin that a sign-in comes back to, ready for a `Location` field; `/` for anything else, so that no
 * sign-in ends on somebody else's page. Browsers take `\` for `/`, drop tabs and line breaks, and read `//` as a host.
 */
export function returnPathOf(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/(?![/\\])/.test(wanted) || /[\\\p{Cc}\p{Zl}\p{Zp}]/u.test(wanted)) return HOME_PATH
  if (!URL.canParse(wanted, SOME_ORIGIN)) return HOME_PATH
  const { origin, pathname, search, hash } = new URL(wanted, SOME_ORIGIN)
  // `/.//host` has become `//host` by now.
  return origin === SOME_ORIGIN && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : HOME_PATH
}
