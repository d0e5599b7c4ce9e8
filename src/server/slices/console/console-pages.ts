import type { Page, StaticFile } from '../../http/pages/pages.ts'

/** Where the console is. Below `/v1/`, so that its requests carry the cookie of the session. */
export const CONSOLE_PATH = '/v1/console/'

/**
 * The policy of the console: that of the documentation page without its inline styles, and without what the console does not use.
 * Texts of the API cannot become markup or scripts: no sink takes a string.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** The files of the console as the build wrote them. */
export interface ConsoleFiles {
  /** The page itself. */
  readonly index: StaticFile
  /** Script and style sheet by name. The page asks for each with its digest, `?v=<digest>`. */
  readonly assets: ReadonlyMap<string, StaticFile>
}

/**
 * The pages of the console. Each file has a path of its own, so a request never names a file: what is not in the table does not exist.
 * All of them are the same bytes for everybody; what the page shows comes from the API under the session of its visitor.
 */
export function createConsolePages({ index, assets }: ConsoleFiles): readonly Page[] {
  const files = [...assets].map(([name, file]) => assetOf(`${CONSOLE_PATH}${name}`, file))
  const page = { ...index, policy: POLICY }
  return [toConsole, { ...PUBLIC, path: CONSOLE_PATH, handler: () => ({ file: page }) }, ...files]
}

const PUBLIC = { method: 'GET', isPublic: true } as const

const toConsole: Page = { ...PUBLIC, path: '/v1/console', handler: () => ({ location: CONSOLE_PATH }) }

/**
 * Behind a balancer, the page may come from another version than the script that it asks for. Then it gets the script of this version,
 * which draws the whole page by itself; browsers keep it only under its own digest.
 */
function assetOf(path: Page['path'], file: StaticFile): Page {
  return {
    ...PUBLIC,
    path,
    handler: ({ query }) => ({ file: { ...file, isImmutable: query.get('v') === file.digest } }),
  }
}
