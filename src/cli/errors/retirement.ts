import type { Attempt } from '../../client/client.ts'

/** What the RFC 9745 and RFC 8594 headers of an answer say, as one sentence. */
export function retirement({ request, answer }: Attempt): string {
  const since = dateOf(Number(/^@(\d{1,12})$/.exec(answer?.headers['deprecation'] ?? '')?.[1]) * 1000)
  const sunset = dateOf(Date.parse(answer?.headers['sunset'] ?? ''))
  return [
    `${request.method} ${request.path.replace(/\?[^]*$/, '')} is deprecated`,
    since === undefined ? '' : ` since ${since}`,
    sunset === undefined ? '' : ` and may be gone after ${sunset}`,
    '; update ctl or the script that calls it',
  ].join('')
}

function dateOf(ms: number): string | undefined {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : undefined
}
