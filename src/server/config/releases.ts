import { resolve } from 'node:path'
import type { ReleaseSigner } from '../ports/release-verifier.ts'
import { ConfigError } from './config-error.ts'
import type { Parsed } from './values.ts'

/** Where releases of the agent come from. */
export type ReleasesSource =
  | { readonly kind: 'folder'; readonly directory: string }
  /** The address ends with a slash. */
  | { readonly kind: 'https'; readonly url: string }

/** Comma-separated signers, each an issuer and an identity with a blank between them. */
export function releaseSigners(text: string): Parsed<readonly ReleaseSigner[]> {
  const mustBe = 'an issuer and an identity separated by a blank, several by commas'
  const signers: ReleaseSigner[] = []
  for (const part of text.split(',').map((each) => each.trim())) {
    if (part === '' && text.trim() === '') continue
    const [issuer, identity, ...more] = part.split(/\s+/)
    if (issuer === undefined || identity === undefined || more.length > 0 || !URL.canParse(issuer)) return { mustBe }
    signers.push({ issuer, identity })
  }
  return { value: signers }
}

const INDEX = /\/index\.json$/

/** A folder, or an https address of one; either may name the index in it. */
export function releasesSource(text: string): Parsed<ReleasesSource> {
  const mustBe = 'a folder, or an https address without a password and a query'
  if (text.trim() === '') return { mustBe }
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
    return { value: { kind: 'folder', directory: resolve(text.replace(INDEX, '/')) } }
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isUsable = url?.protocol === 'https:' && [url.username, url.password, url.search, url.hash].join('') === ''
  return isUsable ? { value: { kind: 'https', url: `${url.href.replace(INDEX, '').replace(/\/$/, '')}/` } } : { mustBe }
}

/** The options of releases; undefined where one is not set. */
export interface ReleaseValues {
  readonly releaseSigners: readonly ReleaseSigner[] | undefined
  readonly releasesSource: ReleasesSource | undefined
}

/** Refuses a source without signers: the server would take no release from it, and its index has to be signed by one of them. */
export function refuseHalfReleases({ releaseSigners: signers = [], releasesSource: source }: ReleaseValues): void {
  if (source !== undefined && signers.length === 0)
    throw new ConfigError(1, '--releases-source needs --release-signers; they are missing.')
}

/** Comma-separated `acr` values, as they are quoted in a challenge (RFC 9470, 3). */
export function acrValues(text: string): Parsed<readonly string[]> {
  const values = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
  const areUsable = values.every((value) => /^[!#-[\]-~]{1,256}$/.test(value))
  return areUsable ? { value: values } : { mustBe: 'acr values of printable ASCII without blanks, separated by commas' }
}
