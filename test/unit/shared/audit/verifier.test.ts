import { describe, expect, it } from 'vitest'
import { CHAIN_START, sealHash, type ChainPosition, type SealedDecision } from '../../../../src/shared/audit/chain.ts'
import type { SignatureKey, SignedPosition } from '../../../../src/shared/audit/signed-position.ts'
import { createChainVerifier, follow, type ChainReport } from '../../../../src/shared/audit/verifier.ts'
import { CHAIN, chainOfRows, decision, makeTestKey, nodeSha256 } from '../../../support/server/audit-chain.ts'

const KEY = makeTestKey('k1')
const ROWS = chainOfRows(6)
/** Computed once with another implementation (Python's json and hashlib). */
const VECTORS = [
  'c1bee7ecdd9b6bcb4e8943c147658ed0be0ad78fcbbdc557d70d842c0f252c99',
  '47f95813fbdea242185340900a25dd0d9342d3d0152bd0848a069be324616470',
  '7ab860b416bbe34c89e91e85e7e679a71eabbc205cfb12842eb5e6750bffff12',
  '124dfccd36be4f6d7b733e9f7ef469a8d4dab2cc363f94243b4f08a26cfbd9f9',
  '48606a2c3eecc31a367fbcca6ccf04c353a6a6248ab16fb371a363f7e2e7c854',
  '353829d6f7f4cc48c24e3a5ba32a5c793f3f47d8f29d95fb0eb28c31d2df8a2c',
]
const HEADS = [place(3), place(6)].map((one) => KEY.sign('head', one))

function place(seq: number): ChainPosition {
  const row = ROWS[seq - 1]
  if (row === undefined) throw new Error(`there is no row ${seq}`)
  return { seq, hash: row.hash }
}

interface Presented {
  readonly rows: readonly SealedDecision[]
  readonly heads: readonly SignedPosition[]
  readonly keys: readonly SignatureKey[]
  readonly start: ChainPosition
  readonly end: ChainPosition
}

const WHOLE: Presented = { rows: ROWS, heads: HEADS, keys: [KEY.verification], start: CHAIN_START, end: place(6) }

async function verify(changed: Partial<Presented>): Promise<ChainReport> {
  const { rows, heads, keys, start, end } = { ...WHOLE, ...changed }
  const verifier = createChainVerifier({ chain: CHAIN, start, sha256: nodeSha256, keys })
  await follow(verifier, rows, heads)
  return verifier.end(end)
}

const altered = (seq: number, change: Partial<SealedDecision>): readonly SealedDecision[] =>
  ROWS.map((row) => (row.seq === seq ? { ...row, ...change } : row))

/** Every row from `seq` on as somebody would write them who can compute hashes and cannot sign. */
function rewritten(seq: number): readonly SealedDecision[] {
  let previous: ChainPosition = CHAIN_START
  return ROWS.map((row) => {
    const changed = row.seq === seq ? { ...row, subject: 'user:mallory' } : row
    previous = { seq: row.seq, hash: sealHash(nodeSha256, previous, changed) }
    return { ...changed, ...previous }
  })
}

describe('The hash of a row', () => {
  it('is SHA-256 over its canonical JSON with its number and the hash before', () => {
    expect(sealHash(nodeSha256, CHAIN_START, decision(1))).toBe(
      nodeSha256(
        '{"at":"2026-03-01T08:00:00.001Z","context":{"item_count":1,"node.list.authz_errors":0},"correlation_id":"c-1","domain_id":"01935b5e-0000-7000-8000-000000000001","id":"01935b5e-8f3a-7c61-9d0a-000000000001","object":"platform:main","outcome":"granted","previous":"0000000000000000000000000000000000000000000000000000000000000000","reason":"granted","relation":"node.list","seq":1,"subject":"user:01935b5e-0000-7000-8000-000000000002"}',
      ),
    )
  })

  it('is what it was when the format was made', () => {
    expect(ROWS.map(({ hash }) => hash)).toEqual(VECTORS)
  })
})

describe('A chain', () => {
  it('verifies whole', async () => {
    expect(await verify({})).toEqual({
      verified: place(6),
      rows: 6,
      signedThrough: 6,
      headsVerified: 2,
      headsUnknown: 0,
      firstBad: undefined,
    })
  })

  it('verifies from any place on', async () => {
    const report = await verify({ start: place(2), rows: ROWS.slice(2) })
    expect(report).toMatchObject({ rows: 4, signedThrough: 6, firstBad: undefined })
  })

  it('without rows verifies nothing, and is not broken', async () => {
    expect(await verify({ rows: [], heads: [], end: CHAIN_START })).toMatchObject({
      verified: { seq: 0 },
      signedThrough: undefined,
      firstBad: undefined,
    })
  })

  const BAD_ID = decision(2).id
  it.each<[string, Partial<Presented>, ChainReport['firstBad']]>([
    ...(
      [
        { id: decision(9).id },
        { at: '2026-03-01T08:00:00.003Z' },
        { subject: 'user:mallory' },
        { relation: 'node.read' },
        { object: 'node:1' },
        { outcome: 'permission_denied' },
        { reason: 'because' },
        { correlation_id: 'c-3' },
        { context: { item_count: 3, 'node.list.authz_errors': 0 } },
        { context: { item_count: 2 } },
        { hash: 'f'.repeat(64) },
      ] satisfies Partial<SealedDecision>[]
    ).map((change): [string, Partial<Presented>, ChainReport['firstBad']] => [
      `an altered ${Object.keys(change).join()}`,
      { rows: altered(2, change) },
      { seq: 2, id: change.id ?? BAD_ID, reason: 'row_altered' },
    ]),
    [
      'a row of another Domain',
      { rows: altered(2, { domain_id: null }) },
      { seq: 2, id: BAD_ID, reason: 'foreign_row' },
    ],
    ['a row taken out', { rows: ROWS.filter(({ seq }) => seq !== 2) }, { seq: 2, reason: 'row_missing' }],
    ['the first row taken away', { rows: ROWS.slice(1) }, { seq: 1, reason: 'row_missing' }],
    [
      'rows that changed places',
      { rows: [1, 3, 2, 4, 5, 6].flatMap((seq) => ROWS[seq - 1] ?? []) },
      { seq: 2, reason: 'row_missing' },
    ],
    [
      'rows that changed places and numbers',
      {
        rows: [1, 3, 2, 4, 5, 6].flatMap((seq, index) =>
          ROWS[seq - 1] ? [{ ...ROWS[seq - 1], seq: index + 1 }] : [],
        ) as SealedDecision[],
      },
      { seq: 2, id: decision(3).id, reason: 'row_altered' },
    ],
    ['a row twice', { rows: [...ROWS.slice(0, 2), ...ROWS.slice(1)] }, { seq: 2, id: BAD_ID, reason: 'out_of_order' }],
    ['the last rows taken away', { rows: ROWS.slice(0, 5) }, { seq: 6, reason: 'rows_cut_off' }],
    [
      'the last rows and the heads over them taken away, the end still said',
      { rows: ROWS.slice(0, 4), heads: HEADS.slice(0, 1) },
      { seq: 5, reason: 'rows_cut_off' },
    ],
    ['all hashes computed anew', { rows: rewritten(2) }, { seq: 3, reason: 'head_mismatch' }],
    [
      'all hashes computed anew, heads and end too, without the key',
      { rows: rewritten(5), heads: HEADS.slice(0, 1), end: { seq: 6, hash: ROWS[5]?.hash ?? '' } },
      { seq: 6, reason: 'head_mismatch' },
    ],
    [
      'another key of that name',
      { keys: [makeTestKey('k1', 'another').verification] },
      { seq: 3, reason: 'bad_signature' },
    ],
    ['a key that nobody knows', { keys: [makeTestKey('k2').verification] }, { seq: 6, reason: 'unknown_key' }],
    ['no key', { keys: [] }, { seq: 6, reason: 'unknown_key' }],
    [
      'a head from before the time of its key',
      { keys: [{ ...KEY.verification, notBeforeMs: Date.parse('2026-03-01T08:00:00.004Z') }] },
      { seq: 3, reason: 'key_not_valid' },
    ],
    [
      'a head from after the time of its key',
      { keys: [{ ...KEY.verification, notAfterMs: Date.parse('2026-03-01T08:00:00.005Z') }] },
      { seq: 6, reason: 'key_not_valid' },
    ],
    [
      'a checkpoint in place of a head',
      { heads: [KEY.sign('checkpoint', place(3))] },
      { seq: 3, reason: 'bad_signature' },
    ],
    [
      'a head with another time',
      { heads: HEADS.map((head) => ({ ...head, at: '2026-03-01T08:00:01.000Z' })) },
      { seq: 3, reason: 'bad_signature' },
    ],
    [
      'a head with a cut signature',
      { heads: HEADS.map((head) => ({ ...head, signature: head.signature.slice(4) })) },
      { seq: 3, reason: 'bad_signature' },
    ],
    [
      'a head with a signature that is no base64url',
      { heads: HEADS.map((head) => ({ ...head, signature: '***' })) },
      { seq: 3, reason: 'bad_signature' },
    ],
  ])('with %s is broken there', async (_what, changed, firstBad) => {
    expect((await verify(changed)).firstBad).toEqual(firstBad)
  })

  it('is vouched for by a later head where an older one has a key that is no longer known', async () => {
    const old = makeTestKey('k0')
    const report = await verify({ heads: [old.sign('head', place(3)), ...HEADS.slice(1)] })
    expect(report).toMatchObject({ headsVerified: 1, headsUnknown: 1, signedThrough: 6, firstBad: undefined })
  })
})
