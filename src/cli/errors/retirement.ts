import type { Attempt } from '../../client/client.ts'

/** The RFC 9745 and RFC 8594 headers of an answer as one sentence, with the successor where this version of the contract names one. */
export function retirement({ operation, request, answer }: Attempt): string {
  const { deprecation = '', sunset = '' } = answer?.headers ?? {}
  const since = dateOf(Number(/^@(\d{1,12})$/.exec(deprecation)?.[1]) * 1000)
  return [
    `${request.method} ${request.path.replace(/\?[^]*$/, '')} is deprecated`,
    said(' since ', since),
    said(' and may be gone after ', dateOf(Date.parse(sunset))),
    said('; its successor is ', operation?.deprecated?.successor),
    '; update ctl or the script that calls it',
  ].join('')
}

function said(words: string, value: string | undefined): string {
  return value === undefined ? '' : `${words}${value}`
}

function dateOf(ms: number): string | undefined {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : undefined
}
