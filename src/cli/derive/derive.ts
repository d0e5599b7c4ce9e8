import type { ManifestOperation, Manifest } from '../../shared/contract/manifest-format.ts'
import type { Command } from '../argv/command.ts'
import type { ArgumentSpec, FlagSpec, SharedGroup } from '../argv/flags.ts'
import { singular } from '../argv/tree.ts'
import { SELECTOR, selectableList, selectorFlag } from '../argv/selector.ts'
import { IF_NOT_EXISTS, ifNotExists } from './if-not-exists.ts'
import { isPlace, membersOf, nounOf } from './members.ts'
import { placeFlag, placesOf } from './places.ts'
import { argumentOf, flagOf } from './specs.ts'
import { selectableMember } from './selecting.ts'

/** Makes the command of an operation: flags and arguments from its members, help from its texts. */
export function derivedCommand(operation: ManifestOperation, manifest: Manifest): Command {
  const { cli, description } = operation
  return {
    ...(description !== undefined && { description: withFlagNames(description, operation) }),
    args: argumentsOf(operation, manifest),
    flags: flagsOf(operation, manifest),
    uses: usesOf(operation),
    asks: cli?.confirm !== undefined,
    examples: (cli?.examples ?? []).map((example) => (/\bctl /.test(example) ? example : `ctl ${example}`)),
    run: async (session, given) => (await import('./perform.ts')).perform(session, { operation }, given),
  }
}

/** A text of the contract for the command line: members that it names in backticks, `ttl_seconds`, are called by their flags. */
function withFlagNames(text: string, operation: ManifestOperation): string {
  const members = new Map(membersOf(operation).map((member) => [member.field.name, member]))
  return text.replace(/`(\w+)`/g, (quoted, name: string) => {
    const member = members.get(name)
    if (member === undefined) return quoted
    return member.position === undefined ? `--${member.word}` : `<${member.word}>`
  })
}

/** The arguments of an operation, in order. The last one may be left out where a selector replaces it. */
export function argumentsOf(operation: ManifestOperation, manifest: Manifest): readonly ArgumentSpec[] {
  const positional = membersOf(operation).filter(({ position }) => position !== undefined)
  const selectable = selectableMember(operation, manifest)
  return positional
    .toSorted((one, other) => (one.position ?? 0) - (other.position ?? 0))
    .map((member, index) => ({
      ...argumentOf(member, index === positional.length - 1),
      ...(member.word === selectable?.word && { required: false }),
    }))
}

/** The flags of an operation, with those that say where names are looked up. */
export function flagsOf(operation: ManifestOperation, manifest: Manifest): Readonly<Record<string, FlagSpec>> {
  const members = membersOf(operation)
  const own = members
    .filter(({ position }) => position === undefined)
    .map((member) => [member.word, member.isSelector ? selectorFlag(nounOf(operation)) : flagOf(member)] as const)
    .map(([word, flag]) => [word, { ...flag, describe: withFlagNames(flag.describe, operation) }] as const)
  const named = new Set(members.map(({ word }) => word))
  const selectable = selectableMember(operation, manifest)?.noun
  const selecting = selectable === undefined ? [] : [[SELECTOR, selectorFlag(selectable)] as const]
  const places = [...placesOf(operation, manifest), ...selectionPlaces(selectable, manifest)].map(
    (noun) => [singular(noun), placeFlag(noun)] as const,
  )
  const file: FlagSpec = {
    kind: 'text',
    short: 'f',
    value: 'FILE',
    describe: 'Take the body from a JSON or YAML file, - for stdin; flags override',
  }
  return Object.fromEntries([
    ...own,
    ...selecting,
    ...places.filter(([word]) => !named.has(word)),
    ...(operation.body ? [['from-file', file] as const] : []),
    ...(operation.cli?.handle ? [[IF_NOT_EXISTS, ifNotExists] as const] : []),
  ])
}

/** Where objects that have certain labels are looked for. */
function selectionPlaces(noun: string | undefined, manifest: Manifest): readonly string[] {
  const refs = selectableList(manifest, noun)?.cli?.refs ?? {}
  return Object.values(refs).filter(isPlace)
}

function usesOf(operation: ManifestOperation): readonly SharedGroup[] {
  const isRead = operation.method === 'GET'
  const hasAnswer = operation.responses.some(({ media }) => media !== null)
  return [
    'connection',
    'curl',
    ...(hasAnswer ? (['output'] as const) : []),
    ...(operation.paging ? (['list'] as const) : []),
    ...(isRead ? (['watch'] as const) : []),
    ...(operation.access === 'write' ? (['confirm'] as const) : []),
  ]
}
