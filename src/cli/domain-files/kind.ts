import type { Manifest } from '../../shared/contract/manifest-format.ts'
import type { Row } from '../output/members.ts'
import type { Document, LiveObject } from './document.ts'
import type { Gateway } from './gateway.ts'
import type { ValueSchema } from './schema/value-schema.ts'
import type { Names } from './names.ts'
import type { Change } from './plan/plan.ts'

/**
 * How a member of a file is compared and changed.
 * `value`: replaced as a whole. `fixed`: set when the object is created. `whole`: a list of objects with a slug each, complete in the
 * file. `additive`: a list or map; entries that the file does not name stay.
 */
export type MemberRule = 'value' | 'fixed' | 'whole' | 'additive'

export interface Member {
  readonly name: string
  readonly rule: MemberRule
  readonly schema: ValueSchema
  readonly isRequired?: true
  /**
   * Of an additive list: what an entry is about. An entry of a file replaces those about the same that it does not equal, also without
   * `--prune`.
   */
  readonly about?: (entry: unknown) => string
}

/** The calls and names that a kind works with. */
export interface World {
  readonly api: Gateway
  readonly names: Names
  /** The Domain, as the API has it. */
  readonly domain: Row
  /** Objects that were read, by kind. Kinds read after those that they refer to. */
  readonly live: ReadonlyMap<string, readonly LiveObject[]>
  /** Whether a reference names an object of the Domain, or one that the files create. */
  readonly isKnown: (reference: string) => boolean
}

/** One change of an object. */
export interface Writing {
  readonly document: Document
  readonly live: LiveObject | undefined
  /** Of a creation: the set whose mark the object gets. */
  readonly managedBy?: string | undefined
  /** Changes of members, apart from labels. */
  readonly changes: readonly Change[]
}

/** A kind of objects that files have. */
export interface Kind {
  readonly name: string
  /** Nouns of the contract whose objects it covers. */
  readonly nouns: readonly string[]
  /** What the API has of its objects and no file has, with the reason. */
  readonly omitted?: Readonly<Record<string, string>>
  /** For editors and messages: what an object of it is. */
  readonly summary: string
  /** Pattern of a name, and how it is described. Absent where there is one object, named after the kind. */
  readonly naming?: { readonly pattern: RegExp; readonly describe: string }
  members(manifest: Manifest): readonly Member[]
  /** The kind of the label API under which its objects have labels. */
  readonly labels?: string
  /** Adds what the files create and other files name before it exists. */
  announce?(names: Names, document: Document): void
  /** Reads all objects and adds their names. */
  read(world: World): Promise<readonly LiveObject[]>
  /** The members of a file as `read` would give them, so that equal meaning is equal text. */
  normal?(world: World, document: Document): Promise<Row>
  /** References to other objects, such as `node:web-1`. Those that nobody has yet are left out until somebody does. */
  references?(document: Document): readonly string[]
  /** The reference in the name of an object without which it cannot be created; absent where names have none. */
  owner?(name: string): string | undefined
  /** A member whose entries are written after all objects of the kind exist. */
  readonly later?: string
  /** Creates an object, or undefined where only the API's own means create it. Gives its id. */
  create?(world: World, writing: Writing): Promise<string>
  /** Changes members of an object. */
  change?(world: World, writing: Writing & { readonly live: LiveObject }): Promise<void>
  remove?(world: World, live: LiveObject): Promise<void>
  /** Reads the row of an object again right before a change; absent where the API has a condition. */
  reread?(world: World, live: LiveObject): Promise<Row>
  /** Members of the row that are the same while nobody has changed the object: `updated_at` where absent. */
  readonly revision?: readonly string[]
  /** The action of an approval policy under which a change is held; undefined where it is not. */
  heldUnder?(world: World, writing: Pick<Writing, 'document' | 'changes' | 'live'>): string | undefined
}
