import { problem } from '../../../shared/problems.ts'
import type { MemberError } from '../../../shared/problems/row.ts'
import { isTimeZone } from './maintenance-window.ts'
import type { MaintenanceWindow, Wave } from './tables.ts'

interface Plan {
  readonly waves: readonly Wave[]
  readonly window: MaintenanceWindow | null
}

/** @throws Problem `invalid_rollout` where waves or window break a rule over several of their members. */
export function assertUsable({ waves, window }: Plan): void {
  const errors = [...waveErrors(waves), ...(window === null ? [] : windowErrors(window))]
  if (errors.length > 0) throw problem('invalid_rollout', { errors })
}

function waveErrors(waves: readonly Wave[]): readonly MemberError[] {
  const errors = waves.flatMap((wave, index) => {
    const [member, detail] = faultOf(wave, waves.slice(0, index)) ?? []
    return detail === undefined ? [] : [{ pointer: `/waves/${index}/${member}`, detail }]
  })
  const last = waves.at(-1)?.percent ?? 100
  if (last === 100) return errors
  return [...errors, { pointer: `/waves/${waves.length - 1}/percent`, detail: 'must be 100 in the last wave' }]
}

/** What is wrong with a wave behind the earlier ones: the member, and the rule. */
function faultOf(
  { percent, update_group: group }: Wave,
  earlier: readonly Wave[],
): readonly [string, string] | undefined {
  const most = Math.max(0, ...earlier.map((wave) => wave.percent ?? 0))
  if (percent !== undefined && percent <= most) return ['percent', `must be more than the ${most} of an earlier wave`]
  const isRepeated = group !== undefined && earlier.some((wave) => wave.update_group === group)
  return isRepeated ? ['update_group', 'must differ from those of the other waves'] : undefined
}

function windowErrors({ time_zone: zone, from, to }: MaintenanceWindow): readonly MemberError[] {
  return [
    ...(isTimeZone(zone)
      ? []
      : [{ pointer: '/window/time_zone', detail: 'must be an IANA time zone such as Europe/Berlin' }]),
    ...(from === to ? [{ pointer: '/window/to', detail: 'must differ from from' }] : []),
  ]
}
