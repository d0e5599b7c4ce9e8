/** Most objects that an example shows of one list. */
const ITEMS_MAX = 2
/** Longest text that is shown whole. */
const TEXT_MAX = 2_000

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g
const NOW = '2026-11-26T08:00:00.000Z'
const LATER = '2026-12-26T08:00:00.000Z'
/** Members with an instant at which something ends. */
const ENDS = /(^|_)(expires_at|retires_at|until|not_after)$/

/** Texts that differ from run to run, and the visibly invented ones in their places, in this order. */
const INVENTED: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g, 'eyJFWEFNUExFIjoxfQ.eyJFWEFNUExFIjoxfQ.EXAMPLE'],
  [/\b(psk|nsk|jtk)_[a-z0-9]+_[0-9a-f]{32}(_[\w-]+)?/g, credentialLike],
  [/\bwhsec_[A-Za-z0-9+/]+=*/g, 'whsec_RVhBTVBMRS1FWEFNUExFLUVYQU1QTEUtRVhBTVBMRSE='],
  // Not the hash before the first row of a chain.
  [/\b(?!0{64}\b)[0-9a-f]{64}\b/gi, '0123456789abcdef'.repeat(4)],
  [/(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{43}(?=$|[^A-Za-z0-9+/_-])/g, 'RVhBTVBMRS1FWEFNUExFLUVYQU1QTEUtRVhBTVBMRSE'],
  [/(?<=user_code=)[A-Z]{4}-[A-Z]{4}/g, 'WDJB-MJHT'],
  [/http:\/\/127\.0\.0\.1:\d+/g, 'https://ctl.example'],
  [/http%3A%2F%2F127\.0\.0\.1%3A\d+/g, 'https%3A%2F%2Fctl.example'],
  [/http:\/\/localhost:\d+/g, 'https://idp.example'],
  [/127\.0\.0\.1:\d+/g, 'idp.example'],
  // Not the block that addresses come from.
  [/\b100\.64\.\d+\.\d+\b(?!\/)/g, '100.64.0.7'],
]

/** Members whose numbers or texts differ from run to run. */
const FIXED: Readonly<Record<string, unknown>> = {
  correlation_id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b',
  next_cursor: 'opaque-text-of-the-server',
  device_code: 'EXAMPLE-device-code-shown-only-once',
  user_code: 'WDJB-MJHT',
  one_time_password: 'EXAMPLE-one-time-password',
  password: 'EXAMPLE-password',
  client_secret: 'EXAMPLE-client-secret',
  nbf: 1_764_144_000,
  exp: 1_764_230_400,
  signature: 'EXAMPLE-signature',
  // The first one of docs/vectors/edge-envelope.json.
  envelope: 'AAECAwQFBgcICQoLzlL0Rx2dbQPwxeDPW2LfoQG33ocndWiRYX8/iPrh2QibsmJ7GemMI0B5+mkCOTaI',
  // How far a chain of audit rows has got.
  rows: 512,
  verified_through: 512,
  sealed_through: 512,
  unsealed: 3,
  last_duration_ms: 120,
  signed_through: 500,
  through_seq: 500,
  heads_verified: 5,
}

/** Members that are written a moment after the call, so that an answer may show the next one or none yet. */
const WRITTEN_LATER: ReadonlySet<string> = new Set(['last_used_at', 'last_sign_in_at'])

type Members = Readonly<Record<string, unknown>>

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

  function textOf(text: string, instant: string): string {
    let invented = text
    for (const [found, by] of INVENTED) {
      invented = typeof by === 'string' ? invented.replaceAll(found, by) : invented.replaceAll(found, by)
    }
    return invented
      .replaceAll(/\bx(?=[0-9a-f]{8}-)/g, 'example-')
      .replaceAll(UUID, idFor)
      .replaceAll(/example-01935b5e-8f3a-7c61-9d0a-0*([0-9a-f]+)/g, 'example-$1')
      .replaceAll(INSTANT, (found) => (/\.\d{9}Z$/.test(found) ? instant.replace('Z', '000000Z') : instant))
      .slice(0, TEXT_MAX)
  }

  function member(name: string, value: unknown): unknown {
    if (WRITTEN_LATER.has(name)) return null
    if (name in FIXED && typeof value === typeof FIXED[name]) return FIXED[name]
    if (name === 'kid' && typeof value === 'string' && /^[\w-]{8}$/.test(value)) return 'EXAMPLE1'
    return typeof value === 'string' && ENDS.test(name) ? textOf(value, LATER) : normalise(value)
  }

  function normalise(value: unknown): unknown {
    if (typeof value === 'string') return textOf(value, NOW)
    if (Array.isArray(value)) return fullest(value).map(normalise)
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).map(([name, each]) => [textOf(name, NOW), member(name, each)] as const)
    return counted(Object.fromEntries(members))
  }
  return normalise
}

/** The items with the most members, in their order: where lists are ordered by digests, the first ones differ from run to run. */
function fullest(items: readonly unknown[]): readonly unknown[] {
  const kept = items.toSorted((a, b) => membersOf(b) - membersOf(a)).slice(0, ITEMS_MAX)
  return items.filter((each) => kept.includes(each)).slice(0, ITEMS_MAX)
}

function membersOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

/** A credential of the same length whose secret part, where there is one, nobody takes for a secret. */
function credentialLike(found: string): string {
  const [kind = '', , , ...secret] = found.split('_')
  const fake = secret.length === 0 ? '' : `_${'EXAMPLE'.padEnd(secret.join('_').length, '0')}`
  return `${kind}_test_${'0'.repeat(32)}${fake}`
}

/** Fixes what depends on other calls in the Domain: its counts, the place of a signed head, and how much is signed. */
function counted(members: Members): Members {
  const { target } = members
  if (typeof target === 'number' && 'used' in members) return { ...members, used: target / 4, ratio: 0.25 }
  if (typeof target === 'number' && 'used_max' in members) return { ...members, used_max: target / 4 }
  if ('never_reported' in members) return { ...members, healthy: 47, stale: 2, unreachable: 1, never_reported: 0 }
  if ('signature' in members && 'seq' in members) return { ...members, seq: FIXED['through_seq'] }
  // Of a chain that has just begun one row is signed, or more.
  const { items } = members
  return 'through_seq' in members && Array.isArray(items) ? { ...members, items: items.slice(0, 1) } : members
}
