/** Most objects that an example shows of one list. */
const ITEMS_MAX = 2
/** Longest text that is shown whole. */
const TEXT_MAX = 2_000

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g
const CREDENTIAL = /\b(psk|nsk|jtk)_[a-z0-9]+_[0-9a-f]{32}(_[\w-]+)?/g
const JWT = /\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g
const HEX_256 = /\b[0-9a-f]{64}\b/gi
const BASE64_256 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{43}(?=$|[^A-Za-z0-9+/_-])/g
const ADDRESS = /127\.0\.0\.1:\d+/g
const MESH_ADDRESS = /\b100\.64\.\d+\.\d+\b/g

/** Members whose numbers or texts differ from run to run. */
const FIXED: Readonly<Record<string, unknown>> = {
  correlation_id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b',
  next_cursor: 'opaque-text-of-the-server',
  state_of_sign_in: 'opaque-text-of-the-server',
  device_code: 'EXAMPLE-device-code-shown-only-once',
  user_code: 'WDJB-MJHT',
  one_time_password: 'EXAMPLE-one-time-password',
  nbf: 1_764_144_000,
  exp: 1_764_230_400,
  signature: 'EXAMPLE-signature',
}

/**
 * Makes a function that puts fixed values in the places of those that differ from run to run. One value gets the same
 * replacement at each place of one call, so that ids in a request and its answer still agree.
 */
export function createNormaliser(): (value: unknown) => unknown {
  const ids = new Map<string, string>()

  /** A UUIDv7 for the n-th id of the call. */
  function idFor(found: string): string {
    const known = ids.get(found)
    if (known !== undefined) return known
    const made = `01935b5e-8f3a-7c61-9d0a-${(ids.size + 1).toString(16).padStart(12, '0')}`
    ids.set(found, made)
    return made
  }

  function textOf(text: string): string {
    return text
      .replaceAll(JWT, 'eyJFWEFNUExFIjoxfQ.eyJFWEFNUExFIjoxfQ.EXAMPLE')
      .replaceAll(CREDENTIAL, (_, kind: string, _rest, secret?: string) =>
        secret === undefined ? `${kind}_test_${'0'.repeat(32)}` : `${kind}_test_${'0'.repeat(32)}_${secretOf()}`,
      )
      .replaceAll(/\bx(?=[0-9a-f]{8}-)/g, 'example-')
      .replaceAll(UUID, idFor)
      .replaceAll(/example-01935b5e-8f3a-7c61-9d0a-0*([0-9a-f]+)/g, 'example-$1')
      .replaceAll(INSTANT, (found) =>
        /\.\d{9}Z$/.test(found) ? '2026-11-26T08:00:00.000000000Z' : '2026-11-26T08:00:00.000Z',
      )
      .replaceAll(HEX_256, '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08')
      .replaceAll(BASE64_256, 'RVhBTVBMRS1FWEFNUExFLUVYQU1QTEUtRVhBTVBMRSE')
      .replaceAll(ADDRESS, 'ctl.example:443')
      .replaceAll(MESH_ADDRESS, '100.64.0.7')
      .slice(0, TEXT_MAX)
  }

  function member(name: string, value: unknown): unknown {
    return name in FIXED && typeof value === typeof FIXED[name] ? FIXED[name] : normalise(value)
  }

  function normalise(value: unknown): unknown {
    if (typeof value === 'string') return textOf(value)
    if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map(normalise)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [textOf(name), member(name, each)]))
  }
  return normalise
}

/** 40 characters that nobody takes for a secret. */
function secretOf(): string {
  return 'EXAMPLE'.padEnd(40, '0')
}
