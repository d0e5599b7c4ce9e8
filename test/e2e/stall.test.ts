import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { depth } from '../support/run/depth.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { requirement } from '../support/run/requirements.mjs'

const ROUNDS = depth({ ci: 1, deep: 10 })
/** Longer than a leader's transaction may be idle on PostgreSQL, and than the lease of the caches. */
const STALL_MS = 3_000
const WRITERS = 4

const stores = [
  { name: 'embedded', isMissing: false },
  { name: 'postgres', isMissing: requirement('postgresql') === undefined },
] as const

describe.each(stores)('a server on the $name store that is suspended for 3 s', ({ name, isMissing }) => {
  let directory: string
  let cluster: PostgresCluster | undefined
  let server: CtlProcess | undefined
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ctl-stall-'))
    if (name === 'postgres' && !isMissing) cluster = await startPostgresCluster()
  }, 120_000)
  afterAll(async () => {
    await server?.end('SIGKILL')
    await cluster?.stop()
    await rm(directory, { recursive: true, force: true })
  }, 180_000)

  test.skipIf(isMissing)(
    `loses nothing but the time: every request is served, before and after, ${ROUNDS} rounds`,
    async () => {
      server = await startCtl({
        args: ['--data-dir', join(directory, 'data'), '--bootstrap-token-file', join(directory, 'token')],
        ...(cluster && {
          env: { SERVICE_DATABASE_URL: cluster.url, SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
        }),
      })
      const crowd = await gather(server, (await readFile(join(directory, 'token'), 'utf8')).trim())
      for (let round = 0; round < ROUNDS; round++) {
        await crowd.madeMore(20)
        process.kill(server.pid, 'SIGSTOP')
        // They are there when the process goes on, before it can have confirmed anything.
        const waiting = [crowd.write(`waited-${round}`), crowd.write(`waited-too-${round}`)]
        await sleep(STALL_MS)
        process.kill(server.pid, 'SIGCONT')
        await Promise.all(waiting)
        expect(await crowd.read()).toBe(200)
      }
      await crowd.madeMore(20)
      await crowd.end()
      expect(crowd.refusals).toEqual([])
      expect(await crowd.lost()).toEqual([])
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
      expect(await server.end('SIGTERM')).toBe(0)
    },
    300_000,
  )
})

/** People who make service identities all the time: each change is the leader's work as well. */
interface Crowd {
  /** What was answered with anything but success. */
  readonly refusals: readonly string[]
  /** Makes one of that name. */
  write(name: string): Promise<void>
  /** Resolves once so many more were acknowledged. */
  madeMore(count: number): Promise<void>
  /** Asks for what needs a permission; the status that came back. */
  read(): Promise<number>
  end(): Promise<void>
  /** Which of those that were acknowledged are not there. */
  lost(): Promise<readonly string[]>
}

async function gather({ url }: CtlProcess, token: string): Promise<Crowd> {
  const headers = { authorization: `Bearer ${token}` }
  const get = async (path: string) => fetch(url + path, { headers })
  const { domain_id: domainId } = (await (await get('/v1/auth/whoami')).json()) as { domain_id: string }
  const domain = `/v1/domains/${domainId}`
  const made: string[] = []
  const refusals: string[] = []
  const over = new AbortController()
  let onMade = (): void => undefined

  async function write(name: string): Promise<void> {
    const response = await fetch(`${url}${domain}/service-identities`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ display_name: name, subject: name }),
    })
    if (response.status === 201) made.push(name)
    else refusals.push(`${response.status} ${await response.text()}`)
    onMade()
  }

  async function goOn(writer: number): Promise<void> {
    for (let count = 0; !over.signal.aborted; count++) await write(`robot-${writer}-${count}`)
  }

  const writers = Array.from({ length: WRITERS }, (_, writer) => goOn(writer))
  return {
    refusals,
    write,
    madeMore(count) {
      const wanted = made.length + refusals.length + count
      return new Promise((resolve) => {
        onMade = () => {
          if (made.length + refusals.length >= wanted) resolve()
        }
      })
    },
    read: async () => (await get(domain)).status,
    async end() {
      over.abort()
      await Promise.all(writers)
    },
    async lost() {
      const stored = new Set<string>()
      for (let cursor = ''; ;) {
        const page = (await (await get(`${domain}/identities?limit=200${cursor}`)).json()) as IdentityPage
        for (const { display_name: name } of page.items) stored.add(name)
        if (typeof page.next_cursor !== 'string') break
        cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
      }
      return made.filter((name) => !stored.has(name))
    },
  }
}

interface IdentityPage {
  readonly items: readonly { readonly display_name: string }[]
  readonly next_cursor?: string | null
}
