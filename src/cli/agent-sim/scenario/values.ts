import { parseDuration } from '../../argv/duration.ts'
import { parseRate, parseShare } from '../shares.ts'
import type { Place } from './yaml-place.ts'

/** Reads the value at a place of a document. @throws YamlFault if it is not valid. */
export type Reader<T> = (place: Place) => T

export const text: Reader<string> = (place) => {
  if (typeof place.value !== 'string' || place.value === '') throw place.fault('must be a text')
  return place.value
}

/** A text that a rule accepts; `described` ends "must be". */
export const matching =
  (pattern: RegExp, described: string): Reader<string> =>
  (place) => {
    if (typeof place.value !== 'string' || !pattern.test(place.value)) throw place.fault(`must be ${described}`)
    return place.value
  }

/** `30s`, `1m30s`; in ms. */
export const duration: Reader<number> = (place) => {
  const seconds = typeof place.value === 'string' ? parseDuration(place.value) : undefined
  if (seconds === undefined || seconds <= 0) throw place.fault('must be a duration such as 30s or 2m')
  return seconds * 1000
}

/** `10%`; 0 to 1. */
export const share: Reader<number> = (place) => {
  const found = typeof place.value === 'string' ? parseShare(place.value) : undefined
  if (found === undefined) throw place.fault('must be a share from 0% to 100%')
  return found
}

/** `1%/min`; a share in a minute. */
export const rate: Reader<number> = (place) => {
  const found = typeof place.value === 'string' ? parseRate(place.value) : undefined
  if (found === undefined) throw place.fault('must be a rate such as 1%/min or 5%/s')
  return found
}

export const whole =
  (min: number, max: number): Reader<number> =>
  (place) => {
    const { value } = place
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max)
      throw place.fault(`must be a whole number from ${min} to ${max}`)
    return value
  }

/** The readers of an object's members. */
export type Readers = { readonly [name: string]: Reader<unknown> }

type Read<R extends Readers> = { readonly [Name in keyof R]?: ReturnType<R[Name]> }

/** Reads an object. Each member is optional; other members are refused. */
export function objectOf<R extends Readers>(readers: R): Reader<Read<R>> {
  return (place) => {
    const entries = [...place.members(Object.keys(readers))]
    // Each name has a reader, because `members` refuses other names.
    return Object.fromEntries(entries.map(([name, member]) => [name, readers[name]?.(member)])) as Read<R>
  }
}

export const listOf =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (place) =>
    place.items().map(read)
