/** What the server says of a refused call, as far as the console shows it (RFC 9457). */
export interface ProblemBody {
  readonly code?: string
  readonly detail?: string
  readonly correlation_id?: string
  /** The members at fault. */
  readonly errors?: readonly { readonly pointer?: string; readonly detail?: string }[]
  readonly missing_relation?: { readonly relation: string; readonly object: string }
  readonly acr_values?: readonly string[]
  readonly max_age?: number
}

/** A call that was refused, or that had no answer (`status` 0). */
export class Failure extends Error {
  readonly status: number
  readonly body: ProblemBody

  constructor(status: number, body: ProblemBody) {
    super(sentenceOf(status, body))
    this.status = status
    this.body = body
  }
}

/** The failure of a call without an answer. */
export const unreachable = (): Failure => new Failure(0, { detail: 'The server cannot be reached.' })

/** The failure of a call that is known to be refused, since the person may not read the Domain. */
export const unreadable = (domainId: string): Failure =>
  new Failure(403, { missing_relation: { relation: 'read', object: `domain:${domainId}` } })

/** Whether the session of the browser has ended. A stronger sign-in that an operation asks for is also a 401. */
export const isSignedOut = ({ status, body }: Failure): boolean => status === 401 && body.code !== 'step_up_required'

/** The sentence for people. Of a denial it names the relation that is missing. */
function sentenceOf(status: number, { detail, code, errors, missing_relation: missing }: ProblemBody): string {
  if (missing !== undefined)
    return `This needs the relation ${missing.relation} on ${missing.object}, which you do not hold.`
  const fault = errors?.[0]
  const place = fault?.detail === undefined ? '' : ` ${fault.pointer ?? ''} ${fault.detail}.`
  return `${detail ?? `The server answered ${status}${code === undefined ? '' : ` (${code})`}.`}${place}`
}
