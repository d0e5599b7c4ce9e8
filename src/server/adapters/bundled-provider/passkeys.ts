import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type AuthenticatorTransport,
  type RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { isIP } from 'node:net'
import type { LocalAccount, LocalPasskey, LocalSignIn } from '../../ports/local-sign-in.ts'

/** The options for the browser, and the challenge that its answer must sign. */
export interface PasskeyQuestion {
  readonly options: object
  readonly challenge: string
}

/** A browser's answer: the text of a form field, normally JSON. */
export interface PasskeyAnswer {
  readonly credential: string
  readonly challenge: string
}

/** A verified passkey. */
export interface ShownPasskey {
  readonly account: LocalAccount
  /** RFC 8176. */
  readonly amr: readonly string[]
}

export interface Passkeys {
  /** Asks for one of the account's, or for any where nobody is known yet. */
  ask(account: LocalAccount | undefined): Promise<PasskeyQuestion>
  /** The account of the passkey; undefined when it is unknown, of another account, or its proof is invalid. */
  shown(answer: PasskeyAnswer, expected: LocalAccount | undefined): Promise<ShownPasskey | undefined>
  askForNew(account: LocalAccount): Promise<PasskeyQuestion>
  /** Stores a new one; returns its methods, or undefined when the proof is invalid. */
  enrol(answer: PasskeyAnswer, account: LocalAccount): Promise<readonly string[] | undefined>
}

/**
 * Asks browsers for passkeys, always with the person verified by the device: a passkey is two factors then, and may be
 * the only one. Undefined where the server's host is an IP address: a passkey belongs to a domain name (WebAuthn Level 3 §5.1.2).
 */
export function createPasskeys(baseUrl: string, signIn: LocalSignIn): Passkeys | undefined {
  const { hostname, origin, protocol } = new URL(baseUrl)
  const isAddress = isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0
  if (isAddress || (protocol !== 'https:' && hostname !== 'localhost')) return undefined
  const expected = { expectedOrigin: origin, expectedRPID: hostname, requireUserVerification: true } as const

  return {
    async ask(account) {
      const options = await generateAuthenticationOptions({
        rpID: hostname,
        userVerification: 'required',
        allowCredentials: (account?.passkeys ?? []).map(descriptorOf),
      })
      return { options, challenge: options.challenge }
    },

    async shown({ credential, challenge }, known) {
      const response = answerIn(credential) as AuthenticationResponseJSON | undefined
      const found = response && (await signIn.findPasskey(response.id))
      if (response === undefined || found === undefined) return undefined
      const { account, passkey } = found
      if (!isOf(response, account) || (known !== undefined && known.id !== account.id)) return undefined
      const proof = { ...expected, response, expectedChallenge: challenge, credential: keyOf(passkey) }
      const verified = await quietly(() => verifyAuthenticationResponse(proof))
      if (verified?.verified !== true) return undefined
      const { newCounter, credentialDeviceType } = verified.authenticationInfo
      const { credentialId } = passkey
      // Two answers with one counter: one of them came from a copy.
      if (!(await signIn.usePasskey({ credentialId, counter: newCounter }))) return undefined
      return { account, amr: methodsOf(credentialDeviceType) }
    },

    async askForNew(account) {
      const options = await generateRegistrationOptions({
        rpName: 'ctl',
        rpID: hostname,
        userName: account.login,
        userDisplayName: account.displayName,
        userID: new Uint8Array(Buffer.from(account.id, 'utf8')),
        attestationType: 'none',
        excludeCredentials: account.passkeys.map(descriptorOf),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      })
      return { options, challenge: options.challenge }
    },

    async enrol({ credential, challenge }, account) {
      const response = answerIn(credential) as RegistrationResponseJSON | undefined
      if (response === undefined) return undefined
      const proof = { ...expected, response, expectedChallenge: challenge }
      const verified = await quietly(() => verifyRegistrationResponse(proof))
      if (verified?.verified !== true) return undefined
      const { credential: made, credentialDeviceType } = verified.registrationInfo
      const { id: credentialId, publicKey, counter, transports = [] } = made
      const passkey = { credentialId, publicKey, counter, transports: transports.slice(0, 8) }
      const isKept = await signIn.enrolPasskey({ accountId: account.id, passkey })
      return isKept ? methodsOf(credentialDeviceType) : undefined
    },
  }
}

/** A key that can leave its device counts as a software key (RFC 8176 `hwk`, `swk`). */
function methodsOf(deviceType: 'singleDevice' | 'multiDevice'): readonly string[] {
  return [deviceType === 'singleDevice' ? 'hwk' : 'swk', 'user', 'mfa']
}

// Transports are a browser's hints about its authenticator, and are only returned to browsers.
const descriptorOf = ({ credentialId, transports }: LocalPasskey) => ({
  id: credentialId,
  transports: [...transports] as AuthenticatorTransport[],
})

const keyOf = ({ credentialId, publicKey, counter }: LocalPasskey) => ({
  id: credentialId,
  publicKey: new Uint8Array(publicKey),
  counter,
})

/** A passkey found without a login names its account. */
function isOf({ response }: AuthenticationResponseJSON, account: LocalAccount): boolean {
  const { userHandle } = response
  return !userHandle || Buffer.from(userHandle, 'base64url').toString('utf8') === account.id
}

/** Parses a browser's answer. The library checks its members; here only the presence of an object is checked. */
function answerIn(text: string): object | undefined {
  try {
    const value = JSON.parse(text) as { readonly id?: unknown; readonly response?: unknown } | null
    const isShaped = typeof value?.id === 'string' && typeof value.response === 'object' && value.response !== null
    return isShaped ? value : undefined
  } catch {
    return undefined
  }
}

/** The library throws for an invalid proof; here it counts as no proof. */
async function quietly<T>(verify: () => Promise<T>): Promise<T | undefined> {
  try {
    return await verify()
  } catch {
    return undefined
  }
}
