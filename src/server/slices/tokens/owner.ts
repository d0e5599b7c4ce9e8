import type { Caller } from '../../ports/credential-resolver.ts'
import type { RoleSubject } from '../../../shared/role-subjects.ts'

/** The two kinds of principals that hold API tokens. */
export type OwnerKind = 'user' | 'service-identity'

/** The owner of a token. */
export interface Owner {
  readonly id: string
  readonly kind: OwnerKind
}

/** The owner as the authorization model names it. */
export function ownerSubject({ id, kind }: Owner): RoleSubject {
  return { type: kind === 'user' ? 'user' : 'serviceaccount', id }
}

/** `user:<uuid>` or `serviceaccount:<uuid>`. */
export function ownerReference(owner: Owner): string {
  const { type, id } = ownerSubject(owner)
  return `${type}:${id}`
}

/** Reads an `identity_ref`, whose form the contract has checked: `user:<uuid>` or `service:<uuid>`, capitals allowed. */
export function ownerOfRef(identityRef: string): Owner {
  const colon = identityRef.indexOf(':')
  const kind = identityRef.slice(0, colon) === 'user' ? 'user' : 'service-identity'
  return { kind, id: identityRef.slice(colon + 1).toLowerCase() }
}

/** The caller as an owner of tokens. Nodes and join tokens own none, and no operation that calls this accepts their credentials. */
export function ownerOfCaller({ kind, id }: Caller): Owner {
  if (kind === 'user' || kind === 'service-identity') return { kind, id }
  throw new Error(`a ${kind} owns no API tokens`)
}
