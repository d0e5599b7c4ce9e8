import { markup, type Markup } from '../../../shared/pages/markup.ts'
import { pageDocument, type PageDocument } from '../../../shared/pages/page-document.ts'

/** Paths of the pages. */
export const ACCOUNT_PATH = '/v1/account'

/** The facts of a local account on the page. */
export interface AccountView {
  readonly login: string
  readonly displayName: string
  readonly hasFactors: boolean
  readonly codesLeft: number
  readonly codesMadeAt: Date | null
  /** Whether the sign-in is recent and strong enough to create new codes. */
  readonly mayMakeCodes: boolean
  readonly csrfToken: string
  /** The error of the last change of the password. */
  readonly failure?: string
  /** Whether the password has just been changed. */
  readonly isChanged?: boolean
}

const TITLE = 'Your local account'

export function accountView(view: AccountView): PageDocument {
  const body = markup`<h1>${TITLE}</h1>
<p class="muted">Signed in as <strong>${view.displayName}</strong>, login ${view.login}.</p>
${view.isChanged === true ? markup`<p class="notice" role="status">Your password is changed, and you are signed out of every other browser.</p>` : undefined}
${passwordForm(view)}
${codesSection(view)}
<p><a href="/">Go to the start page</a></p>`
  return pageDocument({ title: TITLE, body })
}

function passwordForm({ login, csrfToken, failure }: AccountView): Markup {
  const alert =
    failure === undefined ? undefined : markup`<p class="failure" role="alert" id="failure">${failure}</p>\n`
  return markup`<section class="card" aria-labelledby="password-title">
<h2 id="password-title">Change your password</h2>
${alert}<form method="post" action="${ACCOUNT_PATH}/password">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<input type="text" name="username" value="${login}" autocomplete="username" hidden>
<label for="current">Current password</label>
<input id="current" name="current_password" type="password" autocomplete="current-password" required maxlength="1024">
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="1024" aria-describedby="rule">
<p class="muted" id="rule">At least 12 characters; a few words in a row are good.</p>
<label for="again">New password, once more</label>
<input id="again" name="again" type="password" autocomplete="new-password" required minlength="12" maxlength="1024">
<p class="muted">You stay signed in here, and are signed out of every other browser.</p>
<div class="row"><button class="primary">Change the password</button></div>
</form>
</section>`
}

function codesSection(view: AccountView): Markup {
  return markup`<section class="card" aria-labelledby="codes-title">
<h2 id="codes-title">Recovery codes</h2>
<p>A recovery code signs you in once without your second factor, should you lose it.</p>
${view.hasFactors ? codesOf(view) : markup`<p class="muted">You have no second factor, so there is nothing to recover. Set one up: sign in again and choose so there.</p>`}
</section>`
}

function codesOf({ codesLeft, codesMadeAt, mayMakeCodes, csrfToken }: AccountView): Markup {
  const made = codesMadeAt === null ? '' : `, made on ${codesMadeAt.toISOString().slice(0, 10)}`
  const left = codesLeft === 0 ? 'You have none.' : `${codesLeft} ${codesLeft === 1 ? 'is' : 'are'} left${made}.`
  const old = codesLeft === 0 ? undefined : markup` Those that you have stop working.`
  const form = markup`<form method="post" action="${ACCOUNT_PATH}/recovery-codes">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<p class="muted">New codes are shown once.${old}</p>
<div class="row"><button class="quiet">Make new recovery codes</button></div>
</form>`
  const again = markup`<p class="muted">Making codes needs a sign-in with your second factor in the last 15 minutes.</p>
<div class="row"><a class="button quiet" href="${ACCOUNT_PATH}?sign_in=1">Sign in again</a></div>`
  return markup`<p><strong>${left}</strong></p>
${mayMakeCodes ? form : again}`
}

/** Shows new codes, once. */
export function codesView(codes: readonly string[]): PageDocument {
  const title = 'Your new recovery codes'
  const body = markup`<h1>${title}</h1>
<p class="notice" role="status">They work from now on, and those that you had before no longer do. They are shown only now. Print them, or put them where you
keep your passwords.</p>
<div class="card">
<ul class="codes">
${codes.map((code) => markup`<li>${code}</li>\n`)}</ul>
</div>
<p>Each of them works once, at sign-in, instead of your second factor.</p>
<div class="row"><a class="button primary" href="${ACCOUNT_PATH}">I have kept them</a></div>`
  return pageDocument({ title, body })
}

/** The page for people of an external provider. */
export function elsewhereView(): PageDocument {
  const body = markup`<h1>${TITLE}</h1>
<p class="notice">You have none: your identity provider keeps your password and your second factors. Change them there.</p>
<p><a href="/">Go to the start page</a></p>`
  return pageDocument({ title: TITLE, body })
}
