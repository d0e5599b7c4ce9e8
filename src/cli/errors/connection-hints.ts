import type { TransportFailure } from '../../client/failures.ts'

const WAYS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens at that port of that host: check the port.',
  ENOTFOUND: 'Its host name does not resolve: check how it is written.',
  EAI_AGAIN: 'Its host name cannot be resolved now: check the network and the resolver of this machine.',
  ETIMEDOUT: 'That host sends no answer: check the address, and the firewalls on the way.',
  EHOSTUNREACH: 'There is no way to that host: check the address and the network of this machine.',
  ENETUNREACH: 'There is no way to that host: check the address and the network of this machine.',
}

/** What to look at, by the error of the system that a failed call carries. Empty for other failures. */
export function connectionHints({ cause }: TransportFailure): readonly string[] {
  const way = cause instanceof Error && 'code' in cause ? WAYS[String(cause.code)] : undefined
  return way === undefined ? [] : [way]
}
