/** Tuples that one chain of a check may pass through. Writes keep nesting to 40, and no object is more than four parents deep. */
export const HOPS_MAX = 50

/** The answer cannot be found: the data is nested deeper than `HOPS_MAX`, or an exclusion depends on itself. */
export class UndecidableError extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'UndecidableError'
  }
}

/** An exclusion depends on itself. The rest of the question may decide it yet. */
export class SelfExclusionError extends UndecidableError {
  constructor() {
    super('an exclusion depends on itself')
  }
}
