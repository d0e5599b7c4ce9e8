import type { VNode } from 'preact'
import type { Liveness } from '../api/watch-domain.ts'
import { fragmentOf, VIEWS, type ViewName } from '../model/route.ts'
import { Bar } from './bar.tsx'
import { useConsole } from './context.ts'

const TITLES: Readonly<Record<ViewName, string>> = {
  fleet: 'Fleet',
  nodes: 'Nodes',
  topology: 'Topology',
  approvals: 'Approvals',
  violations: 'Violations',
  capacity: 'Capacity',
  audit: 'Audit',
}

const LIVENESS = {
  live: { text: 'Live', title: 'Changes are shown as they happen' },
  polling: { text: 'Every 15 s', title: 'The console asks for changes every 15 seconds' },
  paused: { text: 'Paused', title: 'The page was not used for 12 hours; move the pointer or press a key to go on' },
  offline: { text: 'Offline', title: 'The server does not answer at the moment' },
} as const

interface HeaderProps {
  readonly liveness: Liveness | 'offline'
}

export function Header({ liveness }: HeaderProps): VNode {
  const { me } = useConsole()
  const { text, title } = LIVENESS[liveness]
  return (
    <Bar below={<Navigation />}>
      <DomainSwitcher />
      <span class="grow" />
      <span class={`liveness is-${liveness}`} title={title}>
        {text}
      </span>
      <a class="person" href="/" title="Your account, and signing out">
        {me.display_name}
      </a>
    </Bar>
  )
}

function DomainSwitcher(): VNode {
  const { domain, domains, route } = useConsole()
  if (domains.length < 2) return <span class="domain">{domain.display_name}</span>
  const go = (event: Event): void => {
    if (!(event.target instanceof HTMLSelectElement)) return
    location.hash = fragmentOf({ domain: event.target.value, view: route.view })
  }
  return (
    <span class="domain">
      <select aria-label="Domain" value={domain.slug} onChange={go}>
        {domains.map(({ id, slug, display_name: name }) => (
          <option key={id} value={slug}>
            {name === slug ? name : `${name} (${slug})`}
          </option>
        ))}
      </select>
    </span>
  )
}

function Navigation(): VNode {
  const { domain, route, waiting } = useConsole()
  const countOf: Partial<Record<ViewName, number | undefined>> = {
    approvals: waiting.approvals.value?.length,
    violations: waiting.violations.value?.length,
  }
  return (
    <nav aria-label="Views">
      <ul>
        {VIEWS.map((view) => (
          <li key={view}>
            <a href={fragmentOf({ domain: domain.slug, view })} aria-current={view === route.view ? 'page' : undefined}>
              {TITLES[view]}
              <Badge count={countOf[view]} />
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** How many wait in a view. */
function Badge({ count }: { readonly count: number | undefined }): VNode | null {
  if (count === undefined || count === 0) return null
  return (
    <span class="badge">
      {count >= 200 ? '200+' : count}
      <span class="unseen"> to decide</span>
    </span>
  )
}
