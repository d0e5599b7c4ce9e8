import type { Row } from '../../output/members.ts'
import { keyOf, type FileDocument, type LiveObject } from '../document.ts'
import type { World } from '../kind.ts'
import type { Names } from '../names.ts'
import { liveByKey } from '../read-domain.ts'

/** What the files and the Domain have together: the objects and Definitions that a file may name. */
export interface Catalogue {
  readonly names: Names
  /** The object of a document, as the Domain has it. What a file has as the Domain has it is not examined. */
  liveOf(document: FileDocument): LiveObject | undefined
  /** Members of the Definition that a key of a file means: of the files, else of the Domain; undefined where there is none. */
  definition(key: string): Row | undefined
  /** Keys of Definitions, as files write them. */
  readonly keys: readonly string[]
  /** References to the people, service identities, groups, Projects, nodes and resources of both. */
  readonly references: readonly string[]
}

/** How references name the objects of a kind. */
const REFERENCE_TYPES: Readonly<Record<string, string>> = { 'service-identity': 'service' }
const REFERENCED = new Set(['project', 'resource', 'group', 'service-identity'])

/** Makes the catalogue of files and a Domain. */
export function createCatalogue(world: World, documents: readonly FileDocument[]): Catalogue {
  const present = documents.filter(({ isAbsent }) => isAbsent !== true)
  const { names } = world
  const objects = liveByKey(world)
  const written = new Map(
    present.filter(({ kind }) => kind === 'label-definition').map(({ name, members }) => [name, members]),
  )
  const created = present.filter(({ kind }) => REFERENCED.has(kind))
  return {
    names,
    liveOf: (document) => objects.get(keyOf(document)),
    definition(key) {
      const qualified = names.qualifiedKey(key)
      const known = names.definitions.find(({ qualifiedKey }) => qualifiedKey === qualified)
      return written.get(names.shownKey(qualified)) ?? known?.members
    },
    keys: [
      ...new Set([...written.keys(), ...names.definitions.map(({ qualifiedKey }) => names.shownKey(qualifiedKey))]),
    ],
    references: [...names.references(), ...created.map(({ kind, name }) => `${REFERENCE_TYPES[kind] ?? kind}:${name}`)],
  }
}
