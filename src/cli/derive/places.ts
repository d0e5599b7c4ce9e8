import type { Manifest, ManifestOperation } from '../../shared/contract/manifest-format.ts'
import type { FlagSpec } from '../argv/flags.ts'
import { singular } from '../argv/tree.ts'
import { listOf } from '../session/noun-lists.ts'
import { isPlace, membersOf } from './members.ts'

/** A flag that says where names are looked up. */
export function placeFlag(noun: string): FlagSpec {
  const name = singular(noun).toUpperCase()
  return {
    kind: 'text',
    value: name,
    noun,
    describe: 'Where names are looked up',
    ...(isPlace(noun) && { also: `CTL_${name}` }),
  }
}

/** What is searched for a subject, and for an object of any type. */
const LISTED: Readonly<Record<string, string>> = { subjects: 'identities', objects: 'resources' }

/**
 * The nouns that a name of the operation's references is looked up in: Domain and Project, and others whose objects contain
 * what is named, such as the Cloud of a credential. Domain and Project come first: names of the others are looked up in them.
 */
export function placesOf(operation: ManifestOperation, manifest: Manifest): readonly string[] {
  const seen = new Set<string>()
  const parents = new Set<string>()
  const waiting = Object.values(operation.cli?.refs ?? {})
  for (let noun = waiting.pop(); noun !== undefined; noun = waiting.pop()) {
    if (seen.has(noun)) continue
    seen.add(noun)
    const required = requiredPlaces(LISTED[noun] ?? noun, manifest)
    for (const parent of required) parents.add(parent)
    waiting.push(...required)
  }
  const found = [...seen].filter((noun) => (isPlace(noun) || parents.has(noun)) && !isFlagged(operation, noun))
  return [...found.filter(isPlace).toSorted(), ...found.filter((noun) => !isPlace(noun))]
}

function requiredPlaces(noun: string, manifest: Manifest): readonly string[] {
  const list = listOf(manifest, noun)
  const needed = [...(list?.params ?? []), ...(list?.query ?? [])].filter(
    ({ required, name }) => required || name === list?.cli?.ownDomain?.member,
  )
  return needed.flatMap(({ name }) => list?.cli?.refs?.[name] ?? [])
}

function isFlagged(operation: ManifestOperation, noun: string): boolean {
  return membersOf(operation).some((member) => member.noun === noun)
}
