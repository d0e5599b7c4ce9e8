import type { ProblemCode } from '../problems.ts'

/** How to find the object that an operation creates by the handle in the request. */
export interface HandleWords {
  /** The body member that holds its handle. */
  readonly member: string
  /** The problem code of a handle that is taken. */
  readonly taken: ProblemCode
  /** The noun whose list contains it, where that is not the noun of the command. */
  readonly noun?: string
  /** What a sentence calls one such object, where the noun does not. */
  readonly called?: string
}

/** How a person types a member as a flag, where its name and its shape do not say it. */
export interface FlagWords {
  /** The flag without its dashes, e.g. `bundle` for `provider_bundle_id`. */
  readonly name?: string
  /**
   * `pairs`: `KEY=VALUE`, repeated; an object whose values are texts. `packages`: `SOURCE@VERSION`, repeated; an array of
   * `{ source, version }`. `rules` and `tests` of policies: sentences, repeated. The word `none` is the empty object or array.
   */
  readonly form?: FlagForm
}

export type FlagForm = 'pairs' | 'packages' | 'rules' | 'tests' | 'sign-ins'

/** The command of an operation. */
export interface CliWords {
  /** Noun and verb, e.g. `tokens issue`. */
  readonly command: string
  /** What the command does, where it does more than its operation. */
  readonly summary?: string
  /** Path or body members taken as positional arguments, in order. */
  readonly args?: readonly string[]
  /** What kind of thing an argument or flag refers to, so that names and short ids resolve; e.g. `{ id: 'domains' }`. */
  readonly refs?: { readonly [member: string]: string }
  /** How flags are typed, by member. */
  readonly flags?: { readonly [member: string]: FlagWords }
  /** Required members that need not be typed, each with the member whose value it then has: `{ display_name: 'slug' }`. */
  readonly sameAs?: { readonly [member: string]: string }
  /** Columns of the table, in order; `wide` adds more. Members of a row, dotted. */
  readonly columns?: readonly string[]
  readonly wide?: readonly string[]
  /** The member that holds the rows of an answer, where that is not `items`. */
  readonly rows?: string
  /** The rows are faults: with any row the answer is negative, exit code 10. */
  readonly rowsAreNegative?: true
  /** An optional member whose default is the caller's own Domain, unless it or one of the others is given. */
  readonly ownDomain?: { readonly member: string; readonly unless: readonly string[] }
  /** The query member of a list that asks for objects with certain labels, `key=value,…`: `-l` on the command line. */
  readonly selector?: string
  /** The query member of a list that finds the one object of a handle, without showing the handle itself. */
  readonly byHandle?: string
  /** Query members that the command line sends by itself, without a flag. */
  readonly sends?: { readonly [member: string]: string }
  /** The handle of a created object: the command gets `--if-not-exists` from it. */
  readonly handle?: HandleWords
  /** Members of a row that lists leave empty, each with the member that has its value. */
  readonly empty?: { readonly [member: string]: string }
  /** Asks before it runs; `typed` makes the person type the name. */
  readonly confirm?: 'yes' | 'typed'
  /** Ready-made example lines for help. */
  readonly examples?: readonly string[]
  /** One sentence for stderr after success, with `{member}` holes over the answer. */
  readonly done?: string
}
