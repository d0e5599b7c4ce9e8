import type { VNode } from 'preact'
import type { CapacityUse } from '../api/operations.ts'
import { amountText, counted } from '../model/format.ts'
import { fragmentOf } from '../model/route.ts'
import { CapacityChart } from './capacity-chart.tsx'
import { useConsole } from './context.ts'
import { Heading, LoadedView, Panel, Time } from './parts.tsx'
import { useRead } from './use-read.ts'

export const DIMENSION_NAMES: Readonly<Record<CapacityUse['dimension'], string>> = {
  nodes: 'Nodes',
  sse_fanout: 'Events sent',
  secret_reads: 'Secret reads',
  mediated_sessions: 'Sessions',
  observability_ingest: 'Reports from nodes',
  action_executions: 'Open executions',
}

/** What the Domain uses of its capacity, and how that developed. */
export function CapacityView(): VNode {
  const { api, domain, route } = useConsole()
  const capacity = useRead({ key: domain.id, topics: ['capacity'], isOfDomain: true }, (signal) =>
    api.call('GetDomainCapacity', { domain_id: domain.id }, signal),
  )
  const { value } = capacity
  const shown =
    value?.dimensions.find(({ dimension }) => dimension === route.filters['dimension']) ?? value?.dimensions[0]
  return (
    <>
      <Heading
        note={
          value && (
            <>
              Sampled <Time at={value.sampled_at} isPast />
            </>
          )
        }
      >
        Capacity
      </Heading>
      <LoadedView of={capacity} what="the capacity">
        {({ dimensions }) => (
          <ul class="gauges">
            {dimensions.map((use) => (
              <Gauge key={use.dimension} use={use} isShown={use.dimension === shown?.dimension} />
            ))}
          </ul>
        )}
      </LoadedView>
      {shown !== undefined && (
        <Panel
          title={`${DIMENSION_NAMES[shown.dimension]}, hour by hour`}
          hint="The largest value of each hour, for the last 35 days"
        >
          <CapacityChart dimension={shown.dimension} />
        </Panel>
      )}
    </>
  )
}

function Gauge({ use, isShown }: { readonly use: CapacityUse; readonly isShown: boolean }): VNode {
  const { domain } = useConsole()
  const { dimension, used, target, unit, ratio } = use
  const of = target === 0 ? 'no target' : `of ${amountText(target, unit)}`
  const filters = { dimension }
  return (
    <li class="card gauge">
      <h2>
        <a
          href={fragmentOf({ domain: domain.slug, view: 'capacity', filters })}
          aria-current={isShown ? 'true' : undefined}
        >
          {DIMENSION_NAMES[dimension]}
        </a>
      </h2>
      <p class="gauge-use">
        <strong>{amountText(used, unit)}</strong> <span class="muted">{of}</span>
      </p>
      {ratio !== null && <Bar ratio={ratio} label={DIMENSION_NAMES[dimension]} isOver={use.over_threshold} />}
      <p class="small muted">{wordsOf(use)}</p>
    </li>
  )
}

function Bar({
  ratio,
  label,
  isOver,
}: {
  readonly ratio: number
  readonly label: string
  readonly isOver: boolean
}): VNode {
  const percent = Math.round(ratio * 100)
  return (
    <div
      class={isOver ? 'gauge-bar is-over' : 'gauge-bar'}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.min(100, percent)}
      aria-valuetext={`${percent} %`}
    >
      <span style={{ width: `${Math.min(100, percent)}%` }} />
    </div>
  )
}

function wordsOf({ ratio, over_threshold: isOver, enforced, days_until_full: days }: CapacityUse): string {
  const words = [
    ...(ratio === null ? [] : [`${Math.round(ratio * 100)} % used`]),
    ...(isOver ? ['over the threshold'] : []),
    ...(days === null ? [] : [`full in ${counted(Math.max(1, Math.round(days)), 'day')}`]),
    ...(enforced ? ['calls beyond the target are refused'] : []),
  ]
  return words.join(' · ') || 'No target is set'
}
