import { randomInt } from 'node:crypto'

/** Consonants, so that no word comes of them, and none that is mistaken for another (RFC 8628 §6.1). */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

/** Letters of a code: 20^8, about 2.6 * 10^10 codes. */
export const USER_CODE_LENGTH = 8

const CODE = new RegExp(`^[${USER_CODE_LETTERS}]{${USER_CODE_LENGTH}}$`)

/** Draws a code, without its hyphen; each is as likely as any other. */
export function mintUserCode(): string {
  return Array.from({ length: USER_CODE_LENGTH }, () => USER_CODE_LETTERS[randomInt(USER_CODE_LETTERS.length)]).join('')
}

/** The letters of what somebody typed: case, blanks and dashes do not matter. Undefined where it is no code. */
export function normalizeUserCode(typed: string): string | undefined {
  const letters = typed.replaceAll(/[\s\p{Pd}._]/gu, '').toUpperCase()
  return CODE.test(letters) ? letters : undefined
}

/** The code as people read it: `XXXX-XXXX`. */
export function showUserCode(letters: string): string {
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}
