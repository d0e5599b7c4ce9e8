import { randomBytes } from 'node:crypto'
import type { Caller, CredentialResolver } from '../../ports/credential-resolver.ts'

/** Lets the server make a call for somebody, through every check but that of a stored credential. */
export interface ServerCallers {
  readonly resolver: CredentialResolver
  /** Gives the call a Bearer text that stands for the caller until the call has ended. */
  present<T>(caller: Caller, call: (bearer: string) => Promise<T>): Promise<T>
}

const PREFIX = 'server_'

/** Creates the credentials. They are 256 random bits, are in memory alone, and leave the process in no way. */
export function createServerCallers(): ServerCallers {
  const presented = new Map<string, Caller>()
  const known = (text: string): ReturnType<CredentialResolver['resolve']> & object =>
    presented.get(text) ?? { refused: true, log: 'no call of the server itself' }
  return {
    resolver: {
      kind: 'api-token',
      recognizes: (text) => text.startsWith(PREFIX),
      recall: (text) => presented.get(text) ?? { refused: true, log: 'no call of the server itself' },
      resolve: known,
    },
    async present(caller, call) {
      const bearer = `${PREFIX}${randomBytes(32).toString('base64url')}`
      presented.set(bearer, caller)
      try {
        return await call(bearer)
      } finally {
        presented.delete(bearer)
      }
    },
  }
}
