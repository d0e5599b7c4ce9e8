import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openRawSocket, requestBytes, type RawSocket } from '../../support/network/raw-socket.ts'
import { EMBEDDED } from '../../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../../support/server/tenancy.ts'

const MiB = 1024 * 1024
const BULK = 'POST /v1/authz/relation-tuples/bulk'

let tenancy: Tenancy
let port: number
let domainId: string
beforeAll(async () => {
  tenancy = await startTenancy(EMBEDDED, { surfaces: ['authz', 'relationTuples'] })
  port = Number(new URL(tenancy.url).port)
  domainId = await tenancy.domain()
})
afterAll(() => tenancy.stop())

const open: RawSocket[] = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
})

type Lengths = Readonly<Record<string, string>>

/** A request whose body has not ended, as far as it was sent. */
async function hold(subject: string, lengths: Lengths = { 'Content-Length': String(MiB) }): Promise<RawSocket> {
  const socket = await openRawSocket(port)
  open.push(socket)
  const headers = { ...lengths, Authorization: `Bearer ${subject}` }
  socket.send(requestBytes(BULK, { ...headers, 'Content-Type': 'application/json' }, ' '))
  return socket
}

/** What it is answered, once it is. */
async function answerOf(socket: RawSocket): Promise<readonly unknown[]> {
  const [answer] = await socket.answers(1)
  const { code } = JSON.parse(answer?.text ?? '{}') as { readonly code?: string }
  return [answer?.status, code, answer?.headers['retry-after']]
}

/** Begins so many bodies; resolves once so many of them are refused, with those that go on and what the others were told. */
async function begin(subjects: readonly string[], refusedCount: number) {
  const held: RawSocket[] = []
  for (const subject of subjects) held.push(await hold(subject))
  const refused: (readonly unknown[])[] = []
  const isRefused = new Set<RawSocket>()
  await new Promise<void>((resolve) => {
    for (const socket of held) {
      void answerOf(socket).then((answer) => {
        if (answer[0] === undefined) return
        isRefused.add(socket)
        if (refused.push(answer) === refusedCount) resolve()
      })
    }
  })
  return { going: held.filter((socket) => !isRefused.has(socket)), refused }
}

const times = (count: number, subject: string): readonly string[] => Array<string>(count).fill(subject)
const TOO_MANY = [429, 'too_many_bodies', '1']
const JUDGED = [400, 'invalid_body', undefined]

describe('large bodies that are being received', () => {
  it('are bounded for each principal, who has room again once one of them is over', async () => {
    const caller = await tenancy.principal(domainId)
    const { going, refused } = await begin(times(40, caller), 24)
    expect(refused).toEqual(Array.from({ length: 24 }, () => TOO_MANY))
    expect(await answerOf(await hold(caller, { 'Transfer-Encoding': 'chunked' }))).toEqual(TOO_MANY)

    const [first, second] = going
    first?.send(Buffer.alloc(MiB - 1, ' '))
    expect(await answerOf(first as RawSocket)).toEqual(JUDGED)
    const next = await hold(caller)
    next.send(Buffer.alloc(MiB - 1, ' '))
    expect(await answerOf(next)).toEqual(JUDGED)

    // One whose sender is gone is over as well.
    second?.destroy()
    await expect
      .poll(
        async () => {
          const socket = await hold(caller)
          socket.send(Buffer.alloc(MiB - 1, ' '))
          return answerOf(socket)
        },
        { timeout: 10_000 },
      )
      .toEqual(JUDGED)
  })

  it('take nothing from small ones, and nothing from other principals', async () => {
    const [caller, other] = [await tenancy.principal(domainId), await tenancy.principal(domainId)]
    await begin(times(17, caller), 1)
    expect((await tenancy.call(caller, BULK, {})).status).toBe(400)
    const socket = await hold(other)
    socket.send(Buffer.alloc(MiB - 1, ' '))
    expect(await answerOf(socket)).toEqual(JUDGED)
  })

  it('are bounded in all', async () => {
    const callers = await Promise.all(Array.from({ length: 5 }, () => tenancy.principal(domainId)))
    const { refused } = await begin(
      callers.flatMap((caller) => times(16, caller)),
      16,
    )
    expect(refused).toEqual(Array.from({ length: 16 }, () => [503, 'overloaded', '1']))
  })
})
