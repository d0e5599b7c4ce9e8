import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { Command, Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { membersOf } from '../../derive/members.ts'
import { perform } from '../../derive/perform.ts'
import { bodyFromFile } from '../../derive/values.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Row } from '../../output/members.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { asApiMembers, configurationOf, ownMembers } from './members.ts'
import { PART_KINDS, type PartKind, type PartName } from './part-kinds.ts'
import { bridgePlace, placed, type BridgePlace } from './place.ts'

/** Creates a part of a bridge out of flags, or out of a file. */
export function create(manifest: Manifest, name: PartName): Command {
  const kind = PART_KINDS[name]
  const operation = operationOf(manifest, kind.create)
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    flags: flagsFor(kind, derived.flags),
    examples: kind.examples.create,
    async run(session, given) {
      const typed = kind.read(given.flags)
      const file = await fileOf(session, given)
      const place = await bridgePlace(session, given.flags['bridge'])
      const members = { ...kind.defaults, ...ownMembers(file), ...typed }
      assertComplete(kind, members)
      const body = await asApiMembers(session, members, place)
      return perform(session, { operation, body }, { args: given.args, flags: otherFlags(kind, given, place) })
    },
  }
}

/** Changes members of a part of a bridge. The API replaces its whole configuration, so that the present one is read first. */
export function update(manifest: Manifest, name: PartName): Command {
  const kind = PART_KINDS[name]
  const operation = operationOf(manifest, kind.update)
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description: [
      'Members that are given replace those of the present configuration; the others stay.',
      'The API replaces the whole configuration: this command reads the present one and sends it with your changes. What somebody else changes between the two calls is overwritten.',
    ].join('\n'),
    args: (derived.args ?? []).map((one) => ({ ...one, many: false })),
    flags: optional(flagsFor(kind, derived.flags)),
    examples: kind.examples.update,
    async run(session, given) {
      const typed = { ...configurationOf(await fileOf(session, given)), ...kind.read(given.flags) }
      assertChanged(operation, kind, { given, typed })
      const place = await bridgePlace(session, given.flags['bridge'])
      const { slug, row } = await present(session, { kind, operation }, { place, slug: given.args[0] ?? '' })
      const body = { ...configurationOf(row), ...(await asApiMembers(session, typed, place)) }
      const plan = { operation: bySlug(operation), body }
      return perform(session, plan, { args: [slug], flags: otherFlags(kind, given, place) })
    },
  }
}

/** The flags of the operation, those of the kind in place of what they replace. */
function flagsFor(kind: PartKind, derived: FlagSpecs = {}): FlagSpecs {
  const kept = Object.entries(derived).filter(([name]) => !kind.replaced.includes(name))
  const described = kept.map(([name, { required, ...spec }]) => {
    const fallback = kind.fallbacks[name]
    const usual = required === undefined ? spec : { ...spec, required }
    return [name, fallback === undefined ? usual : { ...spec, fallback }] as const
  })
  return { ...Object.fromEntries(described), ...kind.flags }
}

/** Of a change, no flag is required, and what is absent stays. */
function optional(flags: FlagSpecs): FlagSpecs {
  return Object.fromEntries(
    Object.entries(flags).map(([name, { required: _needed, fallback: _stays, ...spec }]) => [name, spec]),
  )
}

/** The flags that are left to the operation. */
function otherFlags(kind: PartKind, { flags }: Given, place: BridgePlace): Given['flags'] {
  const read = new Set(['from-file', ...Object.keys(kind.flags)])
  return placed(Object.fromEntries(Object.entries(flags).filter(([name]) => !read.has(name))), place)
}

async function fileOf({ io }: Session, { flags }: Given): Promise<Row> {
  const { 'from-file': path } = flags
  return typeof path === 'string' ? bodyFromFile(path, { io, isSecret: false }) : {}
}

function assertComplete({ needed, create: id }: PartKind, members: Row): void {
  const missing = Object.entries(needed).find(([member]) => members[member] === undefined)
  if (missing === undefined) return
  const [, flag] = missing
  throw usageError(`${flag.split(' ')[0] ?? id} is missing`, `Add ${flag}`)
}

interface Typed {
  readonly given: Given
  readonly typed: Row
}

function assertChanged(operation: ManifestOperation, kind: PartKind, { given, typed }: Typed): void {
  const words = membersOf(operation).flatMap(({ place, word }) => (place === 'body' ? [word] : []))
  if (Object.keys(typed).length > 0 || words.some((word) => given.flags[word] !== undefined)) return
  const flags = [...Object.keys(kind.flags), ...words.filter((word) => !kind.replaced.includes(word))]
  throw usageError('there is nothing to change', `Give at least one of ${flagNames(flags)}`)
}

function flagNames(words: readonly string[]): string {
  return [...new Set(words)].map((word) => `--${word}`).join(', ')
}

interface Part {
  readonly place: BridgePlace
  readonly slug: string
}

/** The part as it is now, by what was typed. Throws not found. */
async function present(
  session: Session,
  { kind, operation }: { readonly kind: PartKind; readonly operation: ManifestOperation },
  { place, slug: typed }: Part,
): Promise<{ readonly slug: string; readonly row: Row }> {
  const { path, resolver } = place
  const noun = operation.cli?.refs?.['slug'] ?? ''
  const scope = { projects: path.project_id, bridge: path.resource_id }
  const { id: slug } = await resolver.object(noun, typed, scope)
  const { value } = await (await session.caller()).call(session.operation(kind.show), { ...path, slug })
  return { slug, row: value as Row } // What the contract says of 200.
}

/** The operation without the look-up of the slug, which is done. */
function bySlug(operation: ManifestOperation): ManifestOperation {
  const { cli } = operation
  if (cli === undefined) return operation
  const { slug: _found, ...refs } = cli.refs ?? {}
  return { ...operation, cli: { ...cli, refs } }
}
