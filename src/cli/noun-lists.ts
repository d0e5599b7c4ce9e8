import type { Manifest, ManifestOperation } from '../shared/contract/manifest-format.ts'

/** Nouns whose objects are a part of what the list of another noun shows. */
const PARTS: Readonly<Record<string, { readonly of: string; readonly sends: Readonly<Record<string, string>> }>> = {
  'service-identities': { of: 'identities', sends: { kind: 'service-identity' } },
  users: { of: 'identities', sends: { kind: 'user' } },
}

/** The operation that lists a noun. */
export function listOf({ operations }: Manifest, noun: string): ManifestOperation | undefined {
  const part = PARTS[noun]
  const list = Object.values(operations).find(({ cli }) => cli?.command === `${part?.of ?? noun} list`)
  if (list?.cli === undefined || part === undefined) return list
  return { ...list, cli: { ...list.cli, sends: { ...list.cli.sends, ...part.sends } } }
}

/** The operation that shows one object of a noun. */
export function showOf({ operations }: Manifest, noun: string): ManifestOperation | undefined {
  return Object.values(operations).find(({ cli }) => cli?.command === `${PARTS[noun]?.of ?? noun} show`)
}

/** The command that lists a noun, e.g. `identities list --kind user`. */
export function listCommand(noun: string): string {
  const part = PARTS[noun]
  if (part === undefined) return `${noun} list`
  const flags = Object.entries(part.sends).map(([member, value]) => `--${member} ${value}`)
  return [`${part.of} list`, ...flags].join(' ')
}
