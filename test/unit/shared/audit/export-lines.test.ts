import { describe, expect, it } from 'vitest'
import { CHAIN_START } from '../../../../src/shared/audit/chain.ts'
import { createExportVerifier, type ExportReport } from '../../../../src/shared/audit/export-lines.ts'
import type { SignatureKey } from '../../../../src/shared/audit/signed-position.ts'
import { CHAIN, chainOfRows, decision, makeTestKey, nodeSha256 } from '../../../support/server/audit-chain.ts'

const KEY = makeTestKey('k1')
const ROWS = chainOfRows(4)
const place = (seq: number) => ({ seq, hash: ROWS[seq - 1]?.hash ?? '' })
const head = (seq: number) => ({ type: 'head', ...KEY.sign('head', place(seq)) })
const row = (seq: number) => ({ type: 'row', ...ROWS[seq - 1] })
const signedStart = (kind: 'head' | 'checkpoint', seq: number) => {
  const { seq: _seq, hash, ...signed } = KEY.sign(kind, place(seq))
  return { seq, hash, signed: { kind, ...signed } }
}
const headerFrom = (start: object) => ({ type: 'header', format: 'ctl-audit-export/1', chain: CHAIN, start })

const HEADER = headerFrom({ ...CHAIN_START, signed: null })
const END = { type: 'end', ...place(4), rows: 4 }
const WHOLE: readonly object[] = [HEADER, row(1), row(2), head(2), row(3), row(4), head(4), END]

async function verify(
  lines: readonly (object | string)[],
  keys: readonly SignatureKey[] = [KEY.verification],
): Promise<ExportReport> {
  const verifier = createExportVerifier({ sha256: nodeSha256, keys })
  for (const line of lines) if (!(await verifier.line(typeof line === 'string' ? line : JSON.stringify(line)))) break
  return verifier.end()
}

const without = (line: number) => WHOLE.filter((_, index) => index !== line - 1)
const replaced = (line: number, by: object | string) => WHOLE.map((one, index) => (index === line - 1 ? by : one))

describe('An export', () => {
  it('verifies with the public keys alone', async () => {
    expect(await verify(WHOLE)).toMatchObject({
      chain: CHAIN,
      verified: place(4),
      rows: 4,
      signedThrough: 4,
      signedAt: '2026-03-01T08:00:00.004Z',
      headsVerified: 2,
      firstBad: undefined,
    })
  })

  it.each(['head', 'checkpoint'] as const)('may begin after a signed %s', async (kind) => {
    const lines = [headerFrom(signedStart(kind, 2)), row(3), row(4), head(4), { ...END, rows: 2 }]
    expect(await verify(lines)).toMatchObject({ rows: 2, signedThrough: 4, firstBad: undefined })
  })

  it('may hold no row', async () => {
    const lines = [HEADER, { type: 'end', ...CHAIN_START, rows: 0 }]
    expect(await verify(lines)).toMatchObject({ rows: 0, signedThrough: undefined, firstBad: undefined })
  })

  it.each<[string, readonly (object | string)[], ExportReport['firstBad']]>([
    [
      'an altered row',
      replaced(3, { ...row(2), reason: 'x' }),
      { line: 3, seq: 2, id: decision(2).id, reason: 'row_altered' },
    ],
    ['a member that no hash covers', replaced(3, { ...row(2), note: 'x' }), { line: 3, seq: 2, reason: 'malformed' }],
    ['a row without a member', replaced(3, { ...row(2), reason: undefined }), { line: 3, seq: 2, reason: 'malformed' }],
    [
      'a member that has no canonical form',
      replaced(3, { ...row(2), reason: '\ud800' }),
      { line: 3, seq: 2, id: decision(2).id, reason: 'row_altered' },
    ],
    ['a row taken out', without(3), { line: 3, seq: 2, reason: 'row_missing' }],
    [
      'a row and its head taken out',
      without(3).filter((_, index) => index !== 2),
      { line: 3, seq: 2, reason: 'row_missing' },
    ],
    [
      'lines that changed places',
      [HEADER, row(2), row(1), ...WHOLE.slice(3)],
      { line: 2, seq: 1, reason: 'row_missing' },
    ],
    ['its last head taken out', without(7), { line: 7, seq: 3, reason: 'not_signed' }],
    ['all heads taken out', [HEADER, row(1), row(2), row(3), row(4), END], { line: 6, seq: 1, reason: 'not_signed' }],
    ['its end taken away', without(8), { line: 8, seq: 5, reason: 'rows_cut_off' }],
    ['its end moved', [HEADER, row(1), row(2), head(2), END], { line: 5, seq: 3, reason: 'rows_cut_off' }],
    ['another count of rows', replaced(8, { ...END, rows: 5 }), { line: 8, seq: 5, reason: 'malformed' }],
    ['lines after its end', [...WHOLE, row(4)], { line: 9, seq: 5, reason: 'malformed' }],
    ['two headers', [HEADER, ...WHOLE], { line: 2, seq: 1, reason: 'malformed' }],
    ['no header', WHOLE.slice(1), { line: 1, seq: 1, reason: 'malformed' }],
    [
      'another format',
      replaced(1, { ...HEADER, format: 'ctl-audit-export/2' }),
      { line: 1, seq: 1, reason: 'malformed' },
    ],
    ['a line that is no JSON', replaced(3, '{"type":"row",'), { line: 3, seq: 2, reason: 'malformed' }],
    ['a line of another type', replaced(3, { type: 'note' }), { line: 3, seq: 2, reason: 'malformed' }],
    ['a number that is none', replaced(3, { ...row(2), seq: '2' }), { line: 3, seq: 2, reason: 'malformed' }],
    [
      'a start that nobody signed',
      [headerFrom({ ...place(2), signed: null }), row(3), row(4), head(4), { ...END, rows: 2 }],
      { line: 1, seq: 2, reason: 'not_signed' },
    ],
    [
      'a first place of its own',
      replaced(1, headerFrom({ seq: 0, hash: 'f'.repeat(64), signed: null })),
      { line: 1, seq: 0, reason: 'not_signed' },
    ],
    [
      'a start signed as something else',
      [
        headerFrom({
          ...signedStart('checkpoint', 2),
          signed: { ...signedStart('checkpoint', 2).signed, kind: 'head' },
        }),
      ],
      { line: 1, seq: 2, reason: 'bad_signature' },
    ],
    [
      'the chain of another Domain',
      replaced(1, { ...HEADER, chain: 'platform:main' }),
      { line: 2, seq: 1, id: decision(1).id, reason: 'foreign_row' },
    ],
    ['nothing in it', [], { line: 1, seq: 1, reason: 'malformed' }],
  ])('with %s is broken there', async (_what, lines, firstBad) => {
    expect((await verify(lines)).firstBad).toEqual(firstBad)
  })

  it('is broken for whoever has other keys', async () => {
    const other = makeTestKey('k1', 'another').verification
    expect((await verify(WHOLE, [other])).firstBad).toEqual({ line: 4, seq: 2, reason: 'bad_signature' })
    expect((await verify(WHOLE, [])).firstBad).toEqual({ line: 8, seq: 4, reason: 'unknown_key' })
  })
})
