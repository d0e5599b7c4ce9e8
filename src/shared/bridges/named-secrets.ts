import { parseSecretRef } from './secret-ref.ts'

/** The parts of an effective configuration that may name secrets, and the member that does. */
const NAMING = { ingress: 'acme_account_ref', tunnels: 'auth_secret_ref', user_access: 'auth_secret_ref' } as const

/** References to secrets that an effective configuration names, ascending and each once. Other texts are left out. */
export function namedSecrets(config: Readonly<Record<string, unknown>>): readonly string[] {
  const refs = Object.entries(NAMING).flatMap(([part, member]) => {
    const items: unknown = config[part]
    return Array.isArray(items) ? items.map((item: unknown) => memberOf(item, member)) : []
  })
  return [...new Set(refs)]
    .filter((ref) => typeof ref === 'string')
    .filter(isReference)
    .toSorted()
}

function isReference(text: string): boolean {
  return parseSecretRef(text) !== undefined
}

function memberOf(item: unknown, name: string): unknown {
  return typeof item === 'object' && item !== null ? (item as Readonly<Record<string, unknown>>)[name] : undefined
}
