import type { VNode } from 'preact'
import { Frame } from './frame.tsx'

/** What a browser without a session sees: the way to sign in, which comes back to the same view. */
export function SignInPrompt({ wasSignedIn }: { readonly wasSignedIn: boolean }): VNode {
  return (
    <Frame>
      <section class="card" aria-labelledby="view">
        <h1 id="view" tabIndex={-1}>
          {wasSignedIn ? 'Your session has ended' : 'You are not signed in'}
        </h1>
        <p>The console shows what you may see, so it needs to know who you are.</p>
        <p>
          <a class="button primary" href={`/?then=console&now${location.hash}`}>
            Sign in
          </a>
        </p>
        <p class="muted">Afterwards you come back to this view.</p>
      </section>
    </Frame>
  )
}
