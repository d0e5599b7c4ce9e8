/** What a reference names: a secret of a Project by slugs, and perhaps one version of it. */
export interface SecretRef {
  readonly domain: string
  readonly project: string
  readonly name: string
  /** Undefined: the newest one. */
  readonly version: number | undefined
}

const SLUG = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const REF = new RegExp(`^secret:(${SLUG})/(${SLUG})/(${SLUG})(?::([1-9]\\d{0,8}))?$`)

/** Reads `secret:<domain>/<project>/<name>[:<version>]` (S1 Bridge resources); undefined for anything else. */
export function parseSecretRef(text: string): SecretRef | undefined {
  const [, domain, project, name, version] = REF.exec(text) ?? []
  if (domain === undefined || project === undefined || name === undefined) return undefined
  return { domain, project, name, version: version === undefined ? undefined : Number(version) }
}

/** Whether the text has the form of a reference. */
export function isSecretRef(text: string): boolean {
  return parseSecretRef(text) !== undefined
}

/** The reference with its own version, or with this one where it has none. */
export function versionedRef(ref: string, version: number): string {
  return parseSecretRef(ref)?.version === undefined ? `${ref}:${version}` : ref
}
