import type { CliWords, FlagForm, FlagWords } from '../../shared/contract/cli-words.ts'
import type { ManifestField, ManifestOperation, ManifestValue } from '../../shared/contract/manifest-format.ts'
import { SELECTOR } from '../argv/selector.ts'
import { singular } from '../argv/tree.ts'

/** The word for no value: it removes a secret in place of a file, and stands for an empty set of packages or pairs. */
export const NONE = 'none'

/** A member of an operation's input with its place on the command line. */
export interface Member {
  readonly field: ManifestField
  readonly place: 'params' | 'query' | 'body'
  /** Name of its flag, or of its argument. */
  readonly word: string
  /** Position among the arguments; undefined for a flag. */
  readonly position: number | undefined
  /** What it refers to. */
  readonly noun: string | undefined
  /** Labels that a list is asked for. */
  readonly isSelector: boolean
  /** How it is typed, where the contract says so. */
  readonly form: FlagForm | undefined
  /** The member whose value it has where it is not typed. */
  readonly sameAs: string | undefined
}

/** What a command is about: its first word. */
export function nounOf({ cli }: ManifestOperation): string {
  return cli?.command.split(' ')[0] ?? ''
}

/** The members that a person fills in; pages and limits are the command line's own business. */
export function membersOf(operation: ManifestOperation): readonly Member[] {
  const own = new Set([...Object.keys(operation.cli?.sends ?? {}), ...(operation.paging ? ['cursor', 'limit'] : [])])
  const query = operation.query.filter(({ name }) => !own.has(name))
  const member = (place: Member['place']) => (field: ManifestField) => memberIn(operation.cli ?? {}, place, field)
  return [
    ...operation.params.map(member('params')),
    ...query.map(member('query')),
    ...(operation.body?.fields ?? []).map(member('body')),
  ]
}

function memberIn(cli: Partial<CliWords>, place: Member['place'], declared: ManifestField): Member {
  const sameAs = cli.sameAs?.[declared.name]
  const field = sameAs === undefined ? declared : { ...declared, required: false }
  const noun = cli.refs?.[field.name]
  const isSelector = field.name === cli.selector
  const { form, name = field.name }: FlagWords = cli.flags?.[field.name] ?? {}
  const word = isSelector ? SELECTOR : wordOf({ ...field, name }, noun)
  return { field, place, noun, word, position: positionOf(cli, field), isSelector, form, sameAs }
}

function positionOf({ args = [] }: Partial<CliWords>, { name }: ManifestField): number | undefined {
  const position = args.indexOf(name)
  return position < 0 ? undefined : position
}

/** `project_id` -> `project`, `host_node_ids` -> `host-node`, `ttl_seconds` -> `ttl`, `id` -> its noun; a secret is in a file. A principal is a subject. */
function wordOf({ name, type, writeOnly }: ManifestField, noun: string | undefined): string {
  if (name === 'id') return noun === undefined ? 'id' : singular(noun)
  if (writeOnly === true) return `${name.replaceAll('_', '-')}-file`
  if (name === 'principal_id') return 'subject'
  const bare = noun === undefined ? name : name.replace(/_ids?$/, '')
  return (isSeconds({ name, type }) ? bare.replace(/_seconds$/, '') : bare).replaceAll('_', '-')
}

/** Lengths of time in whole seconds are typed as durations. */
export function isSeconds({ name, type }: Pick<ManifestField, 'name' | 'type'>): boolean {
  return type === 'integer' && name.endsWith('_seconds')
}

/** Domains and Projects are where a command works: settings fill them in. */
export function isPlace(noun: string | undefined): boolean {
  return noun === 'domains' || noun === 'projects'
}

/** A bridge that a flag names: the only one of its Project where it is left out. */
export function isOnlyOne({ noun, position }: Pick<Member, 'noun' | 'position'>): boolean {
  return noun === 'bridge' && position === undefined
}

/** An array of plain values, typed with commas or several flags. */
export function isWords({ type, items }: ManifestValue): boolean {
  return type === 'array' && items !== undefined && ['string', 'integer', 'number'].includes(items.type)
}

/** An object of texts under free names, typed as `key=value`. */
export function isPairs({ type, values }: ManifestValue): boolean {
  return type === 'object' && values?.type === 'string'
}
