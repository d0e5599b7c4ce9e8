import { describe, expect, test } from 'vitest'
import { enrol, type EnrolOptions } from '../../../../src/cli/agent/enrol.ts'
import type { AgentState } from '../../../../src/cli/agent/state/agent-state.ts'
import { publicKeyOf } from '../../../../src/cli/agent/tunnel/raw-keys.ts'
import { ProblemAnswer, TransportFailure } from '../../../../src/client/failures.ts'
import { enrolledState } from '../../../support/agent/agent-state.ts'

const { server, machine } = enrolledState()
const ANSWER = {
  node_id: '0197a000-0000-7000-8000-00000000a001',
  domain_id: '0197a000-0000-7000-8000-00000000d001',
  mesh_address: '100.64.0.7',
  mesh_cidr: '100.64.0.0/10',
  nsk: 'nsk_local_0197a00000007000800000000000a001_AbCdEfGh_------------------------------------------8',
  psk_issued_at: '2026-01-01T00:00:00.000000000Z',
  signing_keys: [],
  heartbeat_interval_seconds: 30,
}

interface Played {
  readonly written: AgentState[]
  readonly sent: unknown[]
  readonly enrolled: Promise<AgentState>
}

function play(answer: () => unknown, before?: EnrolOptions['before']): Played {
  const written: AgentState[] = []
  const sent: unknown[] = []
  const client = {
    RegisterNode: async (input: unknown, options: unknown) => {
      sent.push({ input, options, writtenBefore: written.length })
      return answer()
    },
    // The options of a call are of no interest to the type here.
  } as unknown as EnrolOptions['client']
  const enrolled = enrol({
    client,
    joinToken: 'jtk_of_the_test',
    name: 'web-1',
    server,
    machine,
    binary: { version: '1.0.0', checksum: '0'.repeat(64) },
    before,
    write: async (state) => void written.push(state),
    now: () => new Date('2026-03-01T00:00:00Z'),
  })
  return { written, sent, enrolled }
}

const refusal = (code: string, status: number) => () => {
  throw new ProblemAnswer({ code, status, title: code, detail: `The server refuses: ${code}`, correlation_id: 'c-1' })
}

describe('an enrolment', () => {
  test('writes the key pair down before the call, and the answer after it', async () => {
    const { written, sent, enrolled } = play(() => ANSWER)
    const state = await enrolled
    const [before, after] = written
    expect(sent).toMatchObject([{ writtenBefore: 1, options: { token: 'jtk_of_the_test' } }])
    expect(after).toEqual(state)
    expect(before?.enrolment).toBeUndefined()
    expect(state.enrolment?.private_key).toBe(before?.enrolling?.key.privateKey)
    const { publicKey = '', privateKey = '' } = before?.enrolling?.key ?? {}
    expect(sent).toMatchObject([{ input: { body: { name: 'web-1', kind: 'worker', public_key: publicKey } } }])
    expect(publicKeyOf(privateKey)).toBe(publicKey)
    expect(state.enrolment).toMatchObject({
      mesh_address: '100.64.0.7',
      mesh_cidr: '100.64.0.0/10',
      nsk: ANSWER.nsk,
      epochs: {},
    })
    expect(state.enrolling).toBeUndefined()
  })

  test.each([
    [0, 1],
    [-30, 1],
    [30, 30],
    [1e12, 300],
  ])('that answers a heartbeat interval of %d s has one of %d s', async (answered, taken) => {
    const { enrolled } = play(() => ({ ...ANSWER, heartbeat_interval_seconds: answered }))
    expect((await enrolled).enrolment?.heartbeat_interval_seconds).toBe(taken)
  })

  test.each([
    ['invalid_join_token', 401, 4, 'unknown, expired or revoked', 'ctl join-tokens create'],
    ['join_token_exhausted', 409, 6, 'used as often as it allows', 'ctl join-tokens create'],
    ['node_name_conflict', 409, 6, 'has a node named web-1', '--name'],
    ['public_key_in_use', 409, 6, 'public key', 'Run the command again'],
    ['invalid_public_key', 400, 9, 'public key', 'Run the command again'],
    ['mesh_addresses_exhausted', 409, 6, 'no mesh address left', 'ctl nodes prune'],
  ])('refused with %s says why, and the way out', async (code, status, exitCode, why, hint) => {
    const { written, enrolled } = play(refusal(code, status))
    await expect(enrolled).rejects.toMatchObject({
      code,
      exitCode,
      message: expect.stringContaining(why) as string,
      hints: expect.arrayContaining([expect.stringContaining(hint), 'correlation_id=c-1']) as string[],
    })
    // No node was made: a later refusal must not name one of another owner.
    expect(written.map(({ enrolling }) => enrolling?.name)).toEqual(['web-1', undefined])
  })

  test('that another refusal ends has the sentence of the server', async () => {
    const { enrolled } = play(refusal('rate_limited', 429))
    await expect(enrolled).rejects.toMatchObject({
      exitCode: 7,
      message: expect.stringContaining('rate_limited') as string,
    })
  })

  test.each(['broken', 'timeout'] as const)(
    'without an answer (%s) is not repeated, and says what may have happened',
    async (fault) => {
      const { sent, enrolled } = play(() => {
        throw new TransportFailure(fault, 'no whole answer')
      })
      await expect(enrolled).rejects.toMatchObject({
        exitCode: 8,
        hints: [expect.stringContaining('ctl nodes show web-1'), expect.stringContaining('--node')],
      })
      expect(sent).toHaveLength(1)
    },
  )

  test('that fails after one without an answer names the node which that may have made', async () => {
    const lost = { name: 'web-1', key: { publicKey: '', privateKey: '' }, at: '2026-02-01T00:00:00Z' }
    const { written, enrolled } = play(refusal('node_name_conflict', 409), lost)
    await expect(enrolled).rejects.toMatchObject({
      hints: expect.arrayContaining([expect.stringContaining('ctl nodes deregister web-1')]) as string[],
    })
    expect(written.at(-1)?.enrolling).toEqual(lost)
  })

  test('names the flags that trust a certificate where it is not trusted', async () => {
    const { enrolled } = play(() => {
      throw new TransportFailure('untrusted', 'its certificate is not trusted here')
    })
    await expect(enrolled).rejects.toMatchObject({ hints: [expect.stringContaining('--ca-sha256')] })
  })
})
