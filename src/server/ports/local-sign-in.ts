/** Beneath which the bundled provider is served. */
export const PROVIDER_PATH = '/idp'

/** By which the bundled provider remembers a browser, for a minute. */
export const PROVIDER_SESSION_COOKIE = 'ctl_idp_session'

/** A passkey as its browser gave it (WebAuthn Level 3 §4, credential record). */
export interface LocalPasskey {
  /** base64url. */
  readonly credentialId: string
  /** COSE. */
  readonly publicKey: Uint8Array
  readonly counter: number
  readonly transports: readonly string[]
}

/** Somebody who may sign in with the bundled provider. */
export interface LocalAccount {
  readonly id: string
  readonly login: string
  readonly displayName: string
  readonly email: string | null
  /** Slug of the Domain that the account is of. */
  readonly domain: string
  /** Whether the password was given to the person and must be replaced before anything else. */
  readonly mustChangePassword: boolean
  readonly hasTotp: boolean
  readonly passkeys: readonly LocalPasskey[]
  /** Recovery codes that have not been used. */
  readonly recoveryCodes: number
  /** Sign-ins that the provider remembers from before then no longer count. */
  readonly signedOutAtMs: number | undefined
}

/** Why a password was not taken. */
export type WeakPassword = 'too short' | 'too long' | 'holds the login' | 'common' | 'the old one'

/** What is said to anyone who chose a password that is not taken. */
export const WEAKNESSES: Readonly<Record<WeakPassword, string>> = {
  'too short': 'The password needs at least 12 characters. A few words in a row are good.',
  'too long': 'The password may have 256 characters at most.',
  'holds the login': 'The password must not contain your login.',
  common: 'That password is among the first that anybody would try. Choose another one.',
  'the old one': 'That is the password that you have. Choose another one.',
}

/** How a person signed in. */
export interface LocalSignInFacts {
  readonly accountId: string
  readonly sourceAddress: string
  /** RFC 8176. */
  readonly amr: readonly string[]
}

/**
 * Signs people in with local accounts. Each guess is counted before it is looked at, so that guesses made at the same
 * time count as well; an account that was guessed at too often refuses for a while, without saying why.
 */
export interface LocalSignIn {
  /** The account; undefined when it is gone or disabled. */
  find(id: string): Promise<LocalAccount | undefined>
  /** `busy` when so many passwords are being looked at that this one would have to wait too long. */
  tryPassword(guess: {
    readonly login: string
    readonly password: string
    readonly sourceAddress: string
  }): Promise<LocalAccount | 'refused' | 'busy'>
  /** Sets a new password and ends the account's sign-ins, at that instant; says what is wrong with it where it was not taken. */
  changePassword(change: {
    readonly accountId: string
    readonly password: string
  }): Promise<WeakPassword | 'busy' | { readonly signedOutAtMs: number }>
  /** Tells whether the code of the authenticator app is good; each is good once (RFC 6238 §5.2). */
  tryCode(guess: {
    readonly accountId: string
    readonly code: string
    readonly sourceAddress: string
  }): Promise<boolean>
  /** Tells whether the recovery code is one of the account's; each is good once. Limited as codes of the app are. */
  tryRecoveryCode(guess: {
    readonly accountId: string
    readonly code: string
    readonly sourceAddress: string
  }): Promise<boolean>
  /** New recovery codes. Nothing is stored. */
  draftRecoveryCodes(): readonly string[]
  /** Stores those codes in the place of the account's others. */
  keepRecoveryCodes(draft: { readonly accountId: string; readonly codes: readonly string[] }): Promise<void>
  /** A new shared secret, and the address that authenticator apps read it from. Nothing is stored. */
  draftTotp(account: LocalAccount): Promise<{ readonly secret: string; readonly address: string }>
  /** Stores the secret once its first code proves that the app has it. */
  enrolTotp(draft: { readonly accountId: string; readonly secret: string; readonly code: string }): Promise<boolean>
  /** Whose passkey that is. */
  findPasskey(
    credentialId: string,
  ): Promise<{ readonly account: LocalAccount; readonly passkey: LocalPasskey } | undefined>
  /** Notes a use; false when the counter did not move on, which a copied key would show (WebAuthn Level 3 §6.1.1). */
  usePasskey(use: { readonly credentialId: string; readonly counter: number }): Promise<boolean>
  /** False when that passkey is known or the account has as many as it may have. */
  enrolPasskey(draft: { readonly accountId: string; readonly passkey: LocalPasskey }): Promise<boolean>
  /** Notes and audits a sign-in that is complete; false when the account was disabled meanwhile. */
  complete(facts: LocalSignInFacts): Promise<boolean>
}
