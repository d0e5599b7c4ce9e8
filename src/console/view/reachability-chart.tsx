import type { VNode } from 'preact'
import { STATES } from '../model/fleet.ts'
import { counted, numberText, spanOf } from '../model/format.ts'
import { fragmentOf } from '../model/route.ts'
import {
  CHART_PERIODS,
  chartPeriod,
  hasGaps,
  lastOfSteps,
  samplesSince,
  stackedPaths,
  totalOf,
  type ChartPeriod,
  type Sample,
} from '../model/samples.ts'
import { useConsole } from './context.ts'
import { Panel, StateShape, stateWord } from './parts.tsx'
import { Table } from './table.tsx'

const BOX = { width: 600, height: 160 }

const HINT = 'The server counts every 5 minutes, and this page adds what it sees.'
const HINT_OF_PAGE = 'What this page has seen. The counts of the server are for people who may read the whole Domain.'

/** How many nodes were in each state, as the server sampled it and this page saw it. */
export function ReachabilityChart(): VNode {
  const { route, mayReadDomain } = useConsole()
  const period = chartPeriod(route.filters['period'])
  return (
    <Panel title="Reachability over time" hint={mayReadDomain ? HINT : HINT_OF_PAGE}>
      <Periods chosen={period} />
      <HistoryFailure />
      <PeriodChart period={period} />
    </Panel>
  )
}

function Periods({ chosen }: { readonly chosen: ChartPeriod }): VNode {
  const { domain } = useConsole()
  return (
    <ul class="tabs" aria-label="Period">
      {CHART_PERIODS.map((period) => (
        <li key={period.name}>
          <a
            href={fragmentOf({ domain: domain.slug, view: 'fleet', filters: { period: period.name } })}
            aria-current={period === chosen ? 'true' : undefined}
          >
            {period.words}
          </a>
        </li>
      ))}
    </ul>
  )
}

function PeriodChart({ period }: { readonly period: ChartPeriod }): VNode {
  const { fleet, nowMs } = useConsole()
  const samples = samplesSince(fleet.samples, nowMs - period.ms)
  const [first, last] = [samples[0], samples.at(-1)]
  if (last !== undefined && samples.every((sample) => totalOf(sample) === 0))
    return <p class="muted chart-wait">No nodes in this Domain.</p>
  if (first === undefined || last === undefined || samples.length < 2)
    return <p class="muted chart-wait">The chart begins with the next sample, in about 15 seconds.</p>
  return <Chart samples={samples} first={first} last={last} period={period} />
}

/** Says why the chart may have only what the page has seen. */
function HistoryFailure(): VNode | null {
  const { failure } = useConsole().fleet.history
  if (failure === undefined) return null
  return <p class="muted hint">The samples of the server could not be read: {failure.message}</p>
}

interface ChartProps {
  readonly samples: readonly Sample[]
  readonly first: Sample
  readonly last: Sample
  readonly period: ChartPeriod
}

function Chart({ samples, first, last, period }: ChartProps): VNode {
  const most = Math.max(...samples.map(totalOf))
  const words = STATES.map((state) => `${stateWord(state).toLowerCase()} ${last[state]}`).join(', ')
  return (
    <>
      <div class="chart">
        <span class="chart-top muted">{counted(most, 'node')}</span>
        <svg
          viewBox={`0 0 ${BOX.width} ${BOX.height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Nodes by reachability over ${spanOf(last.atMs - first.atMs)}. Now: ${words}.`}
        >
          {stackedPaths(samples, BOX).map(({ state, path }) => (
            <path key={state} class={`area is-${state}`} d={path} />
          ))}
        </svg>
        <p class="chart-ends muted">
          <span>{spanOf(last.atMs - first.atMs)} ago</span>
          <span>now</span>
        </p>
      </div>
      {hasGaps(samples) && (
        <p class="muted small">A gap has no samples: no server was running then, or the Domain had no nodes.</p>
      )}
      <ul class="legend">
        {STATES.map((state) => (
          <li key={state} class="state">
            <StateShape state={state} />
            {stateWord(state)} {numberText(last[state])}
          </li>
        ))}
      </ul>
      <details>
        <summary>As a table</summary>
        <SampleTable samples={samples} period={period} />
      </details>
    </>
  )
}

function SampleTable({ samples, period }: Pick<ChartProps, 'samples' | 'period'>): VNode {
  return (
    <Table
      caption={`Nodes by reachability, the last sample of every ${period.stepWords}, the newest first`}
      columns={[
        { head: 'Time', cell: ({ atMs }) => new Date(atMs).toLocaleString() },
        ...STATES.map((state) => ({
          head: stateWord(state),
          cell: (sample: Sample) => numberText(sample[state]),
          isNumber: true as const,
        })),
      ]}
      rows={lastOfSteps(samples, period.stepMs)}
      keyOf={({ atMs }) => String(atMs)}
    />
  )
}
