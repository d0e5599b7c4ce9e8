import type { VNode } from 'preact'
import type { CapacityHistory, CapacityUse } from '../api/operations.ts'
import { amountText, counted } from '../model/format.ts'
import { historyLine } from '../model/history-line.ts'
import { useConsole } from './context.ts'
import { Empty, LoadedView } from './parts.tsx'
import { Table } from './table.tsx'
import { useRead } from './use-read.ts'

const BOX = { width: 900, height: 200 }
/** Hours are written once an hour. */
const APART_MS = 60_000
const ROWS_MAX = 24

/** The largest sample of each hour of one dimension. */
export function CapacityChart({ dimension }: { readonly dimension: CapacityUse['dimension'] }): VNode {
  const { api, domain } = useConsole()
  const history = useRead(
    { key: `${domain.id} ${dimension}`, topics: ['unknown'], apartMs: APART_MS, isOfDomain: true },
    (signal) => api.call('GetDomainCapacityHistory', { domain_id: domain.id, dimension }, signal),
  )
  return (
    <LoadedView of={history} what="the history">
      {(value) => (value.points.length === 0 ? <Empty>There is no sample yet.</Empty> : <Chart history={value} />)}
    </LoadedView>
  )
}

/** An hour by its beginning: the samples of the first one may have begun later. */
const hourText = (hour: string): string => `the hour from ${new Date(hour).toLocaleString([], HOUR_FORMAT)}`

const HOUR_FORMAT = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const

type Point = CapacityHistory['points'][number]

function Chart({ history: { points, unit } }: { readonly history: CapacityHistory }): VNode {
  const { line, dots, most } = historyLine(points, BOX)
  const [first, last] = [points[0], points.at(-1)]
  return (
    <>
      <div class="chart line-chart">
        <span class="chart-top muted">{amountText(most, unit)}</span>
        <svg
          viewBox={`0 0 ${BOX.width} ${BOX.height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`At most ${amountText(most, unit)} in ${counted(points.length, 'hour')}`}
        >
          <path class="line" d={line} vector-effect="non-scaling-stroke" />
          <path class="line is-dots" d={dots} vector-effect="non-scaling-stroke" />
        </svg>
        <p class="chart-ends muted">
          {first !== undefined && points.length > 1 && <span>{hourText(first.hour)}</span>}
          {last !== undefined && <span>{hourText(last.hour)}</span>}
        </p>
      </div>
      <details>
        <summary>As a table</summary>
        <Table
          caption="The last 24 hours with a sample, the newest first"
          columns={[
            { head: 'Hour from', cell: ({ hour }: Point) => new Date(hour).toLocaleString() },
            { head: 'At most', cell: ({ used_max: used }: Point) => amountText(used, unit), isNumber: true },
            {
              head: 'Target',
              cell: ({ target }: Point) => (target === 0 ? 'none' : amountText(target, unit)),
              isNumber: true,
            },
          ]}
          rows={points.toReversed().slice(0, ROWS_MAX)}
          keyOf={({ hour }) => hour}
        />
      </details>
    </>
  )
}
