import type { Caller, CredentialResolver, Refusal } from '../../../src/server/ports/credential-resolver.ts'

/** Callers whose credential is their own subject: who calls is given, what they may do is decided by the real authorizer. */
export interface KnownCallers {
  readonly resolver: CredentialResolver
  /** Adds a caller with a token that an administrator issued; `own`: with a browser session, presented as that text. */
  add(subject: string, domainId: string, own?: { readonly presentedAs: string }): void
}

export function knownCallers(): KnownCallers {
  const callers = new Map<string, Caller>()
  const find = (text: string): Caller | Refusal => callers.get(text) ?? { refused: true, log: 'no such caller' }
  return {
    resolver: {
      kind: 'api-token',
      recognizes: () => true,
      recall: find,
      resolve: find,
    },
    add(subject, domainId, own) {
      const [type, id = ''] = subject.split(':')
      callers.set(own?.presentedAs ?? subject, {
        subject,
        kind: type === 'user' ? 'user' : 'service-identity',
        id,
        domainId,
        displayName: subject,
        credential: {
          kind: own === undefined ? 'api-token' : 'session',
          id,
          scopes: ['*'],
          expiresAtMs: undefined,
        },
      })
    },
  }
}
