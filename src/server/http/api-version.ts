/** The header of every response that names the major version of its path and the latest one (S1 Versioning 5). */
export const API_VERSION_HEADER = 'X-Service-API-Version'

/** The path of cookies that belong to the API. Where several major versions are served, each has its own. */
export const API_COOKIE_PATH = '/v1/'

/** The major versions that a server serves beside each other. */
export interface ApiVersions {
  /** `/v1/`, `/v2/` …, ascending. */
  readonly prefixes: readonly string[]
  /** The value of the header for answers at a path; outside of the API the latest version is the current one, too. */
  headerFor(path: string): string
  /** Whether a path belongs to one of them. */
  includes(path: string): boolean
}

const MAJOR = /^\/v(\d+)\//

/** Works out the versions from the paths of the operations. Without any it is v1. */
export function apiVersionsOf(paths: readonly string[]): ApiVersions {
  const served = [...new Set(paths.map(majorOf))].filter((major) => major !== undefined).toSorted((a, b) => a - b)
  const majors = served.length === 0 ? [1] : served
  const latest = majors.at(-1) ?? 1
  const headers = new Map(majors.map((major) => [major, `current=v${major}, latest=v${latest}`]))
  const ofLatest = headers.get(latest) ?? ''
  const prefixes = majors.map((major) => `/v${major}/`)
  return {
    prefixes,
    headerFor: (path) => headers.get(majorOf(path) ?? latest) ?? ofLatest,
    includes: (path) => prefixes.some((prefix) => path.startsWith(prefix)),
  }
}

/** The major version that a path belongs to. */
export function majorOf(path: string): number | undefined {
  const [, major] = MAJOR.exec(path) ?? []
  return major === undefined ? undefined : Number(major)
}
