import type { TransportFailure } from '../client/failures.ts'

/** What a call that got no usable answer says of the server. */
export function transportSentence(url: string, { fault, message }: TransportFailure): string {
  return `${url} ${fault === 'unreadable' ? 'is not a ctl server' : 'could not be asked'}: ${message}`
}
