import type { Operations } from '../../src/shared/contract/operation.ts'
import type { Sending } from '../../src/shared/contract/operation-types.ts'

/** A valid call of an operation, and who may and may not make it. */
export interface ValidCall<I = Readonly<Record<string, unknown>>> {
  /** Path and query members side by side, and the body under its own name, as a client sends them. */
  readonly input: I
  /** The same call naming other things by their ids: whoever may not see those must not learn of them either. */
  readonly variants?: readonly I[]
  /** Credential that the operation admits; absent on open operations. */
  readonly as?: string
  /** Cookie that the browser brings beside any credential. */
  readonly cookie?: string
  /** Credential of a known caller that the gate refuses. Required where the gate asks a relation or holds a node to its path. */
  readonly lesser?: string
  /** Credential of a caller who may see the object and is refused. Required where the gate has `foldUnless`. */
  readonly onlooker?: string
  /** Others whom the operation admits and refuses, where it takes several kinds of credential. */
  readonly also?: readonly { readonly as: string; readonly lesser?: string }[]
  /** Audited in the chain of this Domain, where that is neither the world's own nor the platform's. */
  readonly domainId?: string
}

/**
 * Arranges what a valid call needs and says how to make it. Run afresh before every call that the loop makes, so it
 * must not depend on other scenarios or on not having run before: mint names with `world.name()`.
 */
export type Scenario<W, I = Readonly<Record<string, unknown>>> = (world: W) => ValidCall<I> | Promise<ValidCall<I>>

/** One scenario for each operation of a surface; a missing one is a compile error. */
export type Scenarios<W, S extends { readonly operations: Operations }> = {
  readonly [Id in keyof S['operations']]: Scenario<W, object & Sending<S['operations'][Id]>>
}

/** Scenarios of several surfaces, their types forgotten. */
export type AnyScenarios<W> = { readonly [operationId: string]: Scenario<W, object> }

/** The call with inputs of which nothing is known but that they have members. */
export function untyped({ input, variants = [], ...call }: ValidCall<object>): ValidCall {
  return { ...call, input: { ...input }, variants: variants.map((one) => ({ ...one })) }
}
