import { randomInt } from 'node:crypto'
import type { WeakPassword } from '../../ports/local-sign-in.ts'

const LENGTH_MIN = 12
const LENGTH_MAX = 256
/** A password with fewer different characters is a pattern. */
const DIFFERENT_MIN = 5

/** Common passwords of twelve characters, in lower case, without appended digits and signs. */
const COMMON: ReadonlySet<string> = new Set([
  'password',
  'passwordpassword',
  'passw0rd',
  'p@ssw0rd',
  'p@ssword',
  'qwertyuiop',
  'qwertyuiopasdf',
  'qwertyqwerty',
  'qwerty',
  'asdfghjkl',
  'azertyuiop',
  'abcdefghijkl',
  'abcdefghijklm',
  'abcabcabcabc',
  'administrator',
  'adminadmin',
  'admin',
  'changeme',
  'changemenow',
  'changemeplease',
  'letmein',
  'letmeinplease',
  'welcome',
  'welcomewelcome',
  'iloveyou',
  'iloveyouforever',
  'trustno',
  'supersecret',
  'secretpassword',
  'secret',
  'default',
  'defaultpassword',
  'correcthorsebatterystaple',
  'correct horse battery staple',
  'monkeymonkey',
  'football',
  'baseball',
  'sunshine',
  'princess',
  'dragondragon',
  'superman',
  'mypassword',
  'thisismypassword',
  'test',
  'testtesttest',
  'root',
  'rootroot',
  'toor',
])

/** The rule that the password breaks; undefined when it is acceptable (NIST SP 800-63B §5.1.1.2). */
export function weaknessOf(password: string, login: string): WeakPassword | undefined {
  const normalized = password.normalize('NFKC')
  const characters = Array.from(normalized)
  const lower = normalized.toLowerCase()
  const [name = login] = login.split('@')
  if (characters.length < LENGTH_MIN) return 'too short'
  if (characters.length > LENGTH_MAX) return 'too long'
  if (name.length >= 3 && lower.includes(name)) return 'holds the login'
  const isPattern = new Set(lower).size < DIFFERENT_MIN || COMMON.has(lower) || COMMON.has(strip(lower))
  return isPattern ? 'common' : undefined
}

/** Without the digits and signs that people put around a word to make it longer. */
function strip(password: string): string {
  return password.replaceAll(/^[^a-z]+|(?<![^a-z])[^a-z]+$/g, '')
}

/** Neither vowels, which make words, nor characters that look like others. */
const ALPHABET = 'bcdfghjkmnpqrstvwxz23456789'

/** Random characters in the given number of groups of five; a group has 23 bits. */
export function drawGroups(count: number): string {
  const group = (): string => Array.from({ length: 5 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return Array.from({ length: count }, group).join('-')
}

/** A one-time password of 95 bits. */
export function drawPassword(): string {
  return drawGroups(4)
}
