import { readFileSync } from 'node:fs'
import {
  credsAuthenticator,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
  type Authenticator,
} from '@nats-io/transport-node'

const CREDS = '-----BEGIN NATS USER JWT-----'
const NKEY_SEED = /^SU[A-Z2-7]{56}$/

/**
 * Authenticates with what a file holds: a `.creds` file, the seed of an nkey, `user:password`, or a token. The file is read
 * at every connection, so that a changed one counts from the next on; while it cannot be read, what it held last counts.
 */
export function authenticatorOf(path: string): Authenticator {
  let last = readFileSync(path, 'utf8')
  return (nonce) => {
    try {
      last = readFileSync(path, 'utf8')
    } catch {
      // It is being replaced: the connection is refused if what it held does not count any more, and tried again.
    }
    return kindOf(last)(nonce)
  }
}

function kindOf(text: string): Authenticator {
  const bytes = (of: string): Uint8Array => new TextEncoder().encode(of)
  if (text.includes(CREDS)) return credsAuthenticator(bytes(text))
  const line = text.trim()
  if (NKEY_SEED.test(line)) return nkeyAuthenticator(bytes(line))
  const colon = line.indexOf(':')
  if (colon < 0) return tokenAuthenticator(line)
  return usernamePasswordAuthenticator(line.slice(0, colon), line.slice(colon + 1))
}
