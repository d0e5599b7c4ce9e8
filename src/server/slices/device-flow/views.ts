import { markup, type Markup } from '../../../shared/pages/markup.ts'
import { pageDocument, type PageDocument } from '../../../shared/pages/page-document.ts'
import type { WantedSignIn } from '../../http/auth/wanted-sign-in.ts'
import { clientShown, wantedBy } from './device-sign-in.ts'
import type { BindingChoice, DeviceSignIn } from './store.ts'
import { showUserCode } from './user-code.ts'

/** Paths of the pages. */
export const DEVICE_PATH = '/v1/device'

/** The visitor of a page, and their address. */
export interface Viewer {
  readonly displayName: string
  readonly domainName: string
  readonly sourceAddress: string
  /** Address at which to sign in as somebody else. */
  readonly otherAccountAt: string
  readonly nowMs: number
}

/** Asks for the code; `failure` is the error of the last one. */
export function codeForm(viewer: Viewer, failure?: string): PageDocument {
  const marks = failure === undefined ? undefined : { text: 'aria-invalid="true" aria-describedby="failure"' }
  const body = markup`<h1>Sign a device in</h1>
${alert(failure)}<p>Your device shows a code of eight letters. Type it here to see who asks; nothing is approved by that.</p>
<form method="get" action="${DEVICE_PATH}" class="card">
<label for="user_code">Code on your device</label>
<input id="user_code" name="user_code" type="text" class="code" required maxlength="64" placeholder="XXXX-XXXX"
  autocomplete="off" autocapitalize="characters" spellcheck="false" autofocus ${marks}>
<div class="row"><button class="primary">Continue</button></div>
</form>
${whoYouAre(viewer)}`
  return pageDocument({ title: 'Sign a device in', body })
}

/** Shows a device that waits, and asks to approve or refuse it. */
export function decisionForm(viewer: Viewer, signIn: DeviceSignIn, csrfToken: string): PageDocument {
  const body = markup`<h1>Sign this device in?</h1>
<p>Approve only if <strong>you</strong> have just begun this, and your device shows this code:</p>
<p class="code" id="code">${showUserCode(signIn.user_code)}</p>
${elsewhere(viewer, signIn)}<dl class="facts card">
<dt>Calls itself</dt><dd>${clientShown(signIn)} <span class="muted">(unverified)</span></dd>
<dt>Asked from</dt><dd>${signIn.source_address}</dd>
<dt>Asked</dt><dd>${agoOf(viewer.nowMs - signIn.created_at.getTime())}; the code works for another ${spanOf(signIn.expires_at.getTime() - viewer.nowMs)}</dd>
<dt>May do</dt><dd>${scopesOf(signIn.scopes)}</dd>
<dt>For</dt><dd>${longSpanOf(signIn.token_seconds)}, unless you revoke its token before</dd>
${requiredSignIn(signIn)}</dl>
<form method="post" action="${DEVICE_PATH}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<input type="hidden" name="user_code" value="${showUserCode(signIn.user_code)}">
<div class="row">
<button class="primary" name="verdict" value="approved" aria-describedby="code">Approve</button>
<button class="quiet" name="verdict" value="denied" aria-describedby="code">Refuse</button>
</div>
</form>
${whoYouAre(viewer)}
<p><a href="${DEVICE_PATH}">Enter another code</a></p>`
  return pageDocument({ title: 'Sign this device in?', body })
}

/** Shows this person's decision about a device. */
export function outcomeView(viewer: Viewer, signIn: DeviceSignIn): PageDocument {
  const isRefused = signIn.state === 'denied'
  const title = isRefused ? 'Refused' : 'Approved'
  const outcome = isRefused
    ? 'The device learns it with its next request. It received nothing.'
    : 'You can close this page and go on at your device: it is signed in within a few seconds.'
  const body = markup`<h1>${title}</h1>
<p class="notice" role="status">${clientShown(signIn)} (<span>${showUserCode(signIn.user_code)}</span>): ${outcome}</p>
${isRefused ? undefined : markup`<p>If you did not mean to, revoke its token: <code>ctl tokens list</code>, then <code>ctl tokens revoke</code>.</p>`}
${whoYouAre(viewer)}
<p><a href="${DEVICE_PATH}">Enter another code</a></p>`
  return pageDocument({ title, body })
}

/** Asks for a recent sign-in. */
export function reauthenticationView(viewer: Viewer, signInAt: string): PageDocument {
  const body = markup`<h1>Sign in again</h1>
<p class="notice">Approving a device needs a sign-in of the last 15 minutes; yours is older.</p>
<div class="row"><a class="button primary" href="${signInAt}">Sign in again</a></div>
${whoYouAre(viewer)}`
  return pageDocument({ title: 'Sign in again', body })
}

/** One way to sign in, and its address. */
export interface Choice extends BindingChoice {
  readonly href: string
}

/** Lets somebody who is signed out choose where to sign in. */
export function choiceView(choices: readonly Choice[]): PageDocument {
  const items = choices.map(
    ({ label, issuer, href }) =>
      markup`<p><a class="button quiet" href="${href}">${label}</a> <span class="muted">${hostOf(issuer)}</span></p>\n`,
  )
  const body = markup`<h1>Sign in</h1>
<p>To sign a device in, sign in here first. With which provider?</p>
<div class="card">
${items}</div>`
  return pageDocument({ title: 'Sign in', body })
}

/** Asks somebody who is signed out for the Domain; the form repeats the members of `kept`. */
export function domainForm(kept: ReadonlyMap<string, string>, failure?: string): PageDocument {
  const hidden = [...kept].map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">\n`)
  const marks = failure === undefined ? undefined : { text: 'aria-invalid="true" aria-describedby="failure"' }
  const body = markup`<h1>Sign in</h1>
${alert(failure)}<p>To sign a device in, sign in here first. To which Domain do you belong?</p>
<form method="get" action="${DEVICE_PATH}" class="card">
${hidden}<label for="domain">Domain</label>
<input id="domain" name="domain" type="text" required maxlength="63" autocomplete="organization" autocapitalize="none" spellcheck="false" ${marks}>
<div class="row"><button class="primary">Continue</button></div>
</form>`
  return pageDocument({ title: 'Sign in', body })
}

/** Reports that a sign-in succeeded but created no session. */
export function noCookieView(again: string): PageDocument {
  const body = markup`<h1>You are not signed in</h1>
<p class="failure" role="alert">The sign-in came back, but your browser sent no session along. It may refuse cookies of this site.</p>
<div class="row"><a class="button primary" href="${again}">Sign in</a></div>`
  return pageDocument({ title: 'You are not signed in', body })
}

export function alert(failure: string | undefined): Markup | undefined {
  return failure === undefined ? undefined : markup`<p class="failure" role="alert" id="failure">${failure}</p>\n`
}

export function whoYouAre({ displayName, domainName, otherAccountAt }: Viewer): Markup {
  return markup`<p class="muted">You are signed in as <strong>${displayName}</strong> in ${domainName}. <a href="${otherAccountAt}">Sign in as somebody else</a></p>`
}

/** A device and its approver usually have the same address; if not, the person may be approving a stranger's device. */
function elsewhere({ sourceAddress }: Viewer, signIn: DeviceSignIn): Markup | undefined {
  if (sourceAddress === signIn.source_address) return undefined
  return markup`<p class="failure" role="note">It asks from another address than yours (${sourceAddress}). Anyone who sent you a link or a code would get in as you.</p>\n`
}

function scopesOf(scopes: readonly string[]): string {
  return scopes.includes('*') ? 'Everything that you may do' : scopes.join(', ')
}

function agoOf(ms: number): string {
  return ms < 10_000 ? 'just now' : `${spanOf(ms)} ago`
}

function spanOf(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000))
  if (seconds < 60) return seconds === 1 ? '1 second' : `${seconds} seconds`
  const minutes = Math.round(seconds / 60)
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}

function longSpanOf(seconds: number): string {
  const [count, unit] = seconds >= 86_400 ? [seconds / 86_400, 'day'] : [seconds / 3600, 'hour']
  if (!Number.isInteger(count)) return spanOf(seconds * 1000)
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`
}

function requiredSignIn(signIn: DeviceSignIn): Markup | undefined {
  const wanted = wantedBy(signIn)
  return wanted && markup`<dt>Asks for</dt><dd>a sign-in ${wordsOf(wanted)}; yours is one</dd>\n`
}

/** What a sign-in must be: `with mfa or phr, no older than 15 minutes`. */
export function wordsOf({ acrValues, maxAgeSeconds }: WantedSignIn): string {
  const strength = acrValues === undefined ? [] : [`with ${acrValues.join(' or ')}`]
  const age = maxAgeSeconds === undefined ? [] : [`no older than ${longSpanOf(maxAgeSeconds)}`]
  return [...strength, ...age].join(', ')
}

function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : ''
}
