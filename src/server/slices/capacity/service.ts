import { CAPACITY_DIMENSIONS, DIMENSION_FACTS, type CapacityDimension } from '../../../shared/capacity/dimensions.ts'
import type { capacity } from '../../../shared/contract/capacity.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import type { DimensionUse, DomainMonitor } from './domain-monitor.ts'
import { readHistory } from './history-store.ts'
import { HISTORY_MS } from './history-writer.ts'
import { domainExists, setTargets, type NewTarget, type OwnTargets } from './targets-store.ts'

export interface CapacityDeps {
  readonly datastore: Datastore
  readonly capacityMonitor: DomainMonitor
  readonly intervalMs: number
  /** How long it takes until the next sample begins. */
  readonly nextInMs: () => number
}

/** Serves the capacity of Domains. The last sample is answered from memory. */
export function createCapacity(deps: CapacityDeps): Handlers<typeof capacity> {
  const { datastore, capacityMonitor, intervalMs, nextInMs } = deps
  const db = () => datastore.pool('interactive')
  return {
    async GetDomainCapacity(_ctx, { domain_id: domainId }) {
      const use = capacityMonitor.of(domainId)
      const sampledAtMs = capacityMonitor.sampledAtMs()
      if (use !== undefined && sampledAtMs !== undefined)
        return {
          domain_id: domainId,
          sampled_at: new Date(sampledAtMs).toISOString(),
          interval_seconds: intervalMs / 1000,
          dimensions: use.dimensions.map(toAnswer),
        }
      if (!(await domainExists(db(), domainId))) throw problem('domain_not_found')
      throw problem('capacity_not_sampled', { retry_after_seconds: Math.max(1, Math.ceil(nextInMs() / 1000)) })
    },

    async SetCapacityTargets(ctx, { domain_id: domainId, body }) {
      const named = namedIn(body)
      if (named.length === 0) {
        const detail = `must name at least one of ${CAPACITY_DIMENSIONS.join(', ')}`
        throw problem('invalid_body', { errors: [{ pointer: '', detail }] })
      }
      const { before, after } = await ctx.change(async (change) => {
        if (!(await holdDomain(change.db, domainId))) throw problem('domain_not_found')
        const targets = Object.fromEntries(named.map(({ dimension, target }) => [dimension, target]))
        const payload = { domain_id: domainId, targets }
        change.emit({ event: 'CapacityTargetsUpdated', domainId, aggregate: `domain:${domainId}`, payload })
        return setTargets(change.db, domainId, named)
      })
      return {
        domain_id: domainId,
        targets: CAPACITY_DIMENSIONS.map((dimension) => ({
          dimension,
          target: targetIn(after, dimension),
          former_target: targetIn(before, dimension),
          is_default: !after.has(dimension),
        })),
      }
    },

    async GetDomainCapacityHistory(ctx, { domain_id: domainId, dimension, since }) {
      const sinceMs = Math.max(since === undefined ? 0 : Date.parse(since), ctx.nowMs - HISTORY_MS)
      const points = await readHistory(db(), { domainId, dimension, since: new Date(sinceMs) })
      if (points === undefined) throw problem('domain_not_found')
      return {
        domain_id: domainId,
        dimension,
        unit: DIMENSION_FACTS[dimension].unit,
        points: points.map(({ hour, used_max, target }) => ({
          hour: hour.toISOString(),
          used_max,
          target: Number(target),
        })),
      }
    },
  }
}

function toAnswer({ dimension, used, target, ratio, isOver, daysUntilFull }: DimensionUse) {
  const { unit, isEnforced } = DIMENSION_FACTS[dimension]
  return {
    dimension,
    unit,
    used,
    target,
    ratio,
    enforced: isEnforced,
    over_threshold: isOver,
    days_until_full: daysUntilFull,
  }
}

function targetIn(own: OwnTargets, dimension: CapacityDimension): number {
  return own.get(dimension) ?? DIMENSION_FACTS[dimension].defaultTarget
}

function namedIn(body: Readonly<Partial<Record<CapacityDimension, number | null | undefined>>>): NewTarget[] {
  return CAPACITY_DIMENSIONS.flatMap((dimension) => {
    const target = body[dimension]
    return target === undefined ? [] : [{ dimension, target }]
  })
}
