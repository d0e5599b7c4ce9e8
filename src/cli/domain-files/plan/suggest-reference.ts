import { nearest } from '../../../shared/nearest.ts'
import { createCatalogue } from '../check/catalogue.ts'
import type { FileDocument } from '../document.ts'
import type { World } from '../kind.ts'

/** The reference that a mistyped one most likely means; undefined where none is near. */
export type Suggester = (reference: string) => string | undefined

/** References that are compared with all others. Files with more of them are of another Domain rather than mistyped. */
const SUGGESTED_MAX = 20

/** Finds references of the files and the Domain that are like one that nothing has. */
export function createSuggester(world: World, documents: readonly FileDocument[]): Suggester {
  let asked = 0
  let references: readonly string[] | undefined
  return (reference) => {
    asked += 1
    if (asked > SUGGESTED_MAX) return undefined
    references ??= createCatalogue(world, documents).references
    const [type = ''] = reference.split(':')
    const own = references.filter((one) => one.startsWith(`${type}:`) && isOtherWord(one, reference))
    const meant = nearest(nameIn(reference), own.map(nameIn))
    return meant === undefined ? undefined : `${type}:${meant}`
  }
}

/** Names that differ in digits alone, such as web-1 and web-2, are names of a series and no mistake. */
function isOtherWord(one: string, other: string): boolean {
  return one.replaceAll(/\d+/g, '') !== other.replaceAll(/\d+/g, '')
}

function nameIn(reference: string): string {
  return reference.slice(reference.indexOf(':') + 1)
}
