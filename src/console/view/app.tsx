import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { createApi, type Api } from '../api/client.ts'
import type { Domain, Me } from '../api/operations.ts'
import { readDomains } from '../api/read-fleet.ts'
import { browserTime } from './browser-time.ts'
import { Frame } from './frame.tsx'
import { Problem } from './parts.tsx'
import { SignedIn } from './signed-in.tsx'
import { SignInPrompt } from './sign-in-prompt.tsx'
import { NEVER, useLoad, type Loaded } from './use-load.ts'

interface Start {
  readonly me: Me
  readonly domains: readonly Domain[]
}

/** The console: it finds out who is signed in, then shows what that person may see. */
export function App(): VNode {
  const [isEnded, setEnded] = useState(false)
  const [isReached, setReached] = useState(true)
  const api = useMemo(() => connected(() => setEnded(true), setReached), [])
  const start = useLoad<Start>({ key: 'start', tick: NEVER }, async (signal) => {
    const me = await api.call('GetAuthWhoami', {}, signal)
    remember(me.domain_id)
    return { me, domains: await readDomains(api, signal) }
  })
  const { value, failure } = start
  if (isEnded) return <SignInPrompt wasSignedIn={value !== undefined} />
  if (value !== undefined) return <SignedIn api={api} me={value.me} domains={value.domains} isReached={isReached} />
  return <Frame>{failure === undefined ? <p class="muted">Loading the console …</p> : <NotReached {...start} />}</Frame>
}

/** Between two tries at a server that does not answer, or not as it should. */
const RETRY_MS = 15_000

/** Why the console cannot begin. It tries again by itself. */
function NotReached({ failure, retry }: Pick<Loaded<Start>, 'failure' | 'retry'>): VNode {
  useEffect(() => browserTime.after(RETRY_MS, retry), [failure])
  return (
    <section class="card" aria-labelledby="view">
      <h1 id="view" tabIndex={-1}>
        The console cannot reach its data
      </h1>
      {failure !== undefined && <Problem failure={failure} retry={retry} what="your account" />}
      <p class="muted">It tries again every 15 seconds.</p>
    </section>
  )
}

/** The Domain that the start page offers to sign in to, under the name by which it looks for it. */
function remember(domainId: string): void {
  try {
    localStorage.setItem('ctl.domain_id', domainId)
  } catch {
    // A browser that keeps nothing is asked for the Domain again.
  }
}

/** An API that also reports whether the server answers at all. */
function connected(onSignedOut: () => void, onReached: (isReached: boolean) => void): Api {
  return createApi({
    async fetch(...request) {
      try {
        const response = await fetch(...request)
        onReached(true)
        return response
      } catch (error) {
        if (!(error instanceof DOMException && error.name === 'AbortError')) onReached(false)
        throw error
      }
    },
    cookies: () => document.cookie,
    onSignedOut,
  })
}
