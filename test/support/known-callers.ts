import type { Caller, CredentialResolver } from '../../src/server/ports/credential-resolver.ts'

/** Callers whose credential is their own subject: who calls is given, what they may do is decided by the real authorizer. */
export interface KnownCallers {
  readonly resolver: CredentialResolver
  add(subject: string, domainId: string): void
}

export function knownCallers(): KnownCallers {
  const callers = new Map<string, Caller>()
  return {
    resolver: {
      kind: 'api-token',
      recognizes: () => true,
      resolve: (text) => callers.get(text) ?? { refused: true, log: 'no such caller' },
    },
    add(subject, domainId) {
      const [type, id = ''] = subject.split(':')
      callers.set(subject, {
        subject,
        kind: type === 'user' ? 'user' : 'service-identity',
        id,
        domainId,
        displayName: subject,
        credential: { kind: 'api-token', id, scopes: ['*'], expiresAtMs: undefined },
      })
    },
  }
}
