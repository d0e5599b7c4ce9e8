import { usageError } from '../errors/cli-error.ts'
import { NONE } from './members.ts'

/** One package of a provider configuration, as the API takes it. */
export interface TypedPackage {
  readonly source: string
  readonly version: string
}

/**
 * Reads `SOURCE@VERSION` texts: the version is what follows the last `@`. The one word `none` is the empty set. Throws a usage
 * error that begins with the flag; which sources and versions are allowed is the server's to judge.
 */
export function packagesFrom(texts: readonly string[], flag: string): readonly TypedPackage[] {
  return isNone(texts, flag) ? [] : texts.map((text) => packageFrom(text, flag))
}

/** Reads `KEY=VALUE` texts into an object of texts. The one word `none` is the empty object. Throws a usage error. */
export function pairsFrom(texts: readonly string[], flag: string): Readonly<Record<string, string>> {
  if (isNone(texts, flag)) return {}
  const pairs = new Map<string, string>()
  for (const text of texts) {
    const [key, value] = pairFrom(text, flag)
    if (pairs.has(key)) throw usageError(`${flag} gives ${key} twice`)
    pairs.set(key, value)
  }
  return Object.fromEntries(pairs)
}

/** Whether the empty set is meant. Throws a usage error where the word for it stands beside others. */
export function isNone(texts: readonly string[], flag: string): boolean {
  if (!texts.includes(NONE)) return false
  if (texts.length > 1) throw usageError(`${flag} ${NONE} is the empty set and goes with no other value`)
  return true
}

function packageFrom(text: string, flag: string): TypedPackage {
  const at = text.lastIndexOf('@')
  const [source, version] = [text.slice(0, at), text.slice(at + 1)]
  // What follows an @ inside of a path is no version: oci://user@registry/image has none.
  if (at < 1 || version === '' || version.includes('/'))
    throw usageError(`${flag} needs SOURCE@VERSION, such as oci://registry.example.com/provider@v1.4, not "${text}"`)
  return { source, version }
}

function pairFrom(text: string, flag: string): readonly [key: string, value: string] {
  const equals = text.indexOf('=')
  if (equals < 1) throw usageError(`${flag} needs key=value, not "${text}"`)
  return [text.slice(0, equals), text.slice(equals + 1)]
}
