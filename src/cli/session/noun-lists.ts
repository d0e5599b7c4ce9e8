import type { Manifest, ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { memberOf } from '../output/members.ts'

/** The entry of an operation. @throws Error when the contract lacks it: a programming error. */
export function operationOf({ operations }: Manifest, id: string): ManifestOperation {
  const operation = operations[id]
  if (operation === undefined) throw new Error(`the contract has no ${id}`)
  return operation
}

/** The operation whose command has these words. */
function operationCalled({ index, operations }: Manifest, words: string): ManifestOperation | undefined {
  const id = Object.keys(index).find((one) => index[one]?.command?.words === words)
  return operations[id ?? '']
}

interface Part {
  readonly of: string
  readonly sends: Readonly<Record<string, string>>
  /** The kind of its rows, where the list cannot be asked for them alone. */
  readonly kind?: string
  /** The command that lists this part. */
  readonly command: string
}

/** Nouns whose objects are a part of what the list of another noun shows. */
const PARTS: Readonly<Record<string, Part>> = {
  'service-identities': {
    of: 'identities',
    sends: { kind: 'service-identity' },
    command: 'service-identities list',
  },
  bridge: { of: 'resources', sends: {}, kind: 'bridge', command: 'resources list' },
  users: { of: 'identities', sends: { kind: 'user' }, command: 'identities list --kind user' },
}

/** The operation that lists a noun. */
export function listOf(manifest: Manifest, noun: string): ManifestOperation | undefined {
  const part = PARTS[noun]
  const list = operationCalled(manifest, `${part?.of ?? noun} list`)
  if (list?.cli === undefined || part === undefined) return list
  return { ...list, cli: { ...list.cli, sends: { ...list.cli.sends, ...part.sends } } }
}

/** Whether a row of the list of a noun is one of its objects. */
export function isOfNoun(noun: string, row: unknown): boolean {
  const kind = PARTS[noun]?.kind
  return kind === undefined || memberOf(row, 'kind') === kind
}

/** The operation that shows one object of a noun. */
export function showOf(manifest: Manifest, noun: string): ManifestOperation | undefined {
  return operationCalled(manifest, `${PARTS[noun]?.of ?? noun} show`)
}

/** The command that lists a noun, e.g. `identities list --kind user`. */
export function listCommand(noun: string): string {
  return PARTS[noun]?.command ?? `${noun} list`
}

/** The noun whose list has the objects of a type of the authorization schema; undefined where their ids are typed. */
export function nounOfType({ nouns }: Manifest, type: string): string | undefined {
  return Object.keys(nouns).find((noun) => nouns[noun]?.types?.includes(type))
}
