/** Ends work whose caller has closed its connection: there is nobody to answer. */
export class CallerGone extends Error {
  constructor() {
    super('the caller has gone')
    this.name = 'CallerGone'
  }
}

/** What a long question is asked with. */
export interface LongQuestion {
  /** Whether the caller has closed its connection: then the answer ends with `CallerGone`. Asked between slices. */
  readonly isAbandoned?: (() => boolean) | undefined
}
