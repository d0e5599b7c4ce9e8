import { z } from 'zod'
import type { InvalidCode } from '../problems.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** The member names what a change must leave as it is: sending it is refused before any other member is looked at. */
    immutable?: true | undefined
  }
}

/** A patch that must name a member; `empty` is the code of one that names none. */
export interface NonEmptyPatch {
  readonly empty: 'empty_patch'
}

/** A PATCH whose body is the whole new state; `replaces` names the clause that requires it. */
export interface FullReplacement {
  readonly replaces: string
}

/** How a PATCH reads its body. */
export type PatchRule = NonEmptyPatch | FullReplacement

/** Declares that a patch changes the members that it names, and names at least one; else 400 `empty_patch`. */
export function nonEmptyPatch(): { readonly empty: 'empty_patch' } {
  return { empty: 'empty_patch' }
}

/** Declares that the body replaces what there is, and why. */
export function fullReplacement(why: string): FullReplacement {
  return { replaces: why }
}

/** A member that a patch must not name, even with the value that it has; `code` answers it. */
export function immutable(code: InvalidCode): z.ZodOptional<z.ZodNever> {
  return z.never().optional().meta({ problem: code, immutable: true })
}

/** Whether a member was declared with `immutable`. */
export function isImmutable(schema: z.core.$ZodType | undefined): boolean {
  return schema !== undefined && z.globalRegistry.get(schema)?.immutable === true
}
