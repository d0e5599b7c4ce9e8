import { randomInt } from 'node:crypto'

/** Consonants, so that a code forms no word; letters that look alike are left out (RFC 8628 §6.1). */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

/** Letters of a code: 20^8, about 2.6 * 10^10 codes. */
export const USER_CODE_LENGTH = 8

const CODE = new RegExp(`^[${USER_CODE_LETTERS}]{${USER_CODE_LENGTH}}$`)

/** Generates a code, without its hyphen; all codes are equally likely. */
export function mintUserCode(): string {
  return Array.from({ length: USER_CODE_LENGTH }, () => USER_CODE_LETTERS[randomInt(USER_CODE_LETTERS.length)]).join('')
}

/** The letters of a typed code: case, blanks and dashes do not matter. Undefined where it is no code. */
export function normalizeUserCode(typed: string): string | undefined {
  const letters = typed.replaceAll(/[\s\p{Pd}._]/gu, '').toUpperCase()
  return CODE.test(letters) ? letters : undefined
}

/** The code as it is displayed: `XXXX-XXXX`. */
export function showUserCode(letters: string): string {
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}
