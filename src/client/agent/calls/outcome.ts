/** How a call of an agent ended, after all tries. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T; readonly tries: number }
  /** `code`: the problem code, or the transport fault if there was no answer. */
  | {
      readonly ok: false
      readonly code: string
      readonly tries: number
      /** How long to wait before the same call, which a limit of rate or capacity requests. */
      readonly waitMs?: number | undefined
    }
