/** A member that becomes another one. Entries of lists and maps have paths such as `labels.tier` and `ingress.blog`. */
export interface Change {
  readonly member: string
  /** Undefined where there is nothing before. */
  readonly from?: unknown
  /** Undefined where there is nothing after: a removal inside an object. */
  readonly to?: unknown
}

/** What a plan does with one object. */
export interface Step {
  readonly action: 'create' | 'change' | 'remove'
  readonly kind: string
  readonly name: string
  readonly changes: readonly Change[]
  /** Members of the object that the plan does not change, as a digest: they must be the same when it is applied. */
  readonly others: string
  /** The action of the approval policy under which it is held, with the number of approvals. */
  readonly held?: { readonly action: string; readonly approvals: number }
}

/** Something that a plan cannot do, and what has to happen first. */
export interface Wait {
  readonly kind: string
  readonly name: string
  readonly what: string
}

/** What applying the files does, in this order. */
export interface Plan {
  readonly format: 1
  readonly set: string
  /** `--prune` was given: at most so many objects are removed. */
  readonly prune?: number
  /** `--adopt` was given. */
  readonly adopt?: true
  readonly domain: string
  /** Digest of the documents of the files. */
  readonly files: string
  readonly steps: readonly Step[]
  readonly waits: readonly Wait[]
  /** Objects that `--prune` would take away, were it given or allowed. */
  readonly unnamed: readonly { readonly kind: string; readonly name: string }[]
}
