import type { VNode } from 'preact'
import { STATES } from '../model/fleet.ts'
import { counted, numberText, spanOf } from '../model/format.ts'
import { stackedPaths, totalOf, type Sample } from '../model/samples.ts'
import { useConsole } from './context.ts'
import { Panel, StateShape, stateWord } from './parts.tsx'
import { Table } from './table.tsx'

const BOX = { width: 600, height: 160 }
/** Rows of the table beside the chart. */
const ROWS_MAX = 12

/** How many nodes were in each state, as this page saw it. */
export function ReachabilityChart(): VNode {
  const { samples } = useConsole().fleet
  const [first, last] = [samples[0], samples.at(-1)]
  return (
    <Panel
      title="Reachability over time"
      hint="As this page has seen it while it was shown; at most two hours. The metrics of the server go further back."
    >
      {first === undefined || last === undefined || samples.length < 2 ? (
        <p class="muted chart-wait">The chart begins with the next sample, in about 15 seconds.</p>
      ) : (
        <Chart samples={samples} first={first} last={last} />
      )}
    </Panel>
  )
}

interface ChartProps {
  readonly samples: readonly Sample[]
  readonly first: Sample
  readonly last: Sample
}

function Chart({ samples, first, last }: ChartProps): VNode {
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
        <SampleTable samples={samples} />
      </details>
    </>
  )
}

function SampleTable({ samples }: { readonly samples: readonly Sample[] }): VNode {
  return (
    <Table
      caption="Nodes by reachability, the newest sample first"
      columns={[
        { head: 'Time', cell: ({ atMs }) => new Date(atMs).toLocaleTimeString() },
        ...STATES.map((state) => ({
          head: stateWord(state),
          cell: (sample: Sample) => numberText(sample[state]),
          isNumber: true as const,
        })),
      ]}
      rows={samples.toReversed().slice(0, ROWS_MAX)}
      keyOf={({ atMs }) => String(atMs)}
    />
  )
}
