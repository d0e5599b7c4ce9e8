const SHARE = /^(\d{1,6}(?:\.\d{1,6})?)%$/
const RATE = /^(\d{1,6}(?:\.\d{1,6})?)%\/(s|min|h)$/
const MINUTES = { s: 1 / 60, min: 1, h: 60 } as const

/** Reads `10%` as 0.1, up to `100%`; undefined for anything else. */
export function parseShare(text: string): number | undefined {
  const share = Number(SHARE.exec(text)?.[1] ?? Number.NaN) / 100
  return share <= 1 ? share : undefined
}

/**
 * Reads `1%/min`, also `/s` and `/h`, as a share of the fleet per minute; 1 is each node once a minute. Undefined for
 * anything else.
 */
export function parseRate(text: string): number | undefined {
  const [, percent, unit] = RATE.exec(text) ?? []
  if (percent === undefined) return undefined
  return Number(percent) / 100 / MINUTES[unit as keyof typeof MINUTES]
}
