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
  /** Script and style sheet, by names that change with their contents. */
  readonly assets: ReadonlyMap<string, StaticFile>
}

/**
 * The pages of the console. Each file has a path of its own, so a request never names a file: what is not in the table does not exist.
 * All of them are the same bytes for everybody; what the page shows comes from the API under the session of its visitor.
 */
export function createConsolePages({ index, assets }: ConsoleFiles): readonly Page[] {
  const files = [...assets].map(([name, file]) => pageOf(`${CONSOLE_PATH}${name}`, file))
  return [toConsole, pageOf(CONSOLE_PATH, { ...index, policy: POLICY }), ...files]
}

const toConsole: Page = { method: 'GET', path: '/v1/console', handler: () => ({ location: CONSOLE_PATH }) }

function pageOf(path: Page['path'], file: StaticFile): Page {
  return { method: 'GET', path, handler: () => ({ file }) }
}
