import type { TransportFailure } from '../../client/failures.ts'

const JUDGEMENTS: Readonly<Partial<Record<TransportFailure['fault'], string>>> = {
  unreadable: 'is not a ctl server',
  unknown_status: 'is newer than this ctl',
}

/** What a call that got no usable answer says of the server. */
export function transportSentence(url: string, { fault, message }: TransportFailure): string {
  return `${url} ${JUDGEMENTS[fault] ?? 'could not be asked'}: ${message}`
}
