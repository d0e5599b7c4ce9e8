const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const
const DURATION = /^(?:\d+(?:\.\d+)?[smhdw])+$/
const PART = /(\d+(?:\.\d+)?)([smhdw])/g

/** Reads `30s`, `15m`, `12h`, `90d`, `1h30m`, or bare seconds; undefined for anything else. In seconds. */
export function parseDuration(text: string): number | undefined {
  if (/^\d{1,12}(\.\d{1,6})?$/.test(text)) return Number(text)
  if (text.length > 40 || !DURATION.test(text)) return undefined
  let seconds = 0
  for (const [, amount, unit] of text.matchAll(PART))
    seconds += Number(amount) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS]
  return seconds
}

const STEPS = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3600 },
  { name: 'm', seconds: 60 },
  { name: 's', seconds: 1 },
] as const

/** A length of time in its largest whole unit: `3m`, `5h`, `89d`. */
export function shortDuration(seconds: number): string {
  const whole = Math.floor(Math.abs(seconds))
  const step = STEPS.find((one) => whole >= one.seconds)
  return step ? `${Math.floor(whole / step.seconds)}${step.name}` : '0s'
}
