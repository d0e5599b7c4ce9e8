import { renderSVG } from 'uqr'
import type { LocalAccount, WeakPassword } from '../../../ports/local-sign-in.ts'
import { markup, trusted, type Html } from './html.ts'
import type { Page } from './page.ts'

/** What every step's page needs. */
export interface StepView {
  /** Where its forms go. */
  readonly action: string
  /** Proves that the form is of a page of ours. */
  readonly csrf: string
  /** What went wrong with the last answer. */
  readonly problem: string | undefined
  /** What the browser is asked for a passkey with; undefined where passkeys cannot work. */
  readonly passkey: object | undefined
}

/** What is said to whoever chose a password that is not taken. */
export const WEAKNESSES: Readonly<Record<WeakPassword, string>> = {
  'too short': 'The password needs at least 12 characters. A few words in a row are good.',
  'too long': 'The password may have 256 characters at most.',
  'holds the login': 'The password must not contain your login.',
  common: 'That password is among the first that anybody would try. Choose another one.',
  'the old one': 'That is the password that you have. Choose another one.',
}

export function signInPage(view: StepView, login: string): Page {
  const content = markup`<h1>Sign in</h1>
<p class="soft">With a local account of this server.</p>
${problemOf(view)}
${form(view, 'password')}
<label for="login">Login</label>
<input id="login" name="login" value="${login}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254"${focus(login === '')}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${focus(login !== '')}>
<label class="choice"><input type="checkbox" name="enrol" value="yes"> Set up a second factor after signing in</label>
<button>Sign in</button>
</form>
${passkeyForm(view, 'get', 'Sign in with a passkey')}`
  return { title: 'Sign in', content, hasPasskeys: true }
}

export function newPasswordPage(view: StepView, { login }: LocalAccount): Page {
  const content = markup`<h1>Choose a new password</h1>
<p>The password that you signed in with was for one time. At least 12 characters; a few words in a row are good.</p>
${problemOf(view)}
${form(view, 'new-password')}
<input name="username" value="${login}" autocomplete="username" type="text" hidden>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="1024" autofocus>
<label for="again">New password, once more</label>
<input id="again" name="again" type="password" autocomplete="new-password" required minlength="12" maxlength="1024">
<button>Set the password</button>
</form>`
  return { title: 'Choose a new password', content }
}

export function secondFactorPage(view: StepView, account: LocalAccount): Page {
  const code = markup`${form(view, 'code')}
<label for="code">Code of your authenticator app</label>
${codeField()}
<button>Go on</button>
</form>`
  const content = markup`<h1>Second factor</h1>
    <p class="soft">Signing in as ${account.login}.</p>
    ${problemOf(view)} ${account.hasTotp ? code : undefined}
    ${account.passkeys.length > 0 ? passkeyForm(view, 'get', 'Use a passkey') : undefined}
    ${account.passkeys.length > 0 && !account.hasTotp ? markup`<noscript><p class="problem">A passkey needs JavaScript.</p></noscript>` : undefined}
    ${startOver(view)}`
  return { title: 'Second factor', content, hasPasskeys: true }
}

/** What enrolling an authenticator app shows. */
export interface TotpDraft {
  readonly secret: string
  readonly address: string
}

/** Why somebody sets up a second factor, and what becomes of the one that is there. */
export interface Enrolment {
  readonly isRequired: boolean
  readonly hasApp: boolean
}

const NO_PASSKEYS = markup`<p class="soft">
  Passkeys are not offered here: browsers keep them for a name that is reached over TLS, and not for an IP address.
</p>`
const REPLACED = markup`<p class="soft">It takes the place of the app that you have set up before.</p>`

export function enrolPage(view: StepView, totp: TotpDraft, { isRequired, hasApp }: Enrolment): Page {
  const why = isRequired
    ? 'What you are about to do asks for a second factor. Set one up now; from then on each sign-in asks for it.'
    : 'A second factor keeps whoever learns your password out. From then on each sign-in asks for it.'
  const content = markup`<h1>Set up a second factor</h1>
<p>${why}</p>
${problemOf(view)}
${view.passkey === undefined ? NO_PASSKEYS : passkeyForm(view, 'create', 'Set up a passkey')}
<h2>Authenticator app</h2>
${hasApp ? REPLACED : undefined}
<p>Scan this with the app, or type the key into it: <code>${grouped(totp.secret)}</code></p>
<div class="qr" role="img" aria-label="QR code with the key for the authenticator app">${trusted(renderSVG(totp.address))}</div>
${form(view, 'enrol-totp')}
<label for="code">The code that the app shows now</label>
${codeField()}
<button>Set up the app</button>
</form>
${isRequired ? startOver(view) : markup`${form(view, 'skip')}<button class="second">Not now</button></form>`}`
  return { title: 'Set up a second factor', content, hasPasskeys: true }
}

function grouped(secret: string): string {
  return secret.replaceAll(/(.{4})(?=.)/g, '$1 ')
}

function codeField(): Html {
  return markup`<input
    id="code"
    name="code"
    inputmode="numeric"
    autocomplete="one-time-code"
    pattern="[0-9 ]{6,8}"
    required
    maxlength="8"
  />`
}

function focus(isFocused: boolean): Html | undefined {
  return isFocused ? markup` autofocus` : undefined
}

function problemOf({ problem }: StepView): Html | undefined {
  return problem === undefined ? undefined : markup`<p class="problem" role="alert">${problem}</p>`
}

/** The beginning of a form. */
function form({ action, csrf }: StepView, step: string): Html {
  return markup`<form method="post" action="${action}">
    <input type="hidden" name="csrf" value="${csrf}" /><input type="hidden" name="step" value="${step}" />
   `
}

/** Hidden until the script finds that the browser knows passkeys. */
function passkeyForm({ action, csrf, passkey }: StepView, kind: 'get' | 'create', label: string): Html | undefined {
  if (passkey === undefined) return undefined
  const step = kind === 'get' ? 'passkey' : 'enrol-passkey'
  return markup`<form
    method="post"
    action="${action}"
    data-passkey="${kind}"
    data-options="${JSON.stringify(passkey)}"
    hidden
  >
    <input type="hidden" name="csrf" value="${csrf}" /><input type="hidden" name="step" value="${step}" />
    <input type="hidden" name="credential" />
    <p class="problem" role="alert" tabindex="-1" hidden>The browser gave no passkey. Try again, or go on without.</p>
    <button class="second">${label}</button>
  </form>`
}

function startOver(view: StepView): Html {
  return markup`${form(view, 'start-over')}<button class="second">Sign in as somebody else</button></form>`
}
