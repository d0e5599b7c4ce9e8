import { nkeys } from '@nats-io/transport-node'

const { createAccount, createOperator, createUser } = nkeys

type KeyPair = ReturnType<typeof createUser>

/** A deployment with decentralized authentication: what its server is told, and the credentials of one user. */
export interface NatsAccounts {
  readonly settings: readonly string[]
  /** The text of a `.creds` file. */
  readonly creds: string
}

const UNLIMITED = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }
const STORAGE = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }
const USER_LIMITS = { subs: -1, data: -1, payload: -1 }

function base64url(bytes: Uint8Array | string): string {
  return Buffer.from(bytes).toString('base64url')
}

/** A token as NATS has them: Ed25519 by an nkey. */
function sign(by: KeyPair, of: KeyPair, nats: object): string {
  const header = base64url(JSON.stringify({ typ: 'JWT', alg: 'ed25519-nkey' }))
  const claims = { jti: of.getPublicKey(), iat: 1_700_000_000, iss: by.getPublicKey(), sub: of.getPublicKey(), nats }
  const signed = `${header}.${base64url(JSON.stringify(claims))}`
  return `${signed}.${base64url(by.sign(new TextEncoder().encode(signed)))}`
}

export function makeNatsAccounts(): NatsAccounts {
  const [operator, account, user, system] = [createOperator(), createAccount(), createUser(), createAccount()]
  const operatorJwt = sign(operator, operator, { type: 'operator', version: 2 })
  const accountJwt = sign(operator, account, { type: 'account', version: 2, limits: { ...UNLIMITED, ...STORAGE } })
  const systemJwt = sign(operator, system, { type: 'account', version: 2, limits: UNLIMITED })
  const userJwt = sign(account, user, { type: 'user', version: 2, ...USER_LIMITS })
  const seed = new TextDecoder().decode(user.getSeed())
  return {
    settings: [
      `operator: ${operatorJwt}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${account.getPublicKey()}: ${accountJwt}, ${system.getPublicKey()}: ${systemJwt} }`,
    ],
    creds: `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  }
}
