import { z } from 'zod'
import { isSecretRef } from '../../../../shared/bridges/secret-ref.ts'
import { isHttpsUrl } from '../../../../shared/https-url.ts'

/** From where certificates come, and in whose name. */
export interface AcmeAccount {
  readonly directoryUrl: string
  /** The binding of an external account (RFC 8555 §7.3.4). */
  readonly binding: { readonly keyId: string; readonly hmacKey: string } | undefined
}

/** An account, or why it is none: a clause without a part of the secret. */
export type ReadAccount =
  | { readonly ok: true; readonly account: AcmeAccount }
  | { readonly ok: false; readonly why: string }

/** Characters of URLs (RFC 3986 §2) without quotes. Braces are none of them: Caddy replaces what is in braces. */
const URL_TEXT = /^https:\/\/[A-Za-z0-9._~:/?#[\]@!$&()*+,;=%-]{1,2040}$/i
/** ASCII without blanks, braces, quotes and backslashes. */
const KEY_ID = /^[!#-&(-[\]-z|~]{1,1024}$/
const HMAC_KEY = /^[A-Za-z0-9_-]{1,1024}$/

const Directory = z.string().regex(URL_TEXT).refine(isHttpsUrl)

const Secret = z
  .object({
    directory_url: Directory,
    eab_kid: z.string().regex(KEY_ID).optional(),
    eab_hmac_key: z.string().regex(HMAC_KEY).optional(),
  })
  .refine(({ eab_kid: kid, eab_hmac_key: key }) => (kid === undefined) === (key === undefined))

/** Reads what `acme_account_ref` names: the URL of a directory, or the secret of an account. */
export function readAcmeAccount(ref: string, secret: Uint8Array | undefined): ReadAccount {
  if (isSecretRef(ref))
    return secret === undefined ? { ok: false, why: `${ref} could not be fetched` } : ofSecret(ref, secret)
  const directory = Directory.safeParse(ref)
  if (!directory.success) return { ok: false, why: 'its ACME directory is no https URL' }
  return { ok: true, account: { directoryUrl: directory.data, binding: undefined } }
}

function ofSecret(ref: string, secret: Uint8Array): ReadAccount {
  const read = Secret.safeParse(jsonIn(secret))
  if (!read.success)
    return { ok: false, why: `${ref} is not a JSON object with directory_url and perhaps eab_kid and eab_hmac_key` }
  const { directory_url: directoryUrl, eab_kid: keyId, eab_hmac_key: hmacKey } = read.data
  const binding = keyId === undefined || hmacKey === undefined ? undefined : { keyId, hmacKey }
  return { ok: true, account: { directoryUrl, binding } }
}

function jsonIn(secret: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(secret))
  } catch {
    // Its words could have a part of the secret.
    return undefined
  }
}
