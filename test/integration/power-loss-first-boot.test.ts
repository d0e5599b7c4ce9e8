import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCtl, startCtl } from '../support/server/ctl-process.ts'
import { depth } from '../support/run/depth.ts'
import { journalOffset, losePower } from '../support/datastores/power-loss.ts'

/** Points in each part of the first boot, and after it; the deep run also takes the very end of each. */
const EACH = depth({ ci: 1, deep: 4 })
const ENDS = depth({ ci: false, deep: true })
const TOKENS = 5
const recorder = new URL('../support/datastores/disk-recorder.mjs', import.meta.url)

/** A first boot whose disk was watched, with what it acknowledged. */
interface Boot {
  readonly root: string
  readonly journal: string
  /** Tokens that were handed out, each with the length of the journal at that moment. */
  readonly acknowledged: readonly { readonly token: string; readonly atBytes: number }[]
}

describe('losing power during the first boot', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-first-boot-'))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  /** Founds a server on an empty directory, issues tokens, and ends it as a power loss would. */
  async function boot(name: string, skip: string): Promise<Boot> {
    const root = join(directory, name)
    const journal = `${root}.journal`
    mkdirSync(root)
    const query = new URLSearchParams({ everywhere: 'yes', journal, root, ...(skip !== '' && { skip }) })
    const server = await startCtl({
      args: ['--data-dir', join(root, 'data')],
      env: { NODE_OPTIONS: `--import ${recorder.href}?${query.toString()}` },
    })
    const bootstrap = readFileSync(join(root, 'data', 'bootstrap-token'), 'utf8').trim()
    const acknowledged = [{ token: bootstrap, atBytes: statSync(journal).size }]
    for (let each = 0; each < TOKENS; each++) {
      const response = await fetch(`${server.url}/v1/auth/tokens`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bootstrap}`, 'content-type': 'application/json' },
        body: '{"name":"kept"}',
      })
      const { token } = (await response.json()) as { token: string }
      acknowledged.push({ token, atBytes: statSync(journal).size })
    }
    await server.end('SIGKILL')
    return { root, journal, acknowledged }
  }

  /** The data directory that is left when the power goes at that point. */
  function leftAt({ root, journal }: Boot, atBytes: number): string {
    const base = join(directory, 'nothing')
    mkdirSync(base, { recursive: true })
    const target = join(directory, `left-${atBytes}`)
    losePower({ journal, atBytes, root, base, target })
    return join(target, 'data')
  }

  /** Points between each two milestones: the unpacking, the walk over what it wrote, the marker and the founding. */
  function pointsOf({ journal, acknowledged }: Boot): readonly number[] {
    const milestones = [
      0,
      journalOffset(journal, 'create', '/database/pgdata/postgresql.conf'),
      journalOffset(journal, 'sync', '/database/pgdata/PG_VERSION'),
      journalOffset(journal, 'create', '/database/ready'),
      journalOffset(journal, 'sync', '/database/ready'),
      journalOffset(journal, 'sync', '/master.key'),
      journalOffset(journal, 'sync', '/bootstrap-token.new'),
      acknowledged.at(0)?.atBytes,
      acknowledged.at(-1)?.atBytes,
    ].map((at) => at ?? NaN)
    return milestones.slice(1).flatMap((end, index) => {
      const start = milestones[index] ?? NaN
      const inside = Array.from({ length: EACH }, () => start + Math.floor(Math.random() * (end - start)))
      return ENDS ? [...inside, end] : inside
    })
  }

  test('never leaves a directory that is taken for good and is not, and keeps all that was acknowledged', async () => {
    const watched = await boot('watched', '')
    const points = pointsOf(watched)
    const figures = { points: points.length, rebuilt: 0, acknowledged: 0, lost: 0 }
    for (const atBytes of points) {
      const dataDir = leftAt(watched, atBytes)
      const isMarked = existsSync(join(dataDir, 'database', 'ready'))
      const due = watched.acknowledged.filter((one) => one.atBytes <= atBytes)
      // What was handed out before the marker would be gone: the directory is built again.
      if (!isMarked) expect([atBytes, due]).toEqual([atBytes, []])
      const server = await startCtl({ args: ['--data-dir', dataDir] })
      const signsIn = async (token: string): Promise<boolean> =>
        (await fetch(`${server.url}/v1/auth/whoami`, { headers: { authorization: `Bearer ${token}` } })).ok
      if (!isMarked) expect([atBytes, server.stderr()]).toEqual([atBytes, expect.stringContaining('First start')])
      const handedOver = readFileSync(join(dataDir, 'bootstrap-token'), 'utf8').trim()
      expect([atBytes, await signsIn(handedOver)]).toEqual([atBytes, true])
      const lost: string[] = []
      for (const { token } of due) if (!(await signsIn(token))) lost.push(token)
      expect(await server.end('SIGTERM')).toBe(0)
      rmSync(join(dataDir, '..'), { recursive: true })
      figures.rebuilt += isMarked ? 0 : 1
      figures.acknowledged += due.length
      figures.lost += lost.length
    }
    process.stdout.write(`power loss in the first boot: ${JSON.stringify(figures)}\n`)
    expect(figures.lost).toBe(0)
    expect(figures.rebuilt).toBeGreaterThan(EACH)
  }, 600_000)

  test('would leave one where the walk did not sync: this suite would notice', async () => {
    const hasty = await boot('hasty', 'pgdata')
    const dataDir = leftAt(hasty, hasty.acknowledged[0]?.atBytes ?? NaN)
    expect(existsSync(join(dataDir, 'database', 'ready'))).toBe(true)
    const { exitCode, stderr } = await runCtl(['serve', '--listen', '127.0.0.1:0', '--data-dir', dataDir])
    expect([exitCode, stderr]).toEqual([
      1,
      `ctl serve: The data directory ${dataDir} is damaged: restore a backup, or choose another with --data-dir.\n`,
    ])
  }, 120_000)
})
