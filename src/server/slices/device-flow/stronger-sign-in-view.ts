import { markup } from '../../../shared/pages/markup.ts'
import { pageDocument, type PageDocument } from '../../../shared/pages/page-document.ts'
import { clientShown, wantedBy } from './device-sign-in.ts'
import type { DeviceSignIn } from './store.ts'
import { alert, whoYouAre, wordsOf, type Viewer } from './views.ts'

/** How the person gets to the sign-in, and whether they come from one. */
interface Offer {
  readonly signInAt: string
  readonly isRepeated: boolean
}

/** Asks for the sign-in that a device needs of its approver. */
export function strongerSignInView(
  viewer: Viewer,
  signIn: DeviceSignIn,
  { signInAt, isRepeated }: Offer,
): PageDocument {
  const wanted = wordsOf(wantedBy(signIn) ?? {})
  const body = markup`<h1>Sign in again</h1>
${alert(isRepeated ? STILL_LACKING : undefined)}<p class="notice">This device asks for a sign-in ${wanted}. Your current one does not meet that.</p>
<p class="muted">It calls itself ${clientShown(signIn)} (unverified). Sign in again only if <strong>you</strong> have just begun this.</p>
<div class="row"><a class="button primary" href="${signInAt}">${isRepeated ? 'Try again' : 'Sign in again'}</a></div>
${whoYouAre(viewer)}`
  return pageDocument({ title: 'Sign in again', body })
}

const STILL_LACKING =
  'You have signed in again, and that sign-in does not meet it either: the identity provider did something else, or it took too long.'
