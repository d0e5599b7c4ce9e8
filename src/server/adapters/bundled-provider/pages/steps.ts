import { renderSVG } from 'uqr'
import type { LocalAccount } from '../../../ports/local-sign-in.ts'
import { markup, type Markup } from '../../../../shared/pages/markup.ts'
import type { Page } from './page.ts'

/** The inputs of every step's page. */
export interface StepView {
  /** The address that its forms post to. */
  readonly action: string
  /** Proves that the form is of a page of this provider. */
  readonly csrf: string
  /** The error of the last answer. */
  readonly problem: string | undefined
  /** The options with which the browser asks for a passkey; undefined where passkeys cannot work. */
  readonly passkey: object | undefined
}

export function signInPage(view: StepView, login: string): Page {
  const content = markup`<h1>Sign in</h1>
<p class="muted">With a local account of this server.</p>
${problemOf(view)}<div class="card">
${form(view, 'password')}
<label for="login">Login</label>
<input id="login" name="login" value="${login}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254"${focus(login === '')}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${focus(login !== '')}>
<label class="choice"><input type="checkbox" name="enrol" value="yes"> Set up a second factor after signing in</label>
<div class="row"><button class="primary">Sign in</button></div>
</form>
</div>
${passkeyForm(view, 'get', 'Sign in with a passkey')}`
  return { title: 'Sign in', content, hasPasskeys: true }
}

export function newPasswordPage(view: StepView, { login }: LocalAccount): Page {
  const content = markup`<h1>Choose a new password</h1>
<p>The password that you signed in with was for one time. At least 12 characters; a few words in a row are good.</p>
${problemOf(view)}<div class="card">
${form(view, 'new-password')}
<input name="username" value="${login}" autocomplete="username" type="text" hidden>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="1024" autofocus>
<label for="again">New password, once more</label>
<input id="again" name="again" type="password" autocomplete="new-password" required minlength="12" maxlength="1024">
<div class="row"><button class="primary">Set the password</button></div>
</form>
</div>`
  return { title: 'Choose a new password', content }
}

export function secondFactorPage(view: StepView, account: LocalAccount): Page {
  const code = markup`<div class="card">
${form(view, 'code')}
<label for="code">Code of your authenticator app</label>
${codeField()}
<div class="row"><button class="primary">Go on</button></div>
</form>
</div>`
  const content = markup`<h1>Second factor</h1>
<p class="muted">Signing in as ${account.login}.</p>
${problemOf(view)}${account.hasTotp ? code : undefined}
${account.passkeys.length > 0 ? passkeyForm(view, 'get', 'Use a passkey') : undefined}
${account.passkeys.length > 0 && !account.hasTotp ? markup`<noscript><p class="failure">A passkey needs JavaScript.</p></noscript>` : undefined}
${recoveryForm(view)}
${startOver(view)}`
  return { title: 'Second factor', content, hasPasskeys: true }
}

/** The inputs of the page that enrols an authenticator app. */
export interface TotpDraft {
  readonly secret: string
  readonly address: string
}

/** Why a person sets up a second factor, and what happens to the existing one. */
export interface Enrolment {
  readonly isRequired: boolean
  readonly hasApp: boolean
  /** The number of remaining recovery codes, after one was used. */
  readonly codesLeft: number | undefined
}

const NO_PASSKEYS = markup`<p class="muted">Passkeys are not offered here: browsers keep them for a name that is reached over TLS, and
not for an IP address.</p>`
const REPLACED = markup`<p class="muted">It takes the place of the app that you have set up before.</p>`

export function enrolPage(view: StepView, totp: TotpDraft, { isRequired, hasApp, codesLeft }: Enrolment): Page {
  const why = isRequired
    ? 'What you are about to do asks for a second factor. Set one up now; from then on each sign-in asks for it.'
    : 'A second factor keeps out anyone who learns your password. From then on each sign-in asks for it.'
  const content = markup`<h1>Set up a second factor</h1>
${codesLeft === undefined ? markup`<p>${why}</p>` : recovered(codesLeft)}
${problemOf(view)}${view.passkey === undefined ? NO_PASSKEYS : passkeyForm(view, 'create', 'Set up a passkey')}
<section class="card" aria-labelledby="app">
<h2 id="app">Authenticator app</h2>
${hasApp ? REPLACED : undefined}
<p>Scan this with the app, or type the key into it: <code>${grouped(totp.secret)}</code></p>
<div class="qr" role="img" aria-label="QR code with the key for the authenticator app">${{ text: renderSVG(totp.address) }}</div>
${form(view, 'enrol-totp')}
<label for="code">The code that the app shows now</label>
${codeField()}
<div class="row"><button class="primary">Set up the app</button></div>
</form>
</section>
${isRequired ? startOver(view) : markup`${form(view, 'skip')}<button class="quiet">Not now</button></form>`}`
  return { title: 'Set up a second factor', content, hasPasskeys: true }
}

function recovered(codesLeft: number): Markup {
  const left = codesLeft === 1 ? '1 recovery code is left' : `${codesLeft} recovery codes are left`
  return markup`<p class="notice" role="status">You have used a recovery code; ${left}. If your device is lost, set up another one now, and
remove the lost one on the start page afterwards.</p>`
}

/** Shows the codes that the person must keep. */
export function recoveryCodesPage(view: StepView, codes: readonly string[]): Page {
  const content = markup`<h1>Keep your recovery codes</h1>
<p>Each of them signs you in once without your second factor, should you lose it. They are shown only now: print them, or put
them where you keep your passwords. They work only once you have pressed <strong>I have kept them</strong>.</p>
${problemOf(view)}<div class="card">
<ul class="codes">
${codes.map((code) => markup`<li>${code}</li>\n`)}</ul>
${form(view, 'keep-codes')}
<div class="row"><button class="primary">I have kept them</button></div>
</form>
</div>
${form(view, 'skip-codes')}<button class="quiet">Go on without recovery codes</button></form>`
  return { title: 'Keep your recovery codes', content }
}

function grouped(secret: string): string {
  return secret.replaceAll(/(.{4})(?=.)/g, '$1 ')
}

function codeField(): Markup {
  return markup`<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]{6,8}" required maxlength="8">`
}

function focus(isFocused: boolean): Markup | undefined {
  return isFocused ? markup` autofocus` : undefined
}

function problemOf({ problem }: StepView): Markup | undefined {
  return problem === undefined ? undefined : markup`<p class="failure" role="alert">${problem}</p>\n`
}

/** The beginning of a form. */
function form({ action, csrf }: StepView, step: string): Markup {
  return markup`<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="step" value="${step}">`
}

/** Hidden until the script finds that the browser knows passkeys. */
function passkeyForm({ action, csrf, passkey }: StepView, kind: 'get' | 'create', label: string): Markup | undefined {
  if (passkey === undefined) return undefined
  const step = kind === 'get' ? 'passkey' : 'enrol-passkey'
  return markup`<form method="post" action="${action}" data-passkey="${kind}" data-options="${JSON.stringify(passkey)}" hidden>
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="step" value="${step}">
<input type="hidden" name="credential">
<p class="failure" role="alert" tabindex="-1" hidden>The browser gave no passkey. Try again, or go on without.</p>
<div class="row"><button class="quiet">${label}</button></div>
</form>`
}

/** Offered whether or not there are codes: a person with only the password must not learn that. */
function recoveryForm(view: StepView): Markup {
  return markup`<details>
<summary>Use a recovery code instead</summary>
<div class="card">
${form(view, 'recovery-code')}
<label for="recovery-code">One of your recovery codes</label>
<input id="recovery-code" name="recovery_code" type="text" autocomplete="off" autocapitalize="none" spellcheck="false" required maxlength="64">
<div class="row"><button class="primary">Use the code</button></div>
</form>
</div>
</details>`
}

function startOver(view: StepView): Markup {
  return markup`${form(view, 'start-over')}<button class="quiet">Sign in as somebody else</button></form>`
}
