import type { Logger } from 'pino'

/** Messages of the provider's library begin with its name, after a colour code on a terminal. */
const NOTICE = /^\W*(?:\[[\d;]*m)?oidc-provider (?:NOTICE|WARNING): /

/**
 * Redirects messages of the provider's library to the log: it can only print to the console, whose stdout
 * is reserved for the line that scripts wait for. Other output is unchanged.
 */
export function redirectNotices(log: Pick<Logger, 'debug'>): void {
  const { console } = globalThis
  for (const method of ['info', 'warn'] as const) {
    const print = console[method].bind(console)
    console[method] = (...words: unknown[]): void => {
      const [text] = words
      if (typeof text === 'string' && NOTICE.test(text)) log.debug({ notice: text }, 'the bundled provider says')
      else print(...words)
    }
  }
}
