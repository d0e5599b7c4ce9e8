import type { AnySchema, StreamAnswer } from './operation.ts'
import type { NonEmptyPatch } from './patch.ts'

// Types that follow from the declaration of an operation.

type Parsed<S> = S extends AnySchema ? S['_zod']['output'] : unknown
type Sent<S> = S extends AnySchema ? S['_zod']['input'] : unknown
type Member<O, K extends string> = O extends { readonly [P in K]: infer S } ? S : undefined
type BodyOf<O, Way extends 'input' | 'output'> = O extends { readonly body: infer S extends AnySchema }
  ? { readonly body: S['_zod'][Way] }
  : unknown

/** Members that may have a value: immutable members of a patch have none. */
type Changeable<T> = { [K in keyof T]-?: [Exclude<T[K], undefined>] extends [never] ? never : K }[keyof T]

/** A body with at least one member. */
type NonEmpty<T> = { [K in Changeable<T>]: T & { readonly [P in K]: Exclude<T[P], undefined> } }[Changeable<T>]

type HandledBody<O> = O extends { readonly patch: NonEmptyPatch; readonly body: infer S extends AnySchema }
  ? { readonly body: NonEmpty<S['_zod']['output']> }
  : BodyOf<O, 'output'>

/** What a handler receives: path and query members side by side, and the body under its own name. */
export type Input<O> = Parsed<Member<O, 'params'>> & Parsed<Member<O, 'query'>> & HandledBody<O>

/** What a client sends, before defaults are filled in. */
export type Sending<O> = Sent<Member<O, 'params'>> & Sent<Member<O, 'query'>> & BodyOf<O, 'input'>

type AnswerOf<Shape> = Shape extends AnySchema
  ? Shape['_zod']['output']
  : Shape extends null
    ? void
    : Shape extends { readonly streams: true }
      ? StreamAnswer
      : Uint8Array
type SuccessOf<R> = { [S in keyof R]: AnswerOf<R[S]> }[keyof R]

/** Rendered JSON: pieces to be sent one after the other, which several answers may share. */
export interface Rendered {
  readonly pieces: readonly Uint8Array[]
}

/** What a handler returns: `void` for an answer without a body. */
export type Answer<O> = O extends { readonly rendered: true } ? Rendered | Extract<Result<O>, void> : Result<O>

/** The answer of a call that was made, as most handlers return it. */
export type Result<O> = O extends { readonly responses: infer R } ? SuccessOf<R> : never

/** What a client receives: a held call has no answer yet. */
export type Received<O> = Result<O> | (O extends { readonly dualControl: object } ? void : never)
