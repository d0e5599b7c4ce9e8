import { hash, randomBytes } from 'node:crypto'

/** 32 bytes as base64url without padding: the last letter carries four bits, so that each value has one text. */
const FORM = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/** A new cookie value: 256 random bits. */
export function newCookieValue(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether a text can be the cookie of a session. */
export function isCookieValue(text: string): boolean {
  return FORM.test(text)
}

/** The stored form of a cookie value. A plain digest is enough: nobody can try 2^256 values. */
export function fingerprintOf(value: string): Buffer {
  return hash('sha256', Buffer.from(value, 'base64url'), 'buffer')
}
