import { markup } from '../../../shared/pages/markup.ts'
import { pageDocument, type PageDocument } from '../../../shared/pages/page-document.ts'

/** The address that the form posts to. */
export const SIGN_OUT_PATH = '/v1/sign-out'

/** The start page, which confirms the sign-out. */
export const SIGNED_OUT_PATH = '/?signed_out=1'

/** A provider at which the sign-in may continue, and its sign-out address, if it has one. */
export interface LeftAtProvider {
  readonly issuer: string
  readonly url: string | undefined
}

/** Forwards to the provider. A refresh instead of a redirect: the policy of the page with the form allows only this origin. */
export function leavingView(url: string): PageDocument {
  const { host } = new URL(url)
  const body = markup`<h1>You are signed out here</h1>
<p role="status">Signing you out at ${host} as well …</p>
<div class="row"><a class="button primary" href="${url}">Go on to ${host}</a></div>`
  return pageDocument({ title: 'Signing out', body, refreshTo: url })
}

/** Warns that the sign-in with the provider continues, for people on a shared machine. */
export function stillSignedInView(issuer: string): PageDocument {
  const { host } = new URL(issuer)
  const body = markup`<h1>You are signed out here</h1>
<p class="notice" role="status">You may still be signed in at ${host}: it offers no way to end that from here, or could not be reached.
On a machine that others use, sign out there as well.</p>
<p><a href="/">Go to the start page</a></p>`
  return pageDocument({ title: 'Signed out', body })
}

/** Warns that sessions in other browsers continue, where all should end but the own one had ended before. */
export function othersGoOnView(left: LeftAtProvider | undefined): PageDocument {
  const body = markup`<h1>You are signed out here</h1>
<p class="notice" role="status">Your sessions in other browsers go on: this browser's session had already ended, so it could not end them.
To end them, sign in again and sign out of every browser.</p>
${left === undefined ? undefined : atProvider(left)}
<p><a href="/">Go to the start page</a></p>`
  return pageDocument({ title: 'Signed out', body })
}

function atProvider({ issuer, url }: LeftAtProvider) {
  const { host } = new URL(issuer)
  if (url === undefined) return markup`<p>You may still be signed in at ${host}.</p>`
  return markup`<p>You may still be signed in at ${host}: <a href="${url}">sign out there as well</a>.</p>`
}
