import { z } from 'zod'
import type { InvalidCode } from '../problems.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** The member is immutable: sending it is refused before any other member is checked. */
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

/** Declares that the body replaces the whole object, and why. */
export function fullReplacement(why: string): FullReplacement {
  return { replaces: why }
}

/** A member that a patch must not name, even with its current value; it is refused with `code`. */
export function immutable(code: InvalidCode): z.ZodOptional<z.ZodNever> {
  return z.never().optional().meta({ problem: code, immutable: true })
}

/** Whether a member was declared with `immutable`. */
export function isImmutable(schema: z.core.$ZodType | undefined): boolean {
  return schema !== undefined && z.globalRegistry.get(schema)?.immutable === true
}
