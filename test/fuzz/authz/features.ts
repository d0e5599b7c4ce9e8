/** Parts of the language and of the engine that worlds may use. */
export interface Features {
  /** Caveats on tuples, with values in tuples and questions. */
  readonly caveats: boolean
  /** Tuples that expire. */
  readonly expiration: boolean
  /** `.any()` and `.all()`. */
  readonly functions: boolean
  /** Usersets as subjects of questions. */
  readonly usersetSubjects: boolean
  /** Lookups of usersets. */
  readonly usersetLookups: boolean
  /** Lookups of resources and subjects. */
  readonly lookups: boolean
}

export const FEATURES: Features = {
  caveats: true,
  expiration: true,
  functions: true,
  usersetSubjects: true,
  usersetLookups: false,
  lookups: true,
}
