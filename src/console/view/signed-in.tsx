import type { VNode } from 'preact'
import { useEffect, useRef, useReducer, useState } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import type { Domain, Me } from '../api/operations.ts'
import { DOMAINS_MAX } from '../api/read-fleet.ts'
import type { ViewName } from '../model/route.ts'
import { ApprovalsView } from './approvals.tsx'
import { AuditView } from './audit.tsx'
import { CapacityView } from './capacity.tsx'
import { Confirmation, type Done } from './confirmation.tsx'
import { ConsoleContext, type ShownDomain } from './context.ts'
import { FleetView } from './fleet.tsx'
import { Header } from './header.tsx'
import { NodesView } from './nodes.tsx'
import { TopologyView } from './topology.tsx'
import { useFleet } from './use-fleet.ts'
import { useLive, useNow, useRoute } from './use-page.ts'
import { useWaiting } from './use-waiting.ts'
import { ViolationsView } from './violations.tsx'

const COMPONENTS: Readonly<Record<ViewName, () => VNode>> = {
  fleet: FleetView,
  nodes: NodesView,
  topology: TopologyView,
  approvals: ApprovalsView,
  violations: ViolationsView,
  capacity: CapacityView,
  audit: AuditView,
}

interface SignedInProps {
  readonly api: Api
  readonly me: Me
  readonly domains: readonly Domain[]
  readonly isReached: boolean
}

/** The console of a person: the header, and the view that the address names. */
export function SignedIn({ api, me, domains, isReached }: SignedInProps): VNode {
  const route = useRoute()
  const domain = domainOf(route.domain, domains, me)
  const mayReadDomain = mayRead(domain, domains)
  const nodeId = route.view === 'nodes' ? route.id : undefined
  const { presence, liveness, ...live } = useLive({ domainId: domain.id, mayReadDomain, nodeId })
  const [spoken, announce] = useState('')
  const [decisions, refresh] = useReducer<number, void>((count) => count + 1, 0)
  const isCurrent = (): boolean => isReached && liveness === 'live' && presence.now() === 'shown'
  const fleet = useFleet({ api, domainId: domain.id, mayReadDomain, live, decisions, isCurrent })
  const waiting = useWaiting({ api, domainId: domain.id, mayReadDomain, changes: live.changes, decisions, announce })
  const nowMs = useNow(live.changes)
  const [done, confirm] = useDone(`${domain.id} ${route.view}`)
  useFocusOnView(`${domain.id} ${route.view} ${route.id ?? ''}`)
  const View = COMPONENTS[route.view]
  return (
    <ConsoleContext.Provider
      value={{
        api,
        me,
        domains,
        domain,
        mayReadDomain,
        route,
        fleet,
        waiting,
        ...live,
        decisions,
        refresh,
        announce,
        confirm,
        nowMs,
      }}
    >
      <a class="skip" href="#view" onClick={focusView}>
        Skip to the content
      </a>
      <Header liveness={isReached ? liveness : 'offline'} />
      <main class="page" id="main">
        {!isReached && (
          <p class="failure" role="alert">
            The server cannot be reached. What you see is the last that it answered; the console goes on asking.
          </p>
        )}
        {route.domain !== undefined && route.domain !== domain.slug && (
          <p class="notice">
            There is no Domain “{route.domain}” that you may read. This is {domain.display_name}.
          </p>
        )}
        <View key={domain.id} />
      </main>
      <p class="unseen" role="status">
        {spoken}
      </p>
      <Confirmation done={done} onClose={() => closed(confirm)} />
    </ConsoleContext.Provider>
  )
}

/** What the person has done in a view; nothing in another view. */
function useDone(view: string): readonly [done: Done | undefined, confirm: (done: Done | undefined) => void] {
  const [done, confirm] = useState<Done | undefined>(undefined)
  useEffect(() => confirm(undefined), [view])
  return [done, confirm]
}

/** Closes the confirmation. Its button goes, and the focus would go with it. */
function closed(confirm: (done: undefined) => void): void {
  confirm(undefined)
  document.getElementById('view')?.focus()
}

/** The Domain of the address, else that of the person, else the first that the person may read. */
function domainOf(slug: string | undefined, domains: readonly Domain[], me: Me): ShownDomain {
  const own = { id: me.domain_id, slug: me.domain_slug, display_name: me.domain_display_name }
  const named = domains.find((domain) => domain.slug === slug)
  return named ?? domains.find(({ id }) => id === me.domain_id) ?? domains[0] ?? own
}

/** The list has the Domains that the person may read; of a list that was cut, it is not known. */
const mayRead = ({ id }: ShownDomain, domains: readonly Domain[]): boolean =>
  domains.length >= DOMAINS_MAX || domains.some((domain) => domain.id === id)

function focusView(event: Event): void {
  event.preventDefault()
  document.getElementById('view')?.focus()
}

/** Puts the focus on the heading of a new view, as a new page would. Not at the start, where the browser decides. */
function useFocusOnView(view: string): void {
  const shown = useRef(view)
  useEffect(() => {
    if (shown.current === view) return
    shown.current = view
    const heading = document.getElementById('view')
    document.title = `${heading?.textContent ?? 'Console'} · ctl`
    heading?.focus()
    scrollTo(0, 0)
  }, [view])
}
