/**
 * The verdict of a check, in rising order. Union takes the highest, intersection the lowest.
 * NO: not at all. VIOLATED: only by a caveat that does not hold. UNKNOWN: only by a caveat that lacks a field. YES.
 */
export type Verdict = number

export const NO = 0
export const VIOLATED = 1
export const UNKNOWN = 2
export const YES = 3
