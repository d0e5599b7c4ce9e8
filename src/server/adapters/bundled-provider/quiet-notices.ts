import type { Logger } from 'pino'

/** What the provider's library prints begins with its name, after a colour on a terminal. */
const NOTICE = /^\W*(?:\[[\d;]*m)?oidc-provider (?:NOTICE|WARNING): /

/**
 * From now on what the provider's library prints goes to the log: it knows no other way than the console, whose stdout
 * belongs to the line that scripts wait for. What others print stays.
 */
export function quietNotices(log: Pick<Logger, 'debug'>): void {
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
