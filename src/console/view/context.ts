import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Api } from '../api/client.ts'
import type { Domain, Me, NodeSummary } from '../api/operations.ts'
import type { Changes } from '../model/changes.ts'
import type { SeenEvent } from '../model/domain-event.ts'
import type { Route } from '../model/route.ts'
import type { Sample } from '../model/samples.ts'
import type { Done } from './confirmation.tsx'
import type { Loaded } from './use-load.ts'
import type { Waiting } from './use-waiting.ts'

/** The nodes of the Domain, and how their number in each state developed. */
export interface FleetData {
  readonly nodes: Loaded<readonly NodeSummary[]>
  /** What the server has of it. */
  readonly history: Loaded<readonly Sample[]>
  /** The same with what the page has seen. */
  readonly samples: readonly Sample[]
}

/** A Domain as far as the console shows it. */
export type ShownDomain = Pick<Domain, 'id' | 'slug' | 'display_name'>

/** What every view needs. */
export interface ConsoleState {
  readonly api: Api
  readonly me: Me
  readonly domains: readonly Domain[]
  readonly domain: ShownDomain
  /** Whether the person may read the Domain as a whole, not only some of its Projects or nodes. Others are not asked for what is of the whole: each time would be a denial in the audit. */
  readonly mayReadDomain: boolean
  readonly route: Route
  readonly fleet: FleetData
  readonly waiting: Waiting
  /** What the page has seen on the stream of the Domain. */
  readonly events: readonly SeenEvent[]
  /** Grow when something may have changed on the server. */
  readonly changes: Changes
  /** How many decisions the person has taken here. */
  readonly decisions: number
  /** Has every view ask again at once, after a decision. */
  readonly refresh: () => void
  /** Speaks to people who listen to the page. */
  readonly announce: (text: string) => void
  /** Shows what the person has done. */
  readonly confirm: (done: Done) => void
  readonly nowMs: number
}

export const ConsoleContext = createContext<ConsoleState | undefined>(undefined)

/** The state of the console. For components below the signed-in shell alone. */
export function useConsole(): ConsoleState {
  const state = useContext(ConsoleContext)
  if (state === undefined) throw new Error('the view is outside of the console')
  return state
}
