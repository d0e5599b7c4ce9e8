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
 * Authenticates with the content of a file: a `.creds` file, the seed of an nkey, `user:password`, or a token. The file is read
 * at every connection, so that a change applies from the next connection on; while it cannot be read, its last content is used.
 */
export function authenticatorOf(path: string): Authenticator {
  let last = readFileSync(path, 'utf8')
  return (nonce) => {
    try {
      last = readFileSync(path, 'utf8')
    } catch {
      // The file is being replaced: if the old content is no longer valid, the connection is refused and retried.
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
